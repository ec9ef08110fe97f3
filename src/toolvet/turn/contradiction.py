"""Whether the calls plainly contradict an answer: the only ground on which an answer may be sent back to a model.

"I have sent the mail."   no call of the turn did it, or the call failed     → the signal that says so
"It is 21 degrees."       any other doubt: a value, a tone, a low score      → None; it is noted, and nothing is refused
"""

from typing import Final

from toolvet.checks.answer import AnswerQuality, FailureSignal

CLAIMED_WITHOUT_CALL: Final = "claimed_without_call"
_LABELS: Final = (CLAIMED_WITHOUT_CALL, "claimed_success_after_failure")


def contradiction(found: AnswerQuality) -> FailureSignal | None:
    """Return the signal by which the calls plainly contradict an answer; None where they do not.

    >>> from toolvet import check_answer
    >>> contradiction(check_answer("I have sent the report to Ann.", calls=[])).label
    'claimed_without_call'
    >>> contradiction(check_answer("I am not sure what you mean.", calls=[]))
    """
    return claim_signal(found) if found.should_escalate else None


def claim_signal(found: AnswerQuality) -> FailureSignal | None:
    """Return the first signal of a claim that the calls do not bear out, however much it weighs."""
    return next((each for each in found.signals if each.source == "calls" and each.label in _LABELS), None)
