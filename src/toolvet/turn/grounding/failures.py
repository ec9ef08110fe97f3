"""Failed calls that an answer keeps silent about."""

import re
from collections.abc import Sequence

from toolvet.checks.answer import FailureSignal, SignalType
from toolvet.schema.naming import words_of
from toolvet.turn.grounding.outcome import CallOutcome, names
from toolvet.turn.grounding.phrases import families

UNMENTIONED = "unmentioned_failure"
_WEIGHT_NOTHING_ELSE = 0.7
# Another call brought something: the answer may rest on that alone.
_WEIGHT_BESIDE = 0.2
_FAILURES = frozenset({SignalType.TOOL_FAILURE, SignalType.REFUSAL, SignalType.CONFUSION})
_OPENING = re.compile(r"[^\n.!?。\uff01\uff1f]{1,120}")
_LONG_WORD = re.compile(r"[^\W\d_]{6,}")
_NUMBER = re.compile(r"\d{3,}")
_MOST_WORDS = 12


def reports_failure(admits: bool, signals: Sequence[FailureSignal]) -> bool:  # noqa: FBT001 - what was found.
    """Whether an answer says that something did not work, by the signals that its text gives or in plain words."""
    return admits or any(signal.type in _FAILURES for signal in signals)


def unmentioned(text: str, outcomes: Sequence[CallOutcome], *, reported: bool, asks: bool) -> list[FailureSignal]:
    """At most one signal: calls failed, none of their kind succeeded later, and `text` does not say so.

    `reported` is whether the answer reports a failure (`reports_failure`), `asks` whether it asks the person something.

    A question to the person counts as saying so after a call that was rejected, not after one that crashed.
    """
    failed = [outcome for place, outcome in enumerate(outcomes) if outcome.failed and not _settled(place, outcomes)]
    if asks:
        failed = [outcome for outcome in failed if not outcome.rejected]
    if not failed or reported or any(_echoed(text, each) for each in failed):
        return []
    opening = _OPENING.search(text)
    if opening is None:
        return []
    words = opening[0].strip() or opening[0]
    start = opening.start() + opening[0].index(words)
    nothing_else = all(outcome.failed for outcome in outcomes)
    quoted = failed[-1].quoted()
    return [
        FailureSignal(
            # Resting on nothing, the answer is a tool's failure in disguise; beside other results it is a risk.
            type=SignalType.TOOL_FAILURE if nothing_else else SignalType.HALLUCINATION_RISK,
            evidence=words,
            weight=_WEIGHT_NOTHING_ELSE if nothing_else else _WEIGHT_BESIDE,
            position=start,
            context=text[start : start + 160],
            label=UNMENTIONED,
            source="calls",
            against=quoted if len(failed) == 1 else f"{len(failed)} calls failed ({names(failed)}), the last: {quoted}",
        )
    ]


def _settled(place: int, outcomes: Sequence[CallOutcome]) -> bool:
    """Whether it no longer matters: its like succeeded later, or anything did after one that only reads."""
    failed = outcomes[place]
    kind = _kind(failed.call.name)
    # Bounded: of a thousand calls the next hundred are enough.
    for later in outcomes[place + 1 : place + 101]:
        if not later.failed and (
            later.call.name == failed.call.name or "reads" in kind or kind & _kind(later.call.name)
        ):
            return True
    return False


def _kind(name: str) -> frozenset[str]:
    words = words_of(name)
    known = families()
    if words and words[0] in known.reads:
        return frozenset({"reads"})
    return frozenset(kind for kind, family in known.family.items() if words and words[0] in family.tools)


def _echoed(text: str, outcome: CallOutcome) -> bool:
    """Whether the answer uses words or figures of the error."""
    words = {word.lower() for word in _LONG_WORD.findall(outcome.words)[:_MOST_WORDS]}
    lower = text.lower()
    if any(number in text for number in _NUMBER.findall(outcome.words)):
        return True
    return sum(word in lower for word in words) > max(1, len(words) // 2)
