"""Exceptions of a tool → failures that a caller may read: what is not meant for it stays in the log."""

import logging
import sys
import traceback
import uuid
from collections.abc import Callable, Mapping

from mcp.server.mcpserver.exceptions import ToolError

from toolvet.envelope import Envelope, ErrorCode, ErrorType, ResponseError, error_response
from toolvet.redact import redact_text

Answer = str | Callable[[Exception], Envelope] | None
Errors = Mapping[type[Exception], Answer]
"""What an exception becomes: a code that its message goes with, what a function makes of it, or None for our fault."""

_LOG = logging.getLogger("toolvet.enveloped")
_LONGEST_MESSAGE = 1000
_RETRY = "Please try again. If the problem persists, contact support and give the reference."


def failure(error: Exception, tool: str, errors: Errors) -> Envelope:
    """The response to an exception. Total: whatever the exception, and whatever is made of it.

    `errors` is asked first, for the nearest class. Without it: a ResponseError carries its response; ValueError itself
    is how functions say that an argument is wrong, but its subclasses tell of something else that broke; ToolError is
    what frameworks have for messages to the model. All else is an internal error, with a reference to the log.
    """
    for kind in type(error).__mro__:
        if issubclass(kind, Exception) and kind in errors:
            try:
                made = _answered(error, errors[kind])
            except Exception as second:  # noqa: BLE001 - what a function of the author's raises is as unexpected as the first.
                second.__context__ = error
                return unexpected(second, tool)
            return unexpected(error, tool) if made is None else made
    if isinstance(error, ResponseError):
        return error.response
    if type(error) is ValueError:
        return _told(error, ErrorCode.VALIDATION_ERROR) or unexpected(error, tool)
    if isinstance(error, _tool_errors()):
        return _told(error, "TOOL_ERROR") or unexpected(error, tool)
    return unexpected(error, tool)


def unexpected(error: Exception, tool: str) -> Envelope:
    """An internal error that says nothing of the exception but where to find it in the log."""
    reference = uuid.uuid4().hex[:12]
    told = redact_text("".join(traceback.format_exception(error)).rstrip())
    _LOG.error("%s failed, reference %s\n%s", tool, reference, told)
    away = isinstance(error, TimeoutError | ConnectionError)
    what = "The service, or one that it needs, did not answer" if away else "An internal error occurred"
    return error_response(
        f"{what} (reference {reference})",
        error_type=ErrorType.UNAVAILABLE if away else ErrorType.INTERNAL,
        remediation=_RETRY,
        details={"reference": reference},
    )


def _answered(error: Exception, answer: Answer) -> Envelope | None:
    if answer is None:
        return None
    if isinstance(answer, str):
        return _told(error, answer)
    return answer(error)


def _told(error: Exception, code: str) -> Envelope | None:
    """A failure with the message of the exception, without secrets; None when there is none."""
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
