"""The last answer of a conversation, judged by its calls, and whether it may be sent back to the model.

"I have sent the mail."   no call of the turn did it, or the call failed     → a contradiction, which may send it back
"It is 21 degrees."       any other doubt: a value, a tone, a low score      → none; it is noted, and nothing is refused
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from toolvet.core.checks.answer import AnswerQuality, FailureSignal
from toolvet.core.messages import ToolCall, Turn, turns
from toolvet.core.turn.check import AnswerCheck, contradicts, read_turn

_MOST_ANSWER: Final = 40_000


class JudgedEnding(msgspec.Struct, frozen=True):
    """The last turn of a conversation, the calls that its answer may rest on, and the verdict on that answer."""

    turn: Turn
    calls: tuple[ToolCall, ...]
    quality: AnswerQuality

    @property
    def contradiction(self) -> FailureSignal | None:
        """The signal by which the calls plainly contradict the answer; None if they do not."""
        found = self.quality.signals if self.quality.should_escalate else ()
        return next((each for each in found if each.source == "calls" and contradicts(each)), None)


def judged_ending(messages: Sequence[object], check: AnswerCheck, *, trace: str | None = None) -> JudgedEnding | None:
    """Judge the last answer of a conversation; None if it has no answer, or none that can be read.

    Args:
        messages: the messages, oldest first, in any format that `toolvet.turns` reads.
        check: how answers are judged.
        trace: the id of the turn, for the verdict.

    Example:
        >>> asked = {"role": "user", "content": "Please send the report to Ann."}
        >>> said = {"role": "assistant", "content": "I have sent the report to Ann."}
        >>> ending = judged_ending([asked, said], AnswerCheck())
        >>> ending.contradiction.label
        'claimed_without_call'
    """
    try:
        turn = turns(messages)[-1]
    except (TypeError, IndexError):
        return None
    if turn.answer is None:
        return None
    # A model that was asked again answers in a turn of its own, and means the calls of the one before.
    calls = (*(each for each in turn.context if isinstance(each, ToolCall)), *turn.calls)
    answer = turn.answer[-_MOST_ANSWER:]
    witness = read_turn(calls, turn.context)
    quality = check.compared(
        answer, witness, finish_reason=turn.finish_reason, trace=trace, ends=all(call.answered for call in turn.calls)
    )
    return JudgedEnding(turn, calls, quality)
