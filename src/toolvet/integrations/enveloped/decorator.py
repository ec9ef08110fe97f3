"""Tools that answer with envelopes, under FastMCP and the official SDK: `pip install toolvet[mcp]`, `toolvet[fastmcp]`.

    @mcp.tool
    @enveloped
    def get_ship(name: str) -> Ship:
        ...

What the function returns becomes the data of a response, what it raises a failure that a caller may read. The tool's
`outputSchema` is that of the envelope, which clients that validate accept for every result, failures included.
"""

import functools
import inspect
import time
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, cast, get_type_hints, overload

import msgspec
from mcp import MCPError
from mcp_types import CallToolResult, InputRequiredResult

from toolvet.envelope import Envelope, success_response
from toolvet.errors import EnvelopeTypeError, UsageError
from toolvet.integrations.enveloped.failure import Answer, Errors, failure, unexpected
from toolvet.integrations.enveloped.metrics import measured
from toolvet.integrations.enveloped.output import DeclaredOutput, Output
from toolvet.integrations.enveloped.result import META_KEY, Text, placed, prose, to_result

__all__ = ["META_KEY", "Answer", "Errors", "enveloped", "placed", "prose", "to_result"]

_P = ParamSpec("_P")
Fit = Callable[[Envelope], Envelope]
"""Makes a response fit, such as `functools.partial(fit_response, budget=20_000, archive=archive)`."""


@overload
def enveloped(function: Callable[_P, object], /) -> Callable[_P, Any]: ...
@overload
def enveloped(
    *,
    name: str | None = None,
    output: Output = "envelope",
    text: Text = "json",
    fit: Fit | None = None,
    errors: Errors | None = None,
) -> Callable[[Callable[_P, Any]], Callable[_P, Any]]: ...
def enveloped(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    output: Output = "envelope",
    text: Text = "json",
    fit: Fit | None = None,
    errors: Errors | None = None,
) -> Callable[..., Any]:
    """A decorator for functions, sync or async, that a framework makes a tool of; put it below the framework's own.

    The function may return anything that pydantic writes as JSON: objects are the data, all else stands under `result`,
    as frameworks have it. An Envelope is sent as it is, with the duration added. `name` is what the log and the metrics
    call the tool. `output` says which `outputSchema` the tool declares: the "envelope", then that is the structured
    content; or the "data" that the return annotation promises, or "none", then the envelope stands under `_meta`.
    `text` is what people and models read: "json", "prose", or a function of the envelope. `fit` shortens what is too
    long. `errors` says what exceptions become: by their class a code (their message is shown then, without secrets), a
    function to an Envelope, or None for an internal error; see `enveloped_failure.failure` for all others.

    `MCPError` and questions back to the client pass. Raises UsageError for options that cannot be meant, and
    EnvelopeTypeError for what is no function or generates its values.
    """
    if output not in ("envelope", "data", "none"):
        raise UsageError(f'output: must be "envelope", "data" or "none", not {output!r:.40}')
    if text not in ("json", "prose") and not callable(text):
        raise UsageError(f'text: must be "json", "prose" or a function, not {text!r:.40}')
    if fit is not None and output == "data":
        raise UsageError(
            'fit: a shortened response may break the schema of its data; it needs output "envelope" or "none"'
        )

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        return _decorated(function, _EnvelopeSettings(name, output, text, fit, errors or {}))

    return decorate if function is None else decorate(function)


class _EnvelopeSettings(msgspec.Struct, frozen=True):
    name: str | None
    output: Output
    text: Text
    fit: Fit | None
    errors: Errors


