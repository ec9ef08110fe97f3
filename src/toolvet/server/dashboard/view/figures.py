"""Figures of a page: `Chart` (sums over time), `Tile` (one figure and that of the period before), and sorted groups.

The browser draws a chart (static/charts.js) with the period before beside it; without scripts its table is there.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import msgspec
from markupsafe import Markup

from toolvet.core.envelope import validation_error
from toolvet.server.dashboard.view.formats import number, percent, points, score, seconds, when
from toolvet.server.dashboard.view.period import Period
from toolvet.server.failures import ApiError
from toolvet.store import Store
from toolvet.store.overview import GroupFigures, VerdictFigures, add_figures

Unit: TypeAlias = Literal["count", "share", "score", "seconds"]
_Figure: TypeAlias = Callable[[VerdictFigures], float | None]
_SHOWN: Final[Mapping[Unit, Callable[[float | None], str]]] = {
    "count": number,
    "share": percent,
    "score": score,
    "seconds": seconds,
}


@dataclass(frozen=True)
class ChartLine:
    """One line of a chart. `colour` is the name of a colour of base.css; `is_before` that of the period before."""

    label: str
    values: tuple[float | None, ...]
    colour: str
    is_before: bool = False


@dataclass(frozen=True)
class Chart:
    """A chart: `at` has the begin of each step in seconds since the epoch."""

    id: str
    title: str
    unit: Unit
    at: tuple[float, ...]
    lines: tuple[ChartLine, ...]

    @property
    def data(self) -> Markup:
        """The numbers as JSON, safe inside of an element `script`."""
        text = msgspec.json.encode({"unit": self.unit, "at": self.at, "lines": self.lines}).decode()
        return Markup(text.replace("<", "\\u003c"))  # noqa: S704 - no tag can begin in it

    @property
    def rows(self) -> Sequence[tuple[Markup, Sequence[str]]]:
        """The same as a table: each step that has a figure."""
        shown = _SHOWN[self.unit]
        return [
            (when(at), [shown(line.values[place]) for line in self.lines])
            for place, at in enumerate(self.at)
            if any(line.values[place] for line in self.lines)
        ]

    @property
    def summary(self) -> str:
        """Return the chart's content in a sentence, for those who do not see it."""
        shown = _SHOWN[self.unit]
        parts: list[str] = []
        for line in self.lines:
            known = [value for value in line.values if value is not None]
            if known and not line.is_before:
                parts.append(f"{line.label}: from {shown(min(known))} to {shown(max(known))}, last {shown(known[-1])}")
        return f"{self.title}. {'; '.join(parts) or 'Nothing in this period'}."

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not any(value for line in self.lines for value in line.values)


