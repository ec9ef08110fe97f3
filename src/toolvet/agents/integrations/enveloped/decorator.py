"""`enveloped`: the decorator that turns return values and exceptions of a tool into envelopes, and counts them.

Exceptions become failures that the caller may read; everything else of them stays in the log. Durations, responses and
dropped items are metrics where the API of OpenTelemetry is installed (`toolvet[otel]`), named by the GenAI semantic
conventions where these have a name.
"""

import functools
import inspect
import logging
import sys
import time
import traceback
import uuid
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, ParamSpec, Protocol, cast, get_type_hints, overload

import msgspec
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult, InputRequiredResult

from mcp import MCPError
from toolvet.agents.integrations.enveloped.result import DeclaredOutput, OutputSchemaChoice, TextForm, to_result
from toolvet.core.causes import State, cause_of
from toolvet.core.envelope import Envelope, ErrorCode, ResponseError, error_response, success_response
from toolvet.core.json_value import elements, members
from toolvet.core.redact import redact_text
from toolvet.errors import EnvelopeTypeError, UsageError

try:
    from opentelemetry.metrics import get_meter
except ImportError:
    get_meter = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from opentelemetry.metrics import Meter

Answer = str | Callable[[Exception], Envelope] | None
Errors = Mapping[type[Exception], Answer]
"""How an exception is answered: as a failure with this code and its message, as the result of a function, or (None) as
an internal error."""

_LOG: Final = logging.getLogger("toolvet.enveloped")
_LONGEST_MESSAGE: Final = 1000
# These exceptions have no message for a caller, but they still show that a service of the tool did not answer.
_STATES: Final[Mapping[type[Exception], State]] = {
    TimeoutError: State.TIMEOUT,
    ConnectionError: State.UNREACHABLE,
}
_PROBLEMS: Final[Mapping[State, str]] = {
    State.TIMEOUT: "The service, or one that it needs, did not answer in time",
    State.UNREACHABLE: "A service that this one needs cannot be reached",
    State.INTERNAL: "An internal error occurred",
}
_RETRY: Final = "Please try again. If the problem persists, contact support and give the reference."
_P = ParamSpec("_P")
Fit = Callable[[Envelope], Envelope]
"""A function that shortens a response, such as `functools.partial(fit_response, budget=20_000, archive=archive)`."""


@overload
def enveloped(function: Callable[_P, object], /) -> Callable[_P, Any]: ...
@overload
def enveloped(
    *,
    name: str | None = None,
    output: OutputSchemaChoice = "envelope",
    text: TextForm = "json",
    fit: Fit | None = None,
    errors: Errors | None = None,
) -> Callable[[Callable[_P, Any]], Callable[_P, Any]]: ...
def enveloped(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    output: OutputSchemaChoice = "envelope",
    text: TextForm = "json",
    fit: Fit | None = None,
    errors: Errors | None = None,
) -> Callable[..., Any]:
    """A decorator for a function, sync or async, that is a tool of a framework; put it below the framework's own.

    The function may return anything that pydantic writes as JSON. An object is the data of the response; any other
    value becomes its member `result`, as in the frameworks. An Envelope is sent as it is, with the duration added.
    `MCPError` and questions back to the client pass through.

    Args:
        function: the function, where the decorator is used without parentheses.
        name: the name of the tool in the log and in the metrics; by default that of the function.
        output: the `outputSchema` that the tool declares: "envelope", and the envelope is the structured content;
            "data", the schema of the return annotation, or "none", and the envelope is in `_meta`.
        text: the text of the result, for people and models: "json", "prose", or a function of the envelope.
        fit: a function that shortens a response, such as a partial of `fit_response`; not with output "data".
        errors: what an exception becomes, by its class: a code (with the message of the exception, without secrets), a
            function from the exception to an Envelope, or None for an internal error. Other exceptions: see
            `toolvet.agents.integrations.enveloped.decorator`.

    Raises:
        UsageError: for options that make no sense.
        EnvelopeTypeError: for a `function` that is not a function, or that is a generator.

    Example:
        >>> @enveloped
        ... def get_ship(name: str) -> dict[str, str]:
        ...     return {"ship": name}
        >>> get_ship("Aurora").structured_content["data"]
        {'ship': 'Aurora'}
    """
    if output not in ("envelope", "data", "none"):
        raise UsageError(f'output: must be "envelope", "data" or "none", not {output!r:.40}')
    if text not in ("json", "prose") and not callable(text):
        raise UsageError(f'text: must be "json", "prose" or a function, not {text!r:.40}')
    if fit is not None and output == "data":
        raise UsageError(
            'fit: a shortened response may break the schema of its data; it needs output "envelope" or "none"'
        )

    settings = _EnvelopeSettings(name=name, output=output, text=text, fit=fit, errors=errors or {})

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        return _decorate(function, settings)

    return decorate if function is None else decorate(function)


