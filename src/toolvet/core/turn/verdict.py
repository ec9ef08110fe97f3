"""Makes the verdict from signals: score, whether a person should look, why, and advice for the next attempt.

The sentences are in `wording.toml`, which is beside the checks of answers.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Final

import msgspec

from toolvet.core.checks.answer import (
    Action,
    AnswerQuality,
    BadOption,
    FailureSignal,
    SignalType,
    score,
)
from toolvet.core.checks.answer.certainty import certainty_of
from toolvet.core.discover.toml import read_toml

_THRESHOLD: Final = 0.7
_STRICT_THRESHOLD: Final = 0.75
_MOST_UNESCALATED: Final = 3
# A value that the calls do not support and that weighs less only informs: many of them say no more than one.
_COUNTS: Final = 0.1
_ALWAYS: Final = (SignalType.REFUSAL, SignalType.TOOL_FAILURE)
_DEFAULT_WEIGHTS: Final[Mapping[SignalType, float]] = MappingProxyType({})

CLEAN = AnswerQuality(
    score=1.0,
    signals=(),
    should_escalate=False,
    reason="No failure signals detected.",
    assessment_confidence=certainty_of(()),
)
"""The verdict on an answer without signals: made once, because most answers have none."""


def checked_threshold(threshold: object, *, strict: bool) -> float:
    """Return the score below which an answer is escalated. Raises `BadOption` for one that is not from 0 to 1."""
    if threshold is None:
        return _STRICT_THRESHOLD if strict else _THRESHOLD
    if isinstance(threshold, bool) or not isinstance(threshold, int | float) or not 0 <= threshold <= 1:
        raise BadOption(f"threshold must be a number from 0 to 1, not {threshold!r}")
    return float(threshold)


def verdict(
    signals: Sequence[FailureSignal],
    *,
    threshold: float = _THRESHOLD,
    weights: Mapping[SignalType, float] = _DEFAULT_WEIGHTS,
) -> AnswerQuality:
    """Return the verdict that these signals give.

    Args:
        signals: The signals, each with its weight.
        threshold: The score below which the answer is escalated.
        weights: The caller's own weights of types: the most that all signals of a type cost together.
    """
    if not signals:
        return CLEAN
    ordered = tuple(sorted(signals, key=lambda signal: (-signal.weight, signal.position or 0)))
    total = score(ordered, weights)
    escalate = (
        total < threshold
        or sum(signal.source != "calls" or signal.weight >= _COUNTS for signal in ordered) > _MOST_UNESCALATED
        or any(signal.type in _ALWAYS and signal.type not in weights for signal in ordered)
    )
    return AnswerQuality(
        score=total,
        signals=ordered,
        should_escalate=escalate,
        reason=reason(ordered, total, escalate=escalate),
        assessment_confidence=certainty_of([signal.certainty for signal in ordered]),
        feedback=feedback(ordered),
        action=action_of(ordered) if escalate else Action.USE,
    )


_LONGEST_QUOTE = 60
_MOST_SENTENCES = 3


class SignalWording(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is said of one kind of signal."""

    name: str = ""
    feedback: str = ""
    advice: str = ""
    action: Action | None = None


@cache
def wording() -> dict[str, SignalWording]:
    """A signal type, or `type.label`, to what is said of it."""
    return read_toml("toolvet.core.checks.answer", "wording.toml", dict[str, SignalWording])


def reason(signals: Sequence[FailureSignal], score: float, *, escalate: bool) -> str:
    """Why an answer should or need not be looked at, in a sentence."""
    names = list(dict.fromkeys(words_of(signal, "name") for signal in signals))
    quoted = quote(signals[0].evidence)
    found = f"Detected {_joined(names)}" + (f' ("{quoted}")' if quoted else "")
    return f"{found}; escalation {'recommended' if escalate else 'not needed'} (score {score:g})."


def feedback(signals: Sequence[FailureSignal]) -> str:
    """What to change, in a sentence for each kind of signal, the gravest first and three at most."""
    return " ".join(_sentences(signals, "feedback"))