def _decorated(function: Callable[..., Any], settings: _EnvelopeSettings) -> Callable[..., Any]:
    given: object = function
    if not callable(given):
        raise EnvelopeTypeError("function", f"must be a function, not {type(given).__name__}")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise EnvelopeTypeError("function", "must not be a generator: return a list")
    hints = _hints(function)
    declared = DeclaredOutput(hints.get("return"), settings.output)
    tool = _EnvelopedTool(settings, settings.name or _name(function), declared)
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004 - whether calling it gives a coroutine.

        async def answer(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                value: object = await function(*args, **kwargs)
            except MCPError:
                raise
            except Exception as error:  # noqa: BLE001 - whatever it is, a client gets a response.
                return tool.failed(error, start)
            return tool.returned(value, start)

        return _dressed(answer, function, hints, declared.annotation)

    def answer_at_once(*args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        try:
            value: object = function(*args, **kwargs)
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001 - as above.
            return tool.failed(error, start)
        return tool.returned(value, start)

    return _dressed(answer_at_once, function, hints, declared.annotation)


class _EnvelopedTool(msgspec.Struct, frozen=True):
    """What becomes of the values and exceptions of one function."""

    settings: _EnvelopeSettings
    name: str
    declared: DeclaredOutput

    def returned(self, value: object, start: float) -> CallToolResult | InputRequiredResult:
        if isinstance(value, InputRequiredResult):
            return value
        try:
            envelope = value if isinstance(value, Envelope) else success_response(self.declared.data(value))
        except Exception as error:  # noqa: BLE001 - what a function returns may be anything.
            envelope = unexpected(error, self.name)
        return self._sent(envelope, start)

    def failed(self, error: Exception, start: float) -> CallToolResult:
        return self._sent(failure(error, self.name, self.settings.errors), start)

    def _sent(self, envelope: Envelope, start: float) -> CallToolResult:
        seconds = time.perf_counter() - start
        timed = _timed(envelope, seconds)
        try:
            fitted = timed if self.settings.fit is None else self.settings.fit(timed)
            result = self._result(fitted)
        except Exception as error:  # noqa: BLE001 - a budget that is too small is no reason to answer nothing.
            fitted = _timed(unexpected(error, self.name), seconds)
            result = to_result(fitted, self.declared.schema if self.settings.output == "envelope" else None)
        measured(self.name, seconds, fitted)
        return result

    def _result(self, envelope: Envelope) -> CallToolResult:
        schema = self.declared.schema
        return to_result(
            envelope,
            schema if envelope.success or self.settings.output == "envelope" else None,
            text=self.settings.text,
        )


def _timed(envelope: Envelope, seconds: float) -> Envelope:
    """With `meta.telemetry.duration_ms`, unless the function has measured that itself."""
    telemetry: Mapping[str, Any] = envelope.meta.get("telemetry", {})
    duration = {"duration_ms": round(seconds * 1000, 3)}
    return msgspec.structs.replace(envelope, meta={**envelope.meta, "telemetry": {**duration, **telemetry}})


def _name(function: Callable[..., Any]) -> str:
    found: object = getattr(function, "__name__", None)
    return found if isinstance(found, str) else type(function).__name__


def _hints(function: Callable[..., Any]) -> dict[str, Any]:
    """The type hints, with those written as strings looked up; as they stand where that fails."""
    target: Any = function
    while isinstance(target, functools.partial):
        target = cast("Any", target).func
    target = target if inspect.isroutine(target) else target.__call__
    try:
        return get_type_hints(target, include_extras=True)
    except (NameError, TypeError):
        return dict(getattr(target, "__annotations__", {}))


def _dressed(
    answer: Callable[..., Any], function: Callable[..., Any], hints: Mapping[str, Any], annotation: Any
) -> Callable[..., Any]:
    """`answer` with the name, the text and the parameters of the function: frameworks make the schemas from them."""
    functools.update_wrapper(answer, cast("Callable[..., object]", function))
    # What is no plain function has no name of its own.
    answer.__name__ = _name(function)
    signature = inspect.signature(function)
    parameters = [
        each.replace(annotation=hints.get(each.name, each.annotation)) for each in signature.parameters.values()
    ]
    answer.__dict__["__signature__"] = signature.replace(parameters=parameters, return_annotation=annotation)
    answer.__annotations__ = {
        **{each.name: each.annotation for each in parameters if each.annotation is not each.empty},
        "return": annotation,
    }
    return answer
