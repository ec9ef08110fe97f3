"""Sums over many verdicts, read from the minutes and hours that were added up when the verdicts were written.

12:40 ──── 13:00 ════════ 17:00 ──── 17:25       minutes at the edges, whole hours between
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, cast

import msgspec
from sqlalchemy import ColumnElement, Connection, Table, and_, false, func, literal, or_, select

from toolvet.store.tables.rollups import DURATION_BOUNDS, DURATION_COLUMNS, ROLLUP_SIGNALS, ROLLUPS, SUMS, WIDTHS

GroupKey: TypeAlias = Literal["kind", "server", "tool", "model", "variant"]
"""What figures can be grouped by."""

_MINUTE: Final = 60
_HOUR: Final = 3600
_DAY: Final = 86_400
# Beyond this many points a chart shows nothing more.
_MOST_POINTS: Final = 200
_GROUPS: Final[tuple[GroupKey, ...]] = ("kind", "server", "tool", "model", "variant")


class FigureFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which verdicts are summed: those for which all members that are given hold.

    `since` and `until` are seconds since the epoch, rounded to whole minutes; None is the beginning, or the end.
    """

    since: float | None = None
    until: float | None = None
    kind: str | None = None
    server: str | None = None
    tool: str | None = None
    model: str | None = None
    variant: str | None = None


