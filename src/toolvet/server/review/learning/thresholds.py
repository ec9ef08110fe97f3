"""Thresholds from labels: the score below which answers are escalated, and how far each type of signal can be trusted.

A share of few cases says little, so every share comes with the lower end of its confidence interval (Wilson's), and
that end must reach what is wanted.
"""

import math
from collections import Counter
from collections.abc import Sequence
from statistics import NormalDist
from typing import Final

import msgspec

from toolvet.errors import UsageError
from toolvet.server.review.learning.labels import LabelledVerdict

_CONFIDENCE: Final = 0.95
_GRID: Final = tuple(round(0.05 * step, 2) for step in range(2, 20))
FEWEST: Final = 30
"""With fewer labelled answers that a threshold would escalate, no threshold is suggested."""


class SuggestedThreshold(msgspec.Struct, frozen=True, kw_only=True):
    """A threshold for `[checks.answer]`, and what it does on the labelled answers.

    `escalated` of `labelled` answers would be, `right` of them rightly; `missed` should have been and are not.
    `at_least` is what the precision is with 95 % confidence, over all thresholds that were tried.
    """

    threshold: float
    wanted: float
    labelled: int
    escalated: int
    right: int
    missed: int
    at_least: float

    @property
    def precision(self) -> float:
        """The share of the escalations that are right."""
        return self.right / self.escalated


class TypePrecision(msgspec.Struct, frozen=True, kw_only=True):
    """How many signals of a type people confirmed, and the lower end of that share at 95 % confidence.

    `missed` is how many answers have such a fault that toolvet did not find.
    """

    type: str
    signals: int
    right: int
    at_least: float
    missed: int = 0


def suggest_threshold(rows: Sequence[LabelledVerdict], precision: float) -> SuggestedThreshold:
    """Return the threshold that escalates most with the wanted precision (0 to 1).

    Raises UsageError if `precision` is not a share, if there are too few labels, or if none of the thresholds
    is proven to reach it; the message lists what there is.
    """
    if not 0 < precision < 1:
        raise UsageError(f"a precision of {precision:g}: it is a share, more than 0 and less than 1")
    rated = [(row.score, row.bad) for row in rows if row.score is not None and row.bad is not None]
    if len(rated) < FEWEST:
        raise UsageError(f"{len(rated)} labelled answers with a score: {FEWEST} are the fewest that prove anything")
    best: SuggestedThreshold | None = None
    closest = 0.0
    for threshold in _GRID:
        escalated = [bad for score, bad in rated if score < threshold]
        if len(escalated) < FEWEST:
            continue
        right = sum(escalated)
        # Several thresholds are tried, so each must prove more.
        bound = lower_bound(right, len(escalated), 1 - (1 - _CONFIDENCE) / len(_GRID))
        closest = max(closest, bound)
        if bound >= precision:
            best = SuggestedThreshold(
                threshold=threshold,
                wanted=precision,
                labelled=len(rated),
                escalated=len(escalated),
                right=right,
                missed=sum(bad for score, bad in rated if score >= threshold),
                at_least=round(bound, 4),
            )
    if best is None:
        raise UsageError(
            f"no threshold is proven to have a precision of {precision:g} on {len(rated)} labelled answers;"
            f" the best is proven to have {closest:.3f}: label more, or ask for less"
        )
    return best


def type_precisions(rows: Sequence[LabelledVerdict]) -> list[TypePrecision]:
    """Return how far each type of signal was confirmed, the most frequent first."""
    counts: dict[str, list[bool]] = {}
    missed = Counter(type_ for row in rows for type_ in row.named)
    for type_ in missed:
        counts[type_] = []
    for row in rows:
        for type_, right in row.found:
            counts.setdefault(type_, []).append(right)
    found = [
        TypePrecision(
            type=type_,
            signals=len(said),
            right=sum(said),
            at_least=round(lower_bound(sum(said), len(said), _CONFIDENCE), 4),
            missed=missed[type_],
        )
        for type_, said in counts.items()
    ]
    return sorted(found, key=lambda each: (-each.signals, each.type))


def lower_bound(right: int, cases: int, confidence: float) -> float:
    """Return the lower end of Wilson's one-sided interval for a share.

    >>> round(lower_bound(9, 10, 0.95), 3)
    0.652
    >>> lower_bound(0, 0, 0.95)
    0.0
    """
    if not cases:
        return 0.0
    z = NormalDist().inv_cdf(confidence)
    share = right / cases
    middle = share + z * z / (2 * cases)
    spread = z * math.sqrt(share * (1 - share) / cases + z * z / (4 * cases * cases))
    return max(0.0, (middle - spread) / (1 + z * z / cases))
