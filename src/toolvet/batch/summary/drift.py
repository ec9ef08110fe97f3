"""`describe_drift`: counts day by day → shares period by period, and which changes are more than chance."""

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import pairwise
from typing import Final

from toolvet.assess.report import DriftChange, DriftPeriod, DriftReport, DriftSeries, PeriodLength, ShareFigure
from toolvet.batch.summary.fold import DayCounts
from toolvet.batch.summary.statistics import adjusted, difference, is_comparable, share, two_shares
from toolvet.batch.summary.times import fitting_length, next_start, period_start

_MOST_PERIODS: Final = 120
_MOST_SERIES: Final = 12
_LEVEL: Final = 0.05
_LEAST_CHANGE: Final = 0.1
"""Of millions of rows every ripple is more than chance: a change is told from a tenth of the larger share on."""
_CORE: Final = 0.005  # Rows at each end that do not decide which periods are shown: clocks are wrong sometimes.


def describe_drift(
    days: Mapping[int, DayCounts], signals: Sequence[str], column: str, per: PeriodLength | None, without_time: int
) -> DriftReport:
    """Return the shares of flagged rows and of these signals over time; `per` None takes the period that fits."""
    core = _core(days)
    per = per or fitting_length(core)
    starts = _starts(days, core, per)
    summed = {start: DayCounts() for start in starts}
    outside = 0
    for day, counts in days.items():
        start = period_start(day, per)
        if start in summed:
            summed[start].merge(counts)
        else:
            outside += counts.rows
    series: list[tuple[str | None, list[ShareFigure]]] = [
        (None, [share(each.flagged, each.rows) for each in summed.values()]),
        *(
            (name, [share(each.marks.get(name, 0), each.rows) for each in summed.values()])
            for name in signals[:_MOST_SERIES]
        ),
    ]
    changes, compared, too_few = _changes(series, starts)
    return DriftReport(
        column=column,
        per=per,
        periods=[DriftPeriod(start=start.isoformat(), rows=each.rows) for start, each in summed.items()],
        series=[DriftSeries(name=name, points=points) for name, points in series],
        changes=changes,
        compared=compared,
        too_few=too_few,
        without_time=without_time,
        outside=outside,
    )


def _core(days: Mapping[int, DayCounts]) -> list[int]:
    """The days without the outermost few rows at each end."""
    left = _CORE * sum(each.rows for each in days.values())
    known = sorted(days)

    def cut(order: Sequence[int]) -> set[int]:
        found: set[int] = set()
        seen = 0
        for day in order:
            seen += days[day].rows
            if seen > left:
                break
            found.add(day)
        return found

    outer = cut(known) | cut(known[::-1])
    return [day for day in known if day not in outer]


def _starts(days: Mapping[int, DayCounts], core: Sequence[int], per: PeriodLength) -> list[date]:
    """The periods from the first to the last, also those without rows. Where they are too many, the latest ones."""
    if not days:
        return []
    found = _between(min(days), max(days), per)
    return found if len(found) <= _MOST_PERIODS else _between(core[0], core[-1], per)[-_MOST_PERIODS:]


def _between(first: int, last: int, per: PeriodLength) -> list[date]:
    found = [period_start(first, per)]
    end = period_start(last, per)
    while found[-1] < end:
        found.append(next_start(found[-1], per))
    return found


def _changes(
    series: Sequence[tuple[str | None, Sequence[ShareFigure]]], starts: Sequence[date]
) -> tuple[list[DriftChange], int, int]:
    """The changes that are more than chance, how many were compared, and how many could not be."""
    pairs: list[tuple[str | None, str, str, ShareFigure, ShareFigure]] = []
    too_few = 0
    for name, points in series:
        # A period without rows says nothing: the one before it is compared with the one behind it.
        known = [(start.isoformat(), point) for start, point in zip(starts, points, strict=True) if point.of]
        for (before, first), (after, second) in pairwise(known):
            if is_comparable(first, second):
                pairs.append((name, before, after, first, second))
            elif first.count or second.count:
                too_few += 1
    chances = adjusted([two_shares(first, second) for *_, first, second in pairs])
    found: list[DriftChange] = []
    for (name, before, after, first, second), chance in zip(pairs, chances, strict=True):
        change, low, high = difference(first, second)
        larger = max(first.share or 0.0, second.share or 0.0)
        if chance < _LEVEL and abs(change) >= _LEAST_CHANGE * larger:
            found.append(
                DriftChange(
                    name=name,
                    before=before,
                    after=after,
                    share_before=first,
                    share_after=second,
                    difference=round(change, 6),
                    low=round(low, 6),
                    high=round(high, 6),
                    p=float(f"{chance:.3g}"),
                )
            )
    return sorted(found, key=lambda each: (-abs(each.difference), each.after, each.name or "")), len(pairs), too_few
