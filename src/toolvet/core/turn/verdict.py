"""Makes the verdict from signals: score, whether a person should look, why, and what to change."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

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
from toolvet.core.checks.answer.wording import action_of, feedback, reason

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


def add_signals(
    quality: AnswerQuality, signals: Iterable[FailureSignal | None], *, mode: Literal["normal", "strict"] = "normal"
) -> AnswerQuality:
    """Return `quality` weighed again with `signals` beside its own; None among them counts as no signal."""
    more = [signal for signal in signals if signal is not None]
    if not more:
        return quality
    weighed = verdict([*quality.signals, *more], threshold=checked_threshold(None, strict=mode == "strict"))
    return msgspec.structs.replace(
        weighed, failed_calls=quality.failed_calls, partial_calls=quality.partial_calls, trace_id=quality.trace_id
    )