class VerdictFigures(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over verdicts. `durations` counts them by their duration, within `DURATION_BOUNDS` and above."""

    verdicts: int = 0
    failed: int = 0
    escalated: int = 0
    blocked: int = 0
    score_sum: float = 0.0
    score_count: int = 0
    duration_sum: float = 0.0
    duration_count: int = 0
    duration_max: float = 0.0
    durations: tuple[int, ...] = ()

    @property
    def failure_rate(self) -> float:
        """The share (0 to 1) that failed."""
        return self.failed / self.verdicts if self.verdicts else 0.0

    @property
    def escalation_rate(self) -> float:
        """The share (0 to 1) that a person should see."""
        return self.escalated / self.verdicts if self.verdicts else 0.0

    @property
    def average_score(self) -> float | None:
        """The mean score; None without scores."""
        return self.score_sum / self.score_count if self.score_count else None

    @property
    def average_duration(self) -> float | None:
        """The mean duration in seconds; None if none was measured."""
        return self.duration_sum / self.duration_count if self.duration_count else None

    def percentile(self, share: float) -> float | None:
        """Return the duration in seconds that this share (0 to 1) does not exceed, as far as the counts show it.

        That is the upper bound of its count, at most the longest duration; None if none was measured.

        >>> VerdictFigures(duration_count=2, duration_max=0.4, durations=(1, 0, 0, 0, 0, 0, 0, 1)).percentile(0.5)
        0.002
        """
        if not self.duration_count:
            return None
        wanted, seen = share * self.duration_count, 0
        for bound, count in zip(DURATION_BOUNDS, self.durations, strict=False):
            seen += count
            if seen >= wanted:
                return min(bound, self.duration_max)
        return self.duration_max


class GroupFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one group; members that it was not grouped by are empty."""

    kind: str = ""
    server: str = ""
    tool: str = ""
    model: str = ""
    variant: str = ""
    figures: VerdictFigures


class IssueCount(msgspec.Struct, frozen=True):
    """How many verdicts have a signal of this type."""

    type: str
    verdicts: int


class TrendPoint(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one stretch of time that begins at `at` and lasts `seconds`."""

    at: float
    seconds: int
    figures: VerdictFigures


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """What happened: all verdicts together, by kind, by tool (the most used first), and the most common issues."""

    total: VerdictFigures
    kinds: Mapping[str, VerdictFigures]
    tools: tuple[GroupFigures, ...]
    issues: tuple[IssueCount, ...]


def read_overview(connection: Connection, wanted: FigureFilter, *, most: int = 50) -> Overview:
    """Return the overview, with at most `most` tools and issues."""
    # One reading for all three.
    groups = read_groups(connection, wanted, ("kind", "server", "tool"))
    by_kind: dict[str, list[VerdictFigures]] = {}
    by_tool: dict[tuple[str, str], list[VerdictFigures]] = {}
    for group in groups:
        by_kind.setdefault(group.kind, []).append(group.figures)
        if group.tool:
            by_tool.setdefault((group.server, group.tool), []).append(group.figures)
    kinds = {kind: add_figures(parts) for kind, parts in by_kind.items()}
    tools = [
        GroupFigures(server=server, tool=tool, figures=add_figures(parts)) for (server, tool), parts in by_tool.items()
    ]
    tools.sort(key=lambda each: (-each.figures.verdicts, each.server, each.tool))
    return Overview(
        total=add_figures(kinds.values()),
        kinds=kinds,
        tools=tuple(tools[:most]),
        issues=read_issues(connection, wanted, most=most),
    )


def read_groups(
    connection: Connection, wanted: FigureFilter, by: Sequence[GroupKey], *, most: int | None = None
) -> list[GroupFigures]:
    """Return the figures of each group, the largest first."""
    keys = [ROLLUPS.c[name] for name in by]
    query = select(*keys, *_sums()).where(*_conditions(ROLLUPS, wanted)).group_by(*keys)
    query = query.order_by(func.sum(ROLLUPS.c.verdicts).desc(), *keys).limit(most)
    return [
        GroupFigures(**{name: str(row[name]) for name in by}, figures=_figures(cast("Mapping[str, Any]", row)))
        for row in connection.execute(query).mappings()
    ]


def read_issues(connection: Connection, wanted: FigureFilter, *, most: int = 50) -> tuple[IssueCount, ...]:
    """Return the most common types of signals, and how many verdicts have each."""
    total = func.sum(ROLLUP_SIGNALS.c.signals)
    query = select(ROLLUP_SIGNALS.c.type, total).where(*_conditions(ROLLUP_SIGNALS, wanted))
    query = query.group_by(ROLLUP_SIGNALS.c.type).order_by(total.desc(), ROLLUP_SIGNALS.c.type).limit(most)
    return tuple(IssueCount(str(type_), int(count)) for type_, count in connection.execute(query))


def read_trend(connection: Connection, wanted: FigureFilter, *, seconds: int | None = None) -> tuple[TrendPoint, ...]:
    """Return the figures over time; stretches without verdicts are left out.

    `seconds` is the length of a stretch: minutes, hours or days; None chooses one by the time between `since` and
    `until`, or the first and the last verdict.
    """
    step = seconds
    if step is None:
        since, until = wanted.since, wanted.until
        if since is None or until is None:
            query = select(func.min(ROLLUPS.c.bucket), func.max(ROLLUPS.c.bucket)).where(ROLLUPS.c.width == _HOUR)
            first, last = connection.execute(query).one()
            since = float(first or 0) if since is None else since
            until = float(last or 0) + _HOUR if until is None else until
        span = max(0.0, until - since)
        step = next((each for each in (_MINUTE, _HOUR, _DAY) if span / each <= _MOST_POINTS), 7 * _DAY)
    width = next(width for width in reversed(WIDTHS) if step % width == 0 or width == _MINUTE)
    step = max(width, step - step % width)
    bucket = (ROLLUPS.c.bucket - ROLLUPS.c.bucket % literal(step)).label("stretch")
    limits = [ROLLUPS.c.width == width]
    if wanted.since is not None:
        limits.append(ROLLUPS.c.bucket >= math.floor(wanted.since / width) * width)
    if wanted.until is not None:
        limits.append(ROLLUPS.c.bucket < wanted.until)
    query = select(bucket, *_sums()).where(*limits, *_equalities(ROLLUPS, wanted)).group_by(bucket).order_by(bucket)
    return tuple(
        TrendPoint(at=float(row["stretch"]), seconds=step, figures=_figures(cast("Mapping[str, Any]", row)))
        for row in connection.execute(query).mappings()
    )


def add_figures(parts: Iterable[VerdictFigures]) -> VerdictFigures:
    """Return the figures of several groups together.

    >>> add_figures([VerdictFigures(verdicts=2, failed=1), VerdictFigures(verdicts=2)]).failure_rate
    0.25
    """
    found = list(parts)
    names = [name for name in VerdictFigures.__struct_fields__ if name not in ("durations", "duration_max")]
    return VerdictFigures(
        **{name: sum(getattr(part, name) for part in found) for name in names},
        duration_max=max((part.duration_max for part in found), default=0.0),
        durations=tuple(map(sum, zip(*(part.durations for part in found if part.durations), strict=True))),
    )


def _sums() -> list[ColumnElement[Any]]:
    columns = [func.sum(ROLLUPS.c[name]).label(name) for name in SUMS]
    return [*columns, func.max(ROLLUPS.c.duration_max).label("duration_max")]


def _figures(row: Mapping[str, Any]) -> VerdictFigures:
    whole = [name for name in SUMS if name not in DURATION_COLUMNS and not name.endswith("_sum")]
    return VerdictFigures(
        **{name: int(row[name] or 0) for name in whole},
        score_sum=float(row["score_sum"] or 0),
        duration_sum=float(row["duration_sum"] or 0),
        duration_max=float(row["duration_max"] or 0),
        durations=tuple(int(row[name] or 0) for name in DURATION_COLUMNS),
    )


def _conditions(table: Table, wanted: FigureFilter) -> list[ColumnElement[bool]]:
    """Return the conditions that choose each verdict exactly once: whole days, then hours, minutes at the edges."""
    first = None if wanted.since is None else math.floor(wanted.since / _MINUTE) * _MINUTE
    end = None if wanted.until is None else math.ceil(wanted.until / _MINUTE) * _MINUTE
    parts: list[ColumnElement[bool]] = []
    for width, begin, stop in _spans(first, end, WIDTHS[::-1]):
        limits = [table.c.width == width]
        if begin is not None:
            limits.append(table.c.bucket >= begin)
        if stop is not None:
            limits.append(table.c.bucket < stop)
        parts.append(and_(*limits))
    return [or_(false(), *parts), *_equalities(table, wanted)]


def _spans(first: int | None, end: int | None, widths: Sequence[int]) -> Iterator[tuple[int, int | None, int | None]]:
    """Split a time into spans of whole buckets (their width, the first, the end), the widest in the middle.

    >>> list(_spans(7140, 14460, (3600, 60)))
    [(3600, 7200, 14400), (60, 7140, 7200), (60, 14400, 14460)]
    """
    width, *narrower = widths
    inner_first = None if first is None else -(-first // width) * width
    inner_end = None if end is None else end // width * width
    if inner_first is not None and inner_end is not None and inner_first >= inner_end:
        if narrower:
            yield from _spans(first, end, narrower)
        return
    yield width, inner_first, inner_end
    if narrower and first != inner_first:
        yield from _spans(first, inner_first, narrower)
    if narrower and end != inner_end:
        yield from _spans(inner_end, end, narrower)


def _equalities(table: Table, wanted: FigureFilter) -> list[ColumnElement[bool]]:
    given = {name: cast("str | None", getattr(wanted, name)) for name in _GROUPS}
    return [table.c[name] == value for name, value in given.items() if value is not None]