def read_charts(store: Store, period: Period, server: str | None = None, tool: str | None = None) -> tuple[Chart, ...]:
    """Return the charts of a period: calls, failures, answers, durations."""
    first = period.since // period.step * period.step
    count = int(-(-(period.until - first) // period.step))
    begins = tuple(first + place * period.step for place in range(count))
    shift = period.until - period.since
    now = _read(store, period, server, tool)
    before = _read(store, period.before, server, tool)

    def line(label: str, colour: str, which: int, figure: _Figure) -> ChartLine:
        return ChartLine(label, tuple(figure(now[which].get(at, _NONE)) for at in begins), colour)

    def line_before(which: int, figure: _Figure) -> ChartLine:
        values = tuple(figure(before[which].get(at - shift, _NONE)) for at in begins)
        return ChartLine(
            f"{period.words} before" if period.key else "the period before", values, "--faint", is_before=True
        )

    def chart(id_: str, title: str, unit: Unit, which: int, *drawn: tuple[str, str, _Figure]) -> Chart:
        lines = [line(label, colour, which, figure) for label, colour, figure in drawn]
        return Chart(id_, title, unit, begins, (*lines, line_before(which, drawn[0][2])))

    calls, answers = 0, 1
    charts = (
        chart(
            "calls",
            f"Calls per {period.step_name}",
            "count",
            calls,
            ("calls", "--info", lambda figures: figures.verdicts),
            ("failed", "--poor", lambda figures: figures.failed),
        ),
        chart("failures", "Failure rate", "share", calls, ("failure rate", "--poor", _rate)),
        chart(
            "durations",
            "Duration of calls (95th percentile)",
            "seconds",
            calls,
            ("p95", "--fair", lambda figures: figures.percentile(0.95)),
        ),
        chart(
            "escalations",
            "Escalation rate of answers",
            "share",
            answers,
            ("escalation rate", "--fair", _escalation),
        ),
        chart(
            "scores",
            "Average score of answers",
            "score",
            answers,
            ("average score", "--good", lambda figures: figures.average_score),
        ),
    )
    return tuple(each for each in charts if each.id in _ALWAYS or not each.is_empty)


_NONE: Final = VerdictFigures()
_ALWAYS: Final = ("calls", "failures")


def _read(
    store: Store, period: Period, server: str | None, tool: str | None
) -> tuple[Mapping[float, VerdictFigures], Mapping[float, VerdictFigures]]:
    wanted = period.figures(server=server, tool=tool)
    # Most stores have two kinds of the five.
    by_kind: dict[str, Mapping[float, VerdictFigures]] = {}
    for group in store.groups(("kind",), wanted):
        trend = store.trend(msgspec.structs.replace(wanted, kind=group.kind), seconds=period.step)
        by_kind[group.kind] = {point.at: point.figures for point in trend}
    answers = by_kind.pop("answer", {})
    begins = {at for points in by_kind.values() for at in points}
    calls = {at: add_figures(points[at] for points in by_kind.values() if at in points) for at in begins}
    return calls, answers


# Smaller changes are shown as none.
_LEAST: Final = 0.005


@dataclass(frozen=True)
class Tile:
    """One figure of a period.

    Attributes:
        label: Its name.
        value: The figure as a reader sees it.
        before: That of the period before; None if there was nothing.
        change: How much larger it is than before, in words; empty without a change.
        mood: `good` or `poor` where the change is, else empty.
        note: The verdicts that it counts.
    """

    label: str
    value: str
    before: str | None = None
    change: str = ""
    mood: str = ""
    note: str = ""


@dataclass(frozen=True)
class PeriodFigures:
    """The figures of a period: of calls (all verdicts but those on answers) and of answers."""

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


_SLOW: Final = 0.95


def worst(groups: Iterable[GroupFigures]) -> Sequence[GroupFigures]:
    """Return the groups with failures, those with the most failed calls for each call first."""
    found = [group for group in groups if group.figures.failed]
    return sorted(
        found, key=lambda group: (-group.figures.failure_rate, -group.figures.failed, group.server, group.tool)
    )


def slowest(groups: Iterable[GroupFigures]) -> Sequence[GroupFigures]:
    """Return the groups whose durations are known, the slowest first."""
    found = [group for group in groups if group.figures.duration_count]
    return sorted(found, key=lambda group: (-(group.figures.percentile(_SLOW) or 0), group.server, group.tool))


SORTS: Final[Mapping[str, Callable[[GroupFigures], float]]] = {
    "calls": lambda group: -group.figures.verdicts,
    "failed": lambda group: -group.figures.failed,
    "failure_rate": lambda group: -group.figures.failure_rate,
    "slow": lambda group: -(group.figures.percentile(_SLOW) or 0),
    # Those without a score come last.
    "score": lambda group: 2.0 if group.figures.average_score is None else group.figures.average_score,
}
"""How lists of tools and servers can be sorted, by the word in the URL."""


def sort_groups(groups: Iterable[GroupFigures], word: str) -> Sequence[GroupFigures]:
    """Return the groups sorted. Raises ApiError with 422 for a word that does not exist."""
    if word not in SORTS:
        raise ApiError(422, validation_error(f"sort must be one of {', '.join(SORTS)}", field="sort"))
    return sorted(groups, key=lambda group: (SORTS[word](group), group.server, group.tool))
