"""The words and charts of a batch's figures, the same on the page and on the terminal."""

from collections.abc import Sequence
from typing import Final

from markupsafe import Markup

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
from toolvet.assess.report.page.charts import bar_chart, compact, curve_chart, line_chart, spread_ticks
from toolvet.assess.report.wording import NONE
from toolvet.core.visible import one_line

SMALL: Final = 30
"""A share of fewer rows is shown with a warning."""


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
    """A share with its interval and its rows: `10.3 % (8.1 to 13.0 %), 62 of 600`."""
    if not share.of:
        return "no rows"
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
    about = "about " if scale == "size" else ""
    return (
        f"{size(figures.least, scale)} to {size(figures.most, scale)}{unit}, "
        f"median {about}{size(figures.median, scale)}, "
        f"mean {size(figures.mean, scale)}, 90 % up to {about}{size(figures.p90, scale)}, "
        f"99 % up to {about}{size(figures.p99, scale)}"
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
        ticks = [(at / count, _rounded(figures.bins[at].low)) for at in range(0, count, step)]
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
    """What a line over time shows."""
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
    told = "; ".join(f"{each.said:.2f}: {percent(each.good.share)} of {each.good.of:,} good" for each in found.bins)
    return curve_chart(
        bins,
        across=f"{found.column}, mean of the bin",
        up="labelled good",
        says=f"{found.column} beside labels. {told}",
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


def _rounded(value: float) -> str:
    """A power of two in few letters: `2K` for 2,048."""
    return compact(float(f"{value:.2g}")) if value >= 1000 else f"{value:.0f}"