def advice(signals: Sequence[FailureSignal]) -> list[str]:
    """What the next attempt should do, in a sentence for each kind of signal."""
    return _sentences(signals, "advice")


def action_of(signals: Sequence[FailureSignal]) -> Action:
    """What to do with an answer that has these signals: the action of the gravest one, which is the first."""
    return next((action for action in map(_action, signals) if action is not None), Action.RETRY)


def _action(signal: FailureSignal) -> Action | None:
    own = _of_label(signal)
    return (own.action if own is not None else None) or wording()[signal.type.value].action


def _sentences(signals: Sequence[FailureSignal], what: str) -> list[str]:
    seen: dict[str, None] = {}
    for signal in signals:
        sentence = words_of(signal, what)
        seen[
            sentence.replace("{evidence}", quote(signal.evidence)).replace("{against}", quote(signal.against or ""))
        ] = None
    return list(seen)[:_MOST_SENTENCES]


def words_of(signal: FailureSignal, what: str) -> str:
    """The words of the signal's label, or of its type where the label has none of its own."""
    own = _of_label(signal)
    words: str = getattr(own, what) if own is not None else ""
    return words or str(getattr(wording()[signal.type.value], what))


def _of_label(signal: FailureSignal) -> SignalWording | None:
    """The entry of the signal's label, or of the first word of the label."""
    table = wording()
    label = signal.label or ""
    return table.get(f"{signal.type.value}-{label}") or table.get(f"{signal.type.value}-{label.partition('_')[0]}")


def turn_words(key: str) -> str:
    """What is said of the turn: `question`, `returned`, `failed`."""
    return wording()[f"turn-{key}"].advice


def quote(words: str) -> str:
    """The words on one line, and not many of them."""
    line = " ".join(words[: 4 * _LONGEST_QUOTE].split())
    return line if len(line) <= _LONGEST_QUOTE else f"{line[: _LONGEST_QUOTE - 1].rstrip()}…"


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


_MOST_TOOLS = 5  # Named in one sentence.
_LONGEST_NAME = 60
_LONGEST_QUESTION = 200


def regeneration_advice(
    quality: AnswerQuality, *, question: str | None = None, calls: Sequence[object] | None = None
) -> str | None:
    """Return an instruction for the model before it answers again, in a few sentences; None where nothing is wrong.

    Args:
        quality: The verdict on the failed answer. Its signals give one sentence for each kind, the gravest first and
            three at most.
        question: What was asked. It is repeated at the end, because the next attempt may see nothing else of the turn.
        calls: The tool calls of the turn, as `check_answer` takes them: the advice names those that returned something
            and those that failed.

    Example:
        >>> from toolvet import check_answer
        >>> regeneration_advice(check_answer("The museum opens at nine and closes at six."))
    """
    sentences = advice(quality.signals)
    if not sentences:
        return None
    if calls:
        sentences += _on_calls(calls)
    asked = " ".join((question or "").split())
    if asked:
        shown = asked if len(asked) <= _LONGEST_QUESTION else f"{asked[: _LONGEST_QUESTION - 1].rstrip()}…"
        sentences.append(turn_words("question").replace("{question}", shown))
    return " ".join(sentences)


def _on_calls(calls: Sequence[object]) -> Iterator[str]:
    # Loaded only when calls are given (start-up time).
    from toolvet.core.messages import read_calls  # noqa: PLC0415
    from toolvet.core.turn.grounding.outcome import outcome_of  # noqa: PLC0415

    outcomes = [outcome_of(call) for call in read_calls(calls)]
    # A call that was corrected and made again did what it was for.
    last = {each.call.name: each for each in outcomes}
    outcomes = [each for each in outcomes if each.failed is not True or last[each.call.name] is each]
    for key, failed in (("returned", False), ("failed", True)):
        named = dict.fromkeys(
            each.call.name[:_LONGEST_NAME] for each in outcomes if each.call.name and each.failed is failed
        )
        if named:
            yield turn_words(key).replace("{tools}", ", ".join(list(named)[:_MOST_TOOLS]))
