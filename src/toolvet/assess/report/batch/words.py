"""The words and charts of a batch's figures, the same on the page and on the terminal.

Charts are SVG, made here and not by a script: bars, a line with its interval, a curve beside a diagonal. Colours are
classes of the style sheet. A chart is an image with a text that says what it shows; the page has the numbers as a table
beside it.
"""

import math
from collections.abc import Sequence
from typing import Final

from markupsafe import Markup, escape

from toolvet.assess.report.batch.document import (
    BinCount,
    CalibrationCurve,
    DriftChange,
    DriftReport,
    DriftSeries,
    NumberFigures,
    RowExample,
    ShareFigure,
)
from toolvet.assess.report.wording import NONE
from toolvet.core.visible import one_line

SMALL: Final = 30
"""A share of fewer rows is shown with a warning."""
_WIDTH: Final = 360
_HEIGHT: Final = 200
_LEFT: Final = 46
_RIGHT: Final = 350
_TOP: Final = 22
_BOTTOM: Final = 158
_THOUSANDS: Final = ((1e9, "G"), (1e6, "M"), (1e3, "K"))


def percent(share: float | None) -> str:
    """A share in per cent, with as many digits as say something.

    >>> [percent(each) for each in (0.1234, 0.0123, 0.00012, 0.0, 1.0, None)]
    ['12.3 %', '1.23 %', '0.012 %', '0 %', '100 %', '–']
    """  # noqa: RUF002 - a dash instead of a number
    if share is None:
        return NONE
    value = 100 * share
    if value in (0, 100):
        return f"{value:.0f} %"
    if value >= 99.95:
        return f"{value:.2f} %"
    return f"{value:.1f} %" if value >= 10 else f"{value:.2f} %" if value >= 1 else f"{value:.2g} %"


def interval(share: ShareFigure) -> str:
    """The interval of a share: `8.1 to 13.0 %`."""
    if share.low is None or share.high is None:
        return "of no rows"
    return f"{percent(share.low).removesuffix(' %')} to {percent(share.high)}"


def figure(share: ShareFigure) -> str:
    """A share with its interval and its rows: `10.3 % (8.1 to 13.0 %), 62 of 600`; of few rows `2 of 3`."""
    if not share.of:
        return "no rows"
    if share.of < SMALL:
        return f"{share.count:,} of {share.of:,}"
    return f"{percent(share.share)} ({interval(share)}), {share.count:,} of {share.of:,}"


def place(example: RowExample) -> str:
    """Where a row is: its file and number, and its id."""
    row = "" if example.row is None else f"row {example.row:,}"
    where = ", ".join(part for part in (one_line(example.file or ""), row) if part)
    return " · ".join(part for part in (where, one_line(example.id or "")) if part)


def points(value: float) -> str:
    """A difference of shares: `+4.2 points`."""
    return f"{100 * value:+.2g} points"


def chance(p: float | None) -> str:
    """A probability of chance: `p = 0.012`, `p < 0.0001`."""
    if p is None:
        return ""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}"


def size(value: float | None, scale: str) -> str:
    """A number of a distribution."""
    if value is None:
        return NONE
    return (
        f"{value:.2f}"
        if scale == "share"
        else f"{value:,.0f}"
        if value >= 100 or value == int(value)
        else f"{value:.1f}"
    )


def number_words(figures: NumberFigures) -> str:
    """A distribution in a line."""
    scale = figures.scale
    unit = f" {figures.unit}" if figures.unit else ""
    return (
        f"{size(figures.least, scale)} to {size(figures.most, scale)}{unit}, "
        f"median {size(figures.median, scale)}, "
        f"mean {size(figures.mean, scale)}, 90 % up to {size(figures.p90, scale)}, "
        f"99 % up to {size(figures.p99, scale)}"
    )


def bin_words(found: BinCount, scale: str) -> str:
    """The range of a bin."""
    if scale == "share":
        return f"{found.low:.2f} to {found.high:.2f}"
    if found.high - found.low <= 1:
        return f"{found.low:.0f}"
    return f"{found.low:,.0f} to {found.high - 1:,.0f}"


