"""`/compare?a=…&b=…`: two prompts or (`by=model`) two models over the same questions."""

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev
from typing import Any, Final

from toolvet.core.envelope import validation_error
from toolvet.server.dashboard.page import Page, RequestContext
from toolvet.server.dashboard.view.period import read_period
from toolvet.server.failures import ApiError
from toolvet.store import VerdictFilter
from toolvet.store.overview import FigureFilter

_Z: Final = 1.959963984540054
"""The 97.5 % quantile of the normal distribution."""
_FEWEST_PAIRS: Final = 2
_MOST_SHOWN: Final = 50
_MOST_SIGNALS: Final = 12


@dataclass(frozen=True)
class AnswerCase:
    """One answer: what was asked, and how it was judged."""

    id: str
    question: str
    score: float
    is_escalated: bool
    signals: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Difference:
    """How much more b has than a: `low` to `high` is the interval of 95 % confidence, None for too few cases."""

    label: str
    a: float
    b: float
    low: float | None
    high: float | None

    @property
    def value(self) -> float:
        """The difference."""
        return self.b - self.a

    @property
    def is_certain(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


@dataclass(frozen=True)
class QuestionPair:
    """One question that both answered."""

    question: str
    a: AnswerCase
    b: AnswerCase
    change: float


@dataclass(frozen=True)
class VariantComparison:
    """Two sets of answers compared. `is_paired` says whether over the questions that both answered (`pairs` of them).

    `most_changed` are the questions whose score differs most.
    """

    a_count: int
    b_count: int
    is_paired: bool
    pairs: int
    score: Difference
    escalation: Difference
    signals: Sequence[Difference]
    most_changed: Sequence[QuestionPair]


def compare_answers(a: Sequence[AnswerCase], b: Sequence[AnswerCase]) -> VariantComparison | None:
    """Return the comparison; None if one side has no answers.

    Where both answered two questions or more, only those count, and several answers to a question count as their mean.
    """
    if not a or not b:
        return None
    by_question = _by_question(a), _by_question(b)
    shared = [question for question in by_question[0] if question and question in by_question[1]]
    is_paired = len(shared) >= _FEWEST_PAIRS
    groups = ([by_question[0][each] for each in shared], [by_question[1][each] for each in shared])
    sides = groups if is_paired else ([[case] for case in a], [[case] for case in b])

    def difference(label: str, figure: Callable[[AnswerCase], float], *, is_share: bool) -> Difference:
        values = [[fmean(map(figure, cases)) for cases in side] for side in sides]
        if is_share:
            return _share_difference(label, values[0], values[1], is_paired=is_paired)
        return _mean_difference(label, values[0], values[1], is_paired=is_paired)

    types = sorted({each for side in sides for cases in side for case in cases for each in case.signals})
    signals = [difference(type_, _has(type_), is_share=True) for type_ in types]
    signals.sort(key=lambda each: -abs(each.value))
    changed: list[QuestionPair] = []
    for left, right in zip(*groups, strict=True):
        change = fmean(case.score for case in right) - fmean(case.score for case in left)
        changed.append(QuestionPair(left[-1].question, left[-1], right[-1], round(change, 4)))
    changed.sort(key=lambda each: -abs(each.change))
    return VariantComparison(
        a_count=len(a),
        b_count=len(b),
        is_paired=is_paired,
        pairs=len(shared),
        score=difference("Average score", lambda case: case.score, is_share=False),
        escalation=difference("Escalation rate", lambda case: float(case.is_escalated), is_share=True),
        signals=signals[:_MOST_SIGNALS],
        most_changed=[each for each in changed if each.change][:_MOST_SHOWN],
    )


def _has(type_: str) -> Callable[[AnswerCase], float]:
    return lambda case: float(type_ in case.signals)


def _by_question(cases: Iterable[AnswerCase]) -> Mapping[str, list[AnswerCase]]:
    found: dict[str, list[AnswerCase]] = {}
    for case in cases:
        found.setdefault(" ".join(case.question.casefold().split()), []).append(case)
    return found


def _mean_difference(label: str, a: Sequence[float], b: Sequence[float], *, is_paired: bool) -> Difference:
    """Student's interval of the mean of the differences; Welch's where nothing is paired."""
    mean_a, mean_b = fmean(a), fmean(b)
    if min(len(a), len(b)) < _FEWEST_PAIRS:
        return Difference(label, mean_a, mean_b, None, None)
    if is_paired:
        changes = [right - left for left, right in zip(a, b, strict=True)]
        half = student_quantile(len(changes) - 1) * stdev(changes) / math.sqrt(len(changes))
    else:
        parts = stdev(a) ** 2 / len(a), stdev(b) ** 2 / len(b)
        total = sum(parts)
        below = parts[0] ** 2 / (len(a) - 1) + parts[1] ** 2 / (len(b) - 1)
        half = student_quantile(total**2 / below) * math.sqrt(total) if below else 0.0
    change = mean_b - mean_a
    return Difference(label, mean_a, mean_b, change - half, change + half)


def _share_difference(label: str, a: Sequence[float], b: Sequence[float], *, is_paired: bool) -> Difference:
    """Intervals for shares that hold for few cases and shares of 0 or 1, too.

    Paired: Bonett and Price (2012), which adds a case to each kind of disagreement. Else: Agresti and Caffo (2000),
    which adds a case of each kind to each side.
    """
    share_a, share_b = fmean(a), fmean(b)
    if is_paired:
        size = len(a) + 2
        up = (sum(max(0.0, right - left) for left, right in zip(a, b, strict=True)) + 1) / size
        down = (sum(max(0.0, left - right) for left, right in zip(a, b, strict=True)) + 1) / size
        middle, half = up - down, _Z * math.sqrt((up + down - (up - down) ** 2) / size)
    else:
        near_a, near_b = (sum(a) + 1) / (len(a) + 2), (sum(b) + 1) / (len(b) + 2)
        variance = near_a * (1 - near_a) / (len(a) + 2) + near_b * (1 - near_b) / (len(b) + 2)
        middle, half = near_b - near_a, _Z * math.sqrt(variance)
    return Difference(label, share_a, share_b, max(-1.0, middle - half), min(1.0, middle + half))


def student_quantile(freedom: float) -> float:
    """Return the 97.5 % quantile of Student's distribution (Abramowitz and Stegun 26.7.5; exact for 1 and 2).

    >>> [round(student_quantile(freedom), 2) for freedom in (1, 2, 10, 1000)]
    [12.71, 4.3, 2.23, 1.96]
    """
    if freedom < 2:
        return math.tan(math.pi * 0.475)
    if freedom < 3:
        return 0.95 * math.sqrt(2 / (1 - 0.95**2))
    z = _Z
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / freedom**power for power, term in enumerate(terms, 1))