class _EnvelopeSettings(msgspec.Struct, frozen=True):
    name: str | None
    output: OutputSchemaChoice
    text: TextForm
    fit: Fit | None
    errors: Errors


def _decorate(function: Callable[..., Any], settings: _EnvelopeSettings) -> Callable[..., Any]:
    given: object = function
    if not callable(given):
        raise EnvelopeTypeError("function", f"must be a function, not {type(given).__name__}")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise EnvelopeTypeError("function", "must not be a generator: return a list")
    hints = _read_hints(function)
    declared = DeclaredOutput(hints.get("return"), settings.output)
    tool = _EnvelopedTool(settings, settings.name or _name_of(function), declared)
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004 - whether calling it gives a coroutine.

        async def call_async(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                value: object = await function(*args, **kwargs)
            except MCPError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever the exception, the client gets a response.
                return tool.failed(error, start)
            return tool.returned(value, start)

        return _give_signature(call_async, function, hints, declared.annotation)

    def call_sync(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            value: object = function(*args, **kwargs)
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - as above.
            return tool.failed(error, start)
        return tool.returned(value, start)

    return _give_signature(call_sync, function, hints, declared.annotation)


class _EnvelopedTool(msgspec.Struct, frozen=True):
    """Makes tool results of the values and exceptions of one function."""

    settings: _EnvelopeSettings
    name: str
    declared: DeclaredOutput

    def returned(self, value: object, start: float) -> CallToolResult | InputRequiredResult:
        if isinstance(value, InputRequiredResult):
            return value
        try:
            envelope = value if isinstance(value, Envelope) else success_response(self.declared.data(value))
        except Exception as error:  # noqa: BLE001 - what a function returns may be anything.
            envelope = internal_failure(error, self.name)
        return self._send(envelope, start)

    def failed(self, error: Exception, start: float) -> CallToolResult:
        return self._send(failure_response(error, self.name, self.settings.errors), start)

    def _send(self, envelope: Envelope, start: float) -> CallToolResult:
        seconds = time.perf_counter() - start
        timed = _add_duration(envelope, seconds)
        try:
            fitted = timed if self.settings.fit is None else self.settings.fit(timed)
            schema = self.declared.schema if fitted.success or self.settings.output == "envelope" else None
            result = to_result(fitted, schema, text=self.settings.text)
        except Exception as error:  # noqa: BLE001 - a budget that is too small must not prevent the answer.
            fitted = _add_duration(internal_failure(error, self.name), seconds)
            result = to_result(fitted, self.declared.schema if self.settings.output == "envelope" else None)
        record_call(self.name, seconds, fitted)
        return result


def _add_duration(envelope: Envelope, seconds: float) -> Envelope:
    telemetry: Mapping[str, Any] = envelope.meta.get("telemetry", {})
    duration = {"duration_ms": round(seconds * 1000, 3)}
    return msgspec.structs.replace(envelope, meta={**envelope.meta, "telemetry": {**duration, **telemetry}})


def _name_of(function: Callable[..., Any]) -> str:
    found: object = getattr(function, "__name__", None)
    return found if isinstance(found, str) else type(function).__name__


def _read_hints(function: Callable[..., Any]) -> dict[str, Any]:
    target: Any = function
    while isinstance(target, functools.partial):
        target = cast("Any", target).func
    target = target if inspect.isroutine(target) else target.__call__
    try:
        return get_type_hints(target, include_extras=True)
    except (NameError, TypeError):
        return dict(getattr(target, "__annotations__", {}))


def _give_signature(
    wrapper: Callable[..., Any], function: Callable[..., Any], hints: Mapping[str, Any], annotation: Any
) -> Callable[..., Any]:
    """`wrapper` with the name, docstring and parameters of `function`, from which frameworks make the schemas."""
    functools.update_wrapper(wrapper, cast("Callable[..., object]", function))
    # A callable that is not a function has no name of its own.
    wrapper.__name__ = _name_of(function)
    signature = inspect.signature(function)
    parameters = [
        each.replace(annotation=hints.get(each.name, each.annotation)) for each in signature.parameters.values()
    ]
    wrapper.__dict__["__signature__"] = signature.replace(parameters=parameters, return_annotation=annotation)
    wrapper.__annotations__ = {
        **{each.name: each.annotation for each in parameters if each.annotation is not each.empty},
        "return": annotation,
    }
    return wrapper


def failure_response(error: Exception, tool: str, errors: Errors) -> Envelope:
    """The response to an exception. Total, also where a function in `errors` raises.

    `errors` decides first, by the nearest class. Otherwise: the response of a ResponseError; a VALIDATION_ERROR with
    the message of a ValueError itself, whose subclasses are about other faults; a TOOL_ERROR with the message of a
    ToolError, the frameworks' exception for messages to the model. Everything else is an internal error with a
    reference to the log.

    Args:
        error: the exception.
        tool: the name of the tool, for the log.
        errors: what exceptions become, by class (see `enveloped`).
    """
    for kind in type(error).__mro__:
        if issubclass(kind, Exception) and kind in errors:
            answer = errors[kind]
            if answer is None:
                return internal_failure(error, tool)
            try:
                made = _with_message(error, answer) if isinstance(answer, str) else answer(error)
            except Exception as second:  # noqa: BLE001 - an exception of the author's function is as unexpected as the first.
                second.__context__ = error
                return internal_failure(second, tool)
            return internal_failure(error, tool) if made is None else made
    if isinstance(error, ResponseError):
        return error.response
    if type(error) is ValueError:
        return _with_message(error, ErrorCode.VALIDATION_ERROR) or internal_failure(error, tool)
    # FastMCP's own class, without loading FastMCP for servers of the SDK.
    fastmcp_error = getattr(sys.modules.get("fastmcp.exceptions"), "ToolError", ToolError)
    if isinstance(error, (ToolError, fastmcp_error)):
        return _with_message(error, "TOOL_ERROR") or internal_failure(error, tool)
    return internal_failure(error, tool)


def internal_failure(error: Exception, tool: str) -> Envelope:
    """An internal error with only a reference to the log, where the exception is, without secrets."""
    reference = uuid.uuid4().hex[:12]
    trace = redact_text("".join(traceback.format_exception(error)).rstrip())
    _LOG.error("%s failed, reference %s\n%s", tool, reference, trace)
    state = next((state for kind, state in _STATES.items() if isinstance(error, kind)), State.INTERNAL)
    cause = cause_of(state)
    return error_response(
        f"{_PROBLEMS[state]} (reference {reference})",
        error_code=cause.error_code,
        error_type=cause.error_type,
        remediation=_RETRY,
        details={"reference": reference},
    )


def _with_message(error: Exception, code: str) -> Envelope | None:
    message = redact_text(str(error).encode(errors="replace").decode().strip())
    if not message:
        return None
    if len(message) > _LONGEST_MESSAGE:
        message = message[: _LONGEST_MESSAGE - 1] + "…"
    return error_response(message, error_code=code)


class _Records(Protocol):
    def record(self, amount: float, attributes: dict[str, str]) -> None: ...


class _Adds(Protocol):
    def add(self, amount: int, attributes: dict[str, str]) -> None: ...


def record_call(tool: str, seconds: float, envelope: Envelope) -> None:
    """Record one call: its duration, its outcome, and how many items its response left out.

    Does nothing where the API is not installed.
    """
    if get_meter is None:
        return
    duration, responses, dropped = _instruments(get_meter)
    attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
    if not envelope.success:
        attributes["error.type"] = str(envelope.data.get("error_code", "_OTHER"))
    duration.record(seconds, attributes)
    responses.add(1, attributes)
    details = (members(members(warning).get("context")) for warning in elements(envelope.meta.get("warning_details")))
    missing = next((count for each in details if isinstance(count := each.get("dropped_count"), int)), 0)
    if missing:
        dropped.add(missing, attributes)


@cache
def _instruments(get: "Callable[[str], Meter]") -> tuple[_Records, _Adds, _Adds]:
    # Before a provider is set, these are proxies, which find it later.
    meter = get("toolvet")
    return (
        meter.create_histogram("gen_ai.execute_tool.duration", unit="s", description="How long a tool took."),
        meter.create_counter("toolvet.envelope.responses", unit="{response}", description="Responses of tools."),
        meter.create_counter("toolvet.envelope.dropped_items", unit="{item}", description="Items left out to fit."),
    )
