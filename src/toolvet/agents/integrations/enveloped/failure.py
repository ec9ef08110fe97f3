"""Exceptions of a tool → failures that its caller may read; everything else stays in the log."""

import logging
import sys
import traceback
import uuid
from collections.abc import Callable, Mapping
from typing import Final

from mcp.server.mcpserver.exceptions import ToolError

from toolvet.core.causes import State, cause_of
from toolvet.core.envelope import Envelope, ErrorCode, ResponseError, error_response
from toolvet.core.redact import redact_text

Answer = str | Callable[[Exception], Envelope] | None
Errors = Mapping[type[Exception], Answer]
"""What an exception becomes: a failure with this code and its message, the result of a function, or (None) an internal
error."""

_LOG: Final = logging.getLogger("toolvet.enveloped")
_LONGEST_MESSAGE: Final = 1000
# What an exception that says nothing to a caller still tells: that what the tool needs did not answer.
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
            try:
                made = _apply(error, errors[kind])
            except Exception as second:  # noqa: BLE001 - an exception of the author's function is as unexpected as the first.
                second.__context__ = error
                return internal_failure(second, tool)
            return internal_failure(error, tool) if made is None else made
    if isinstance(error, ResponseError):
        return error.response
    if type(error) is ValueError:
        return _with_message(error, ErrorCode.VALIDATION_ERROR) or internal_failure(error, tool)
    if isinstance(error, _tool_errors()):
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


def _apply(error: Exception, answer: Answer) -> Envelope | None:
    if answer is None:
        return None
    if isinstance(answer, str):
        return _with_message(error, answer)
    return answer(error)


def _with_message(error: Exception, code: str) -> Envelope | None:
    """A failure with the message of the exception, without secrets; None for an exception without a message."""
    message = redact_text(str(error).encode(errors="replace").decode().strip())
    if not message:
        return None
    if len(message) > _LONGEST_MESSAGE:
        message = message[: _LONGEST_MESSAGE - 1] + "…"
    return error_response(message, error_code=code)


def _tool_errors() -> tuple[type[Exception], ...]:
    # FastMCP's own class, without loading FastMCP for servers of the SDK.
    fastmcp = getattr(sys.modules.get("fastmcp.exceptions"), "ToolError", ToolError)
    return (ToolError, fastmcp)