def number_chart(figures: NumberFigures) -> Markup:
    """The chart of a distribution."""
    counts = [each.count for each in figures.bins]
    if figures.scale == "share":
        ticks = [(tick / 4, f"{tick / 4:g}") for tick in range(5)]
    else:
        count = len(figures.bins)
        step = max(1, -(-count // 7))
        lows = [(at / count, figures.bins[at].low) for at in range(0, count, step)]
        # A power of two in few letters: `2K` for 2,048.
        ticks = [(at, compact(float(f"{low:.2g}")) if low >= 1000 else f"{low:.0f}") for at, low in lows]
    across = figures.unit or figures.title
    across = f"{across} (each bar doubles)" if figures.scale == "size" and len(figures.bins) > 1 else across
    says = f"{figures.title} of {figures.count:,} rows: {number_words(figures)}"
    return bar_chart(counts, ticks=ticks, across=across, up="rows", says=says)


def change_chart(bins: Sequence[BinCount]) -> Markup:
    """The chart of changes of the score."""
    ticks = [(tick / 4, f"{tick / 2 - 1:+g}" if tick != 2 else "0") for tick in range(5)]
    total = sum(each.count for each in bins)
    says = f"By how much {total:,} scores changed, from -1 to +1; rows with the same score are left out"
    return bar_chart(
        [each.count for each in bins], ticks=ticks, across="new score less old score", up="rows", says=says
    )


def series_title(series: DriftSeries, flag: str) -> str:
    """Return the title of a line over time."""
    return flag if series.name is None else series.name


def drift_chart(drift: DriftReport, series: DriftSeries, flag: str) -> Markup:
    """The chart of a share over time; periods whose change is more than chance stand out."""
    marked = {change.after for change in drift.changes if change.name == series.name}
    shares = [
        None if each.share is None or each.low is None or each.high is None else (each.low, each.share, each.high)
        for each in series.points
    ]
    starts = [period.start[:7] if drift.per == "month" else period.start for period in drift.periods]
    known = [each.share for each in series.points if each.share is not None]
    title = series_title(series, flag)
    says = f"{title}, share of rows per {drift.per}"
    if known:
        says += f": from {percent(min(known))} to {percent(max(known))}, last {percent(known[-1])}"
    return line_chart(
        shares,
        marked=frozenset(at for at, period in enumerate(drift.periods) if period.start in marked),
        ticks=spread_ticks(starts, 4),
        across="week that begins" if drift.per == "week" else drift.per,
        up="share of rows",
        says=says,
    )


def curve(found: CalibrationCurve) -> Markup:
    """The reliability curve of a column."""
    bins = [
        (each.said, each.good.low or 0.0, each.good.share or 0.0, each.good.high or 0.0, each.good.of)
        for each in found.bins
    ]
    summary = "; ".join(f"{each.said:.2f}: {percent(each.good.share)} of {each.good.of:,} good" for each in found.bins)
    return curve_chart(
        bins,
        across=f"{found.column}, mean of the bin",
        up="labelled good",
        says=f"{found.column} beside labels. {summary}",
    )


def change_words(change: DriftChange, flag: str) -> str:
    """A change over time in a sentence."""
    what = flag if change.name is None else change.name
    return (
        f"{what}: {percent(change.share_before.share)} of {change.share_before.of:,} ({change.before}) → "
        f"{percent(change.share_after.share)} of {change.share_after.of:,} ({change.after})"
    )


def drift_verdict(drift: DriftReport) -> str:
    """What can be said of changes over time, in a sentence."""
    counted = sum(1 for period in drift.periods if period.rows)
    if counted == 0:
        return "No judged row has a time that can be read."
    if counted == 1:
        return f"All rows are of one {drift.per}: there is nothing to compare."
    if not drift.compared:
        return f"Too few rows in each {drift.per} to tell a change from chance."
    what = f"{drift.compared:,} changes from one {drift.per} to the next were looked at"
    few = f"; {drift.too_few:,} others rest on too few rows" if drift.too_few else ""
    if not drift.changes:
        return f"No change is more than chance: {what}{few}."
    return f"{len(drift.changes):,} changes are more than chance: {what}{few}."


def bar_chart(counts: Sequence[int], *, ticks: Sequence[tuple[float, str]], across: str, up: str, says: str) -> Markup:
    """Bars of equal width. `ticks` are words below places from 0 (left) to 1 (right)."""
    most = max([*counts, 1])
    size = float(10 ** math.floor(math.log10(most)))
    # Above the largest, and easy to divide by four.
    tops = [factor * size for factor in (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10)]
    top = next((top for top in tops if top >= most and top % 1 == 0), float(most))
    width = (_RIGHT - _LEFT) / max(1, len(counts))
    gap = min(3.0, width / 6)
    parts = [
        _grid(
            [(place / 4, compact(top * place / 4)) for place in range(5)]
            if top >= 4
            else [(number / top, str(number)) for number in range(int(top) + 1)]
        )
    ]
    for place, count in enumerate(counts):
        if count:
            # A value above zero can be seen, however little it is.
            high = max(1.0, (_BOTTOM - _TOP) * count / top)
            left = _LEFT + place * width + gap / 2
            parts.append(
                Markup('<rect class="bar" x="{}" y="{}" width="{}" height="{}"/>').format(
                    _n(left), _n(_BOTTOM - high), _n(width - gap), _n(high)
                )
            )
    return _image([*parts, _ticks(ticks)], across, up, says)


def line_chart(
    points: Sequence[tuple[float, float, float] | None],
    *,
    marked: frozenset[int],
    ticks: Sequence[tuple[float, str]],
    across: str,
    up: str,
    says: str,
) -> Markup:
    """Shares, each as (low, share, high); None leaves a gap. `marked` are the places to emphasize."""
    most = max([high for point in points if point is not None for high in point] or [0.0])
    tops = (0.0004, 0.001, 0.002, 0.004, 0.01, 0.02, 0.04, 0.08, 0.12, 0.2, 0.4, 0.6, 0.8)
    top = next((top for top in tops if most <= top), 1.0)
    parts = [_grid([(place / 4, _percent(top * place / 4)) for place in range(5)])]
    step = (_RIGHT - _LEFT) / max(1, len(points))

    def x(place: int) -> str:
        return _n(_LEFT + (place + 0.5) * step)

    def y(value: float) -> str:
        return _n(_BOTTOM - (_BOTTOM - _TOP) * min(1.0, value / top))

    # The points that follow each other without a gap.
    runs: list[list[tuple[int, tuple[float, float, float]]]] = []
    for place, point in enumerate(points):
        if point is None:
            continue
        if runs and runs[-1][-1][0] == place - 1:
            runs[-1].append((place, point))
        else:
            runs.append([(place, point)])
    for run in runs:
        line = " ".join(f"{x(place)},{y(point[1])}" for place, point in run)
        if len(run) > 1:
            upper = " ".join(f"{x(place)},{y(point[2])}" for place, point in run)
            lower = " ".join(f"{x(place)},{y(point[0])}" for place, point in reversed(run))
            parts.append(Markup('<path class="band" d="M{} L{} Z"/>').format(upper, lower))
            parts.append(Markup('<path class="line" d="M{}"/>').format(line))
        else:
            place, point = run[0]
            parts.append(Markup('<path class="whisker" d="M{0},{1} V{2}"/>').format(x(place), y(point[0]), y(point[2])))
        for place, point in run:
            kind, radius = ("dot marked", 4) if place in marked else ("dot", 2.5 if len(points) <= 31 else 1.5)
            parts.append(
                Markup('<circle class="{}" cx="{}" cy="{}" r="{}"/>').format(kind, x(place), y(point[1]), radius)
            )
    return _image([*parts, _ticks(ticks)], across, up, says)


def curve_chart(points: Sequence[tuple[float, float, float, float, int]], *, across: str, up: str, says: str) -> Markup:
    """Claimed values beside true ones: (said, low, true, high, rows). On the diagonal the two are equal."""
    most = max([rows for *_, rows in points] or [1])

    def x(value: float) -> str:
        return _n(_LEFT + (_RIGHT - _LEFT) * value)

    def y(value: float) -> str:
        return _n(_BOTTOM - (_BOTTOM - _TOP) * value)

    parts = [
        _grid([(place / 4, _percent(place / 4)) for place in range(5)]),
        Markup('<path class="ideal" d="M{},{} L{},{}"/>').format(x(0), y(0), x(1), y(1)),
    ]
    if len(points) > 1:
        line = " ".join(f"{x(said)},{y(true)}" for said, _, true, _, _ in points)
        parts.append(Markup('<path class="line" d="M{}"/>').format(line))
    for said, low, true, high, rows in points:
        radius = _n(2 + 4 * math.sqrt(rows / most))
        parts.append(Markup('<path class="whisker" d="M{},{} V{}"/>').format(x(said), y(low), y(high)))
        parts.append(Markup('<circle class="dot" cx="{}" cy="{}" r="{}"/>').format(x(said), y(true), radius))
    ticks = [(place / 4, f"{place / 4:g}") for place in range(5)]
    return _image([*parts, _ticks(ticks)], across, up, says)


def compact(value: float) -> str:
    """A count in few letters.

    >>> [compact(each) for each in (0, 999, 1200, 4_000_000)]
    ['0', '999', '1.2K', '4M']
    """
    for size, letter in _THOUSANDS:
        if value >= size:
            return f"{value / size:.{3 if value < 100 * size else 4}g}{letter}"
    return f"{value:.3g}"


def spread_ticks(words: Sequence[str], most: int) -> list[tuple[float, str]]:
    """Words below the middles of as many places, some left out if there are more than `most`."""
    count = len(words)
    step = max(1, math.ceil(count / most))
    return [((place + 0.5) / count, words[place]) for place in range(0, count, step)]


def _image(parts: Sequence[Markup], across: str, up: str, says: str) -> Markup:
    return Markup(
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">{}'
        '<text class="axis" x="{}" y="{}" text-anchor="middle">{}</text>'
        '<text class="axis" x="2" y="8">{}</text></svg>'
    ).format(
        _WIDTH,
        _HEIGHT,
        one_line(says),
        Markup("").join(parts),
        _n((_LEFT + _RIGHT) / 2),
        _HEIGHT - 6,
        one_line(across),
        one_line(up),
    )


def _grid(lines: Sequence[tuple[float, str]]) -> Markup:
    found: list[Markup] = []
    for share, word in lines:
        y = _n(_BOTTOM - (_BOTTOM - _TOP) * share)
        kind = "base" if share == 0 else "rule"
        found.append(Markup('<path class="{}" d="M{},{} H{}"/>').format(kind, _LEFT, y, _RIGHT))
        found.append(
            Markup('<text class="tick" x="{}" y="{}" text-anchor="end">{}</text>').format(
                _LEFT - 5, _n(float(y) + 3.5), word
            )
        )
    return Markup("").join(found)


def _ticks(ticks: Sequence[tuple[float, str]]) -> Markup:
    found: list[Markup] = []
    for place, word in ticks:
        anchor = "start" if place < 0.001 else "end" if place > 0.999 else "middle"
        x = _LEFT + (_RIGHT - _LEFT) * place
        found.append(
            Markup('<text class="tick" x="{}" y="{}" text-anchor="{}">{}</text>').format(
                _n(x), _BOTTOM + 14, anchor, escape(one_line(word))
            )
        )
    return Markup("").join(found)


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def _n(value: float) -> str:
    return f"{value:.1f}"
