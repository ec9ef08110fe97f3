"""`/compare?a=…&b=…`: two prompts or (`by=model`) two models over the same questions."""

import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from toolvet.core.envelope import validation_error
from toolvet.server.dashboard.page import Page, Visit
from toolvet.server.dashboard.view.paired import AnswerCase, compare_answers
from toolvet.server.dashboard.view.period import read_period
from toolvet.server.failures import ApiError
from toolvet.store import VerdictFilter
from toolvet.store.overview import FigureFilter

_MOST_ANSWERS: Final = 10_000
_BY: Final = ("variant", "model")


def _fill(visit: Visit) -> Mapping[str, object]:
    by = visit.query.get("by") or "variant"
    if by not in _BY:
        raise ApiError(422, validation_error(f"by must be one of {', '.join(_BY)}", field="by"))
    period = read_period(visit.query, time.time(), "30d")
    groups = visit.site.store.groups((by,), FigureFilter(kind="answer"))  # type: ignore[arg-type] # one of _BY
    choices = sorted({getattr(group, by) for group in groups} - {""})
    a, b = (visit.query.get(name) or None for name in ("a", "b"))
    comparison = None
    if a is not None and b is not None:
        sides = [_cases(visit, {by: name, "since": period.since, "until": period.until}) for name in (a, b)]
        comparison = compare_answers(*sides)
    return {"by": by, "period": period, "choices": choices, "a": a, "b": b, "comparison": comparison}


def _cases(visit: Visit, members: Mapping[str, Any]) -> Sequence[AnswerCase]:
    found = visit.site.store.page(VerdictFilter(kind="answer", **members), limit=_MOST_ANSWERS).verdicts
    return [
        AnswerCase(
            id=verdict.id,
            question=str(verdict.detail.get("question") or ""),
            score=verdict.score or 0.0,
            is_escalated=verdict.escalate,
            signals=frozenset(signal.type for signal in verdict.signals),
        )
        for verdict in found
    ]


PAGES = (Page("/compare", "A/B comparison", "compare.html.jinja", _fill, menu=(7, "Compare")),)
