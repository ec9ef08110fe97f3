"""`Tile`: one figure beside that of the period before, and whether the change is good."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from toolvet.server.dashboard.view.formats import number, percent, points, score, seconds
from toolvet.server.dashboard.view.period import Period
from toolvet.store import Store
from toolvet.store.overview import VerdictFigures, add_figures

# Smaller changes are shown as none.
_LEAST: Final = 0.005


@dataclass(frozen=True)
class Tile:
    """One figure of a period.

    Attributes:
        label: What it is.
        value: The figure as a reader sees it.
        before: That of the period before; None where there was nothing.
        change: How much larger it is than before, in words; empty without a change.
        mood: `good` or `poor` where the change is, else empty.
        note: What it is counted over.
    """

    label: str
    value: str
    before: str | None = None
    change: str = ""
    mood: str = ""
    note: str = ""


@dataclass(frozen=True)
class PeriodFigures:
    """The figures of a period: of calls (all that is no answer) and of answers."""

    calls: VerdictFigures
    answers: VerdictFigures


def read_split(store: Store, period: Period, server: str | None = None, tool: str | None = None) -> PeriodFigures:
    """Return the figures of a period, of a server or tool or of all."""
    kinds = {group.kind: group.figures for group in store.groups(("kind",), period.figures(server=server, tool=tool))}
    answers = kinds.pop("answer", VerdictFigures())
    return PeriodFigures(add_figures(kinds.values()), answers)


def tiles(now: PeriodFigures, before: PeriodFigures, *, has_answers: bool = True) -> Sequence[Tile]:
    """Return the tiles of a page."""
    calls, answers = now.calls, now.answers
    was, were = before.calls, before.answers
    found = [
        _tile("Calls", number, calls.verdicts, was.verdicts or None, note=f"{number(calls.failed)} failed"),
        _tile("Failure rate", percent, _rate(calls), _rate(was), bad=1),
        _tile(
            "Slow calls (p95)",
            seconds,
            calls.percentile(0.95),
            was.percentile(0.95),
            bad=1,
            note="95 of 100 took less" if calls.duration_count else "",
        ),
    ]
    if has_answers:
        found += [
            _tile(
                "Answers",
                number,
                answers.verdicts,
                were.verdicts or None,
                note=f"{number(answers.escalated)} for a person",
            ),
            _tile("Escalation rate", percent, _escalation(answers), _escalation(were), bad=1),
            _tile("Average score", score, answers.average_score, were.average_score, bad=-1),
        ]
    return found


def _rate(figures: VerdictFigures) -> float | None:
    return figures.failure_rate if figures.verdicts else None


def _escalation(figures: VerdictFigures) -> float | None:
    return figures.escalation_rate if figures.verdicts else None


def _tile(
    label: str,
    shown: Callable[[float | None], str],
    value: float | None,
    before: float | None,
    *,
    bad: int = 0,
    note: str = "",
) -> Tile:
    """Return a tile; `bad` is 1 where more is worse, -1 where less is, 0 where neither is."""
    if before is None or value is None:
        return Tile(label, shown(value), note=note)
    difference = value - before
    if abs(difference) <= _LEAST * max(abs(before), abs(value)):
        return Tile(label, shown(value), shown(before), "as before", note=note)
    mood = "" if not bad else "poor" if difference * bad > 0 else "good"
    sign = "+" if difference > 0 else "\u2212"
    size = (points if shown is percent else shown)(abs(difference))
    return Tile(label, shown(value), shown(before), f"{sign}{size}", mood, note)
