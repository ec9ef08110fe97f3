"""Whether an answer is a message in the middle of its turn: "Let me fetch the data:", and the call follows."""

from collections.abc import Sequence
from typing import Final

_ENDS: Final = frozenset(".!?。！？")  # noqa: RUF001 - full-width marks
_ANNOUNCES: Final = (":", "：", "…", "...")  # noqa: RUF001 - a full-width colon
_BEFORE_CALLS: Final = "tool_calls"


def may_announce(text: str) -> bool:
    """Whether a text ends as one may that goes on with a call: without the mark of a sentence, or with an ellipsis."""
    end = text.rstrip()
    return not end or end[-1] not in _ENDS or end.endswith("...")


def reason_before_calls(text: str, calls: Sequence[object]) -> str | None:
    """Return the finish reason `tool_calls` where `calls` show that `text` was said before one of them, else None.

    They do where they are messages and one of them has both this text and calls, and where the last call has no result
    yet and the text announces something.
    """
    # Loaded only for the few answers that end like this.
    from toolvet.messages import Unknown, is_said_with_calls, read_calls  # noqa: PLC0415

    if is_said_with_calls(text, calls):
        return _BEFORE_CALLS
    if not text.rstrip().endswith(_ANNOUNCES):
        return None
    read = read_calls(calls)
    return _BEFORE_CALLS if read and (read[-1].result is None or isinstance(read[-1].result, Unknown)) else None