_MOST_ANSWERS: Final = 10_000
_BY: Final = ("variant", "model")


def _fill(context: RequestContext) -> Mapping[str, object]:
    by = context.query.get("by") or "variant"
    if by not in _BY:
        raise ApiError(422, validation_error(f"by must be one of {', '.join(_BY)}", field="by"))
    period = read_period(context.query, time.time(), "30d")
    groups = context.server.store.groups((by,), FigureFilter(kind="answer"))  # type: ignore[arg-type] # one of _BY
    choices = sorted({getattr(group, by) for group in groups} - {""})
    a, b = (context.query.get(name) or None for name in ("a", "b"))
    comparison = None
    if a is not None and b is not None:
        sides: list[list[AnswerCase]] = []
        for name in (a, b):
            chosen: dict[str, Any] = {by: name, "since": period.since, "until": period.until}
            found = context.server.store.page(VerdictFilter(kind="answer", **chosen), limit=_MOST_ANSWERS).verdicts
            sides.append(
                [
                    AnswerCase(
                        id=verdict.id,
                        question=str(verdict.detail.get("question") or ""),
                        score=verdict.score or 0.0,
                        is_escalated=verdict.escalate,
                        signals=frozenset(signal.type for signal in verdict.signals),
                    )
                    for verdict in found
                ]
            )
        comparison = compare_answers(*sides)
    return {"by": by, "period": period, "choices": choices, "a": a, "b": b, "comparison": comparison}


PAGES = (Page("/compare", "A/B comparison", "compare.html.jinja", _fill, menu=(7, "Compare")),)
