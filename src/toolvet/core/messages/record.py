"""A record of a call, as logs and traces have it: a name beside arguments or a result."""

from typing import Final

from toolvet.core.messages.call import UNKNOWN, ToolCall, Unknown
from toolvet.core.messages.parts import Parts, first_in, inner, text_in

NAMES: Final = ("name", "tool", "tool_name", "toolName")
ARGUMENTS: Final = ("arguments", "input", "args", "parameters", "tool_input")
RESULTS: Final = ("result", "output", "content", "response", "tool_output", "observation")
IDS: Final = ("call_id", "id", "tool_call_id")


def call_in(parts: Parts) -> ToolCall | None:
    """Return the call that a mapping describes: it needs a name beside arguments or a result, else None."""
    function = inner(parts["function"]) if "function" in parts else None
    about = {**parts, **function} if function else parts
    name = text_in(about, *NAMES)
    arguments = first_in(about, ARGUMENTS, UNKNOWN)
    result = first_in(about, RESULTS, UNKNOWN)
    if isinstance(result, Unknown) and ("structuredContent" in parts or "structured_content" in parts):
        result = {key: value for key, value in parts.items() if key not in NAMES}
    if not name or (isinstance(arguments, Unknown) and isinstance(result, Unknown)):
        return None
    failed = about.get("failed")
    if not isinstance(failed, bool):
        failed = flag(about)
    return ToolCall(
        name, None if isinstance(arguments, Unknown) else arguments, result, failed, text_in(about, *IDS) or None
    )


def has_arguments(parts: Parts) -> bool:
    """Whether a mapping has the arguments of a call."""
    return any(key in parts for key in ARGUMENTS)


def flag(parts: Parts) -> bool | None:
    """Return True for a result that its flag calls an error. A flag that says "no error" is not believed: None."""
    flagged = parts.get("is_error") is True or parts.get("isError") is True or parts.get("status") == "error"
    return True if flagged else None
