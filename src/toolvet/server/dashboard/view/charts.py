"""`Chart`: sums over time as the numbers of a chart, with the period before beside them, and as a table.

The browser draws it (static/charts.js); without scripts the table is there.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import msgspec
from markupsafe import Markup

from toolvet.server.dashboard.view.formats import number, percent, score, seconds, when
from toolvet.server.dashboard.view.period import Period
from toolvet.store import Store
from toolvet.store.overview import TrendPoint, VerdictFigures, add_figures

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
    """A chart: `at` has the begin of each stretch in seconds since the epoch."""

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
        """The same as a table: each stretch that has a figure."""
        shown = _SHOWN[self.unit]
        return [
            (when(at), [shown(line.values[place]) for line in self.lines])
            for place, at in enumerate(self.at)
            if any(line.values[place] for line in self.lines)
        ]

    @property
    def summary(self) -> str:
        """What the chart shows, in a sentence for those who do not see it."""
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
    stretches = _stretches(period)
    shift = period.until - period.since
    now = _read(store, period, server, tool)
    before = _read(store, period.before, server, tool)

    def line(label: str, colour: str, which: int, figure: _Figure) -> ChartLine:
        return ChartLine(label, tuple(figure(now[which].get(at, _NONE)) for at in stretches), colour)

    def line_before(which: int, figure: _Figure) -> ChartLine:
        values = tuple(figure(before[which].get(at - shift, _NONE)) for at in stretches)
        return ChartLine(
            f"{period.words} before" if period.key else "the period before", values, "--faint", is_before=True
        )

    def chart(id_: str, title: str, unit: Unit, which: int, *drawn: tuple[str, str, _Figure]) -> Chart:
        lines = [line(label, colour, which, figure) for label, colour, figure in drawn]
        return Chart(id_, title, unit, stretches, (*lines, line_before(which, drawn[0][2])))

    calls, answers = 0, 1
    charts = (
        chart(
            "calls",
            f"Calls per {period.stretch}",
            "count",
            calls,
            ("calls", "--info", _count),
            ("failed", "--poor", _failed),
        ),
        chart("failures", "Failure rate", "share", calls, ("failure rate", "--poor", _failure_rate)),
        chart("durations", "Duration of calls (95th percentile)", "seconds", calls, ("p95", "--fair", _slow)),
        chart(
            "escalations",
            "Escalation rate of answers",
            "share",
            answers,
            ("escalation rate", "--fair", _escalation_rate),
        ),
        chart("scores", "Average score of answers", "score", answers, ("average score", "--good", _score)),
    )
    return tuple(each for each in charts if each.id in _ALWAYS or not each.is_empty)


_NONE: Final = VerdictFigures()
_ALWAYS: Final = ("calls", "failures")


def _count(figures: VerdictFigures) -> float:
    return figures.verdicts


def _failed(figures: VerdictFigures) -> float:
    return figures.failed


def _failure_rate(figures: VerdictFigures) -> float | None:
    return figures.failure_rate if figures.verdicts else None


def _escalation_rate(figures: VerdictFigures) -> float | None:
    return figures.escalation_rate if figures.verdicts else None


def _score(figures: VerdictFigures) -> float | None:
    return figures.average_score


def _slow(figures: VerdictFigures) -> float | None:
    return figures.percentile(0.95)


def _stretches(period: Period) -> tuple[float, ...]:
    first = period.since // period.step * period.step
    count = int(-(-(period.until - first) // period.step))
    return tuple(first + place * period.step for place in range(count))


def _read(
    store: Store, period: Period, server: str | None, tool: str | None
) -> tuple[Mapping[float, VerdictFigures], Mapping[float, VerdictFigures]]:
    """Return the figures of calls and of answers by the begin of their stretch."""
    wanted = period.figures(server=server, tool=tool)
    # Most stores have two kinds of the five.
    kinds = [group.kind for group in store.groups(("kind",), wanted)]
    by_kind = {
        kind: _by_begin(store.trend(msgspec.structs.replace(wanted, kind=kind), seconds=period.step)) for kind in kinds
    }
    answers = by_kind.pop("answer", {})
    begins = {at for points in by_kind.values() for at in points}
    calls = {at: add_figures(points[at] for points in by_kind.values() if at in points) for at in begins}
    return calls, answers


def _by_begin(points: Iterable[TrendPoint]) -> Mapping[float, VerdictFigures]:
    return {point.at: point.figures for point in points}
