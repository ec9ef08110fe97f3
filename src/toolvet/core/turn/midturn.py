"""Whether an answer is a message in the middle of its turn: "Let me fetch the data:", and the call follows."""

from collections.abc import Sequence
from typing import Final

import msgspec

from toolvet.core.checks.answer import FailureSignal
from toolvet.core.turn.announcing import announces

_ENDS: Final = frozenset(".!?。！？")  # noqa: RUF001 - full-width marks
_ANNOUNCES: Final = (":", "：", "…", "...")  # noqa: RUF001 - a full-width colon
_BEFORE_CALLS: Final = "tool_calls"
_CUT: Final = "truncated"
_SHORT: Final = "too_short"
# What a text that only announces something costs: it informs, and never escalates alone.
_WEIGHT_ANNOUNCED: Final = 0.2


def may_announce(text: str) -> bool:
    """Whether a text ends as one may that goes on with a call: without the mark of a sentence, or with an ellipsis."""
    end = text.rstrip()
    return not end or end[-1] not in _ENDS or end.endswith("...")


def announced(text: str, signals: Sequence[FailureSignal]) -> list[FailureSignal]:
    """Return `signals` of a text alone; where it announces something, its end and length weigh little.

    "Let me see:" is short and stops at a colon, because a call follows.
    """
    if not any(_is_of_shape(signal) for signal in signals) or not announces(text):
        return list(signals)
    of_shape = [signal for signal in signals if _is_of_shape(signal)]
    others = [signal for signal in signals if not _is_of_shape(signal)]
    cut = next((signal for signal in of_shape if signal.label == _CUT), of_shape[0])
    return [*others, msgspec.structs.replace(cut, weight=min(cut.weight, _WEIGHT_ANNOUNCED))]


def _is_of_shape(signal: FailureSignal) -> bool:
    return signal.source == "shape" and signal.label in (_CUT, _SHORT)


def reason_before_calls(text: str, calls: Sequence[object]) -> str | None:
    """Return the finish reason `tool_calls` where `calls` show that `text` was said before one of them, else None.

    They do where they are messages and one of them has both this text and calls, or a call right behind it, and where
    the last call has no result yet and the text announces something.
    """
    # Loaded only for the few answers that end like this.
    from toolvet.core.messages import Unknown, is_said_with_calls, read_calls  # noqa: PLC0415

    if is_said_with_calls(text, calls):
        return _BEFORE_CALLS
    if not text.rstrip().endswith(_ANNOUNCES):
        return None
    read = read_calls(calls)
    return _BEFORE_CALLS if read and (read[-1].result is None or isinstance(read[-1].result, Unknown)) else None
