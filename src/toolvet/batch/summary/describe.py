"""`summarise`: the files of an output → the document that reports show.

Each figure is a query on the view `verdicts`, which has a row for each row of the output.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import Final

import msgspec
from msgspec.structs import replace

from toolvet.assess.report import (
    BatchReport,
    BinCount,
    CalibrationBin,
    CalibrationCurve,
    CountedWord,
    DriftChange,
    DriftPeriod,
    DriftReport,
    DriftSeries,
    LabelledWord,
    LabelReport,
    NumberFigures,
    PeriodLength,
    RowExample,
    RowProblem,
    RowsKind,
    ShareFigure,
    SignalFigures,
    WordFigures,
)
from toolvet.batch.arrow import pa
from toolvet.batch.location import Location
from toolvet.batch.summary.columns import LAYOUTS, NumberColumn, SummaryLayout, layout_of
from toolvet.batch.summary.database import VerdictDatabase, verdict_database
from toolvet.batch.summary.statistics import adjusted, difference, is_comparable, share, two_shares
from toolvet.batch.verdict_file import VerdictFile, column_types
from toolvet.core.discover import read_toml
from toolvet.core.redact import redact_text
from toolvet.core.visible import shorten
from toolvet.errors import UsageError
from toolvet.server.review import kappa_of_counts
from toolvet.version import __version__


@dataclass(frozen=True, kw_only=True)
class SummaryOptions:
    """The columns that a report uses besides the verdicts.

    `time` is the column by which periods are made, `per` their length (None: what fits). `label` is a column of labels,
    of which `bad` and `good` are what says that a row is bad or good.
    """

    time: str | None = None
    per: PeriodLength | None = None
    label: str | None = None
    bad: tuple[str, ...] | None = None
    good: tuple[str, ...] | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that must be in the output."""
        return tuple(name for name in dict.fromkeys((self.time, self.label)) if name is not None)


def summarise(
    files: Sequence[Location], options: SummaryOptions, *, source: str, kind: str | None = None
) -> BatchReport:
    """Return the report of an output.

    Args:
        files: The files of the output, one behind the other.
        options: The columns to use besides the verdicts.
        source: The name of the output.
        kind: The kind of its rows. None: what its columns say.

    Raises:
        UsageError: A file is not an output of `toolvet batch`, cannot be read to its end, lacks a column, or holds
            other verdicts than the first one.
        OutputError: The folder for temporary files has no room.
    """
    asked = {name: flag for name, flag in ((options.time, "--time"), (options.label, "--label")) if name is not None}
    opened = [VerdictFile(each) for each in files]
    layout = LAYOUTS[same_kind(opened, kind)]
    for file in opened:
        file.require(asked)
    with verdict_database() as database:
        database.add("verdicts", opened, layout, time=options.time, label=options.label)
        for file in opened:
            file.require(asked, is_read=True)
        return _describe(database, layout, options, source)


def same_kind(files: Sequence[VerdictFile], given: str | None) -> RowsKind:
    """Return the kind of the rows of all files. Raises UsageError for several kinds, and for an unknown one."""
    # A file without rows may not say what it would hold.
    kinds: list[tuple[VerdictFile, RowsKind]] = [
        (each, layout_of(each.names, given, source=each.given).kind) for each in files if each.names
    ]
    if not kinds:
        return layout_of((), given, source=files[0].given).kind
    first, kind = kinds[0]
    for file, other in kinds:
        if other != kind:
            raise UsageError(f"{file.given} has verdicts on {other}, and {first.given} on {kind}")
    return kind


_MOST_SIGNALS: Final = 40
_MOST_WORDS: Final = 20
_MOST_SERIES: Final = 12
_BARS: Final = 20
_MICRO: Final = 1_000_000
_LONGEST_READ: Final = 20_000
_LONGEST_SHOWN: Final = 200
_LONGEST_ID: Final = 100

_TOTALS: Final = """
SELECT count(*), count(*) FILTER (NOT is_judged), count(*) FILTER (is_flagged) FROM verdicts
"""

_PROBLEMS: Final = """
SELECT row, file, problem FROM verdicts WHERE NOT is_judged
ORDER BY coalesce(file, ''), coalesce(row, 0), problem LIMIT 5
"""

# Shares are counted in millionths, so that a sum does not depend on the order of its rows.
_COUNTED: Final = """
CREATE OR REPLACE TEMP TABLE counted AS
SELECT {value} AS value, count(*) AS rows
FROM (SELECT {number} AS number FROM verdicts WHERE is_judged)
WHERE number >= 0
GROUP BY value
"""
_VALUE: Final = {
    "share": f"CAST(round_even(least(number, 1) * {_MICRO}, 0) AS BIGINT)",
    "size": "CAST(floor(number) AS BIGINT)",
}

_FIGURES: Final = """
SELECT
    sum(rows), min(value), max(value), sum(value * rows),
    min(value) FILTER (upto >= 0.5 * total), min(value) FILTER (upto >= 0.9 * total),
    min(value) FILTER (upto >= 0.99 * total)
FROM (SELECT *, sum(rows) OVER (ORDER BY value) AS upto, sum(rows) OVER () AS total FROM counted)
"""

# A size is in the bin of its power of two, and 0 in one of its own.
_BINS: Final = f"""
SELECT CASE $scale
    WHEN 'share' THEN least(value * {_BARS} // {_MICRO}, {_BARS - 1})
    ELSE CASE WHEN value = 0 THEN -1 ELSE CAST(floor(log2(value)) AS BIGINT) END
END AS bin, CAST(sum(rows) AS BIGINT) FROM counted GROUP BY bin ORDER BY bin
"""  # noqa: S608 - our own words

_WORDS: Final = """
SELECT left({column}, 100) AS word, count(*) AS rows, CAST(sum(count(*)) OVER () AS BIGINT) AS total
FROM verdicts WHERE is_judged AND {column} IS NOT NULL
GROUP BY word ORDER BY rows DESC, word LIMIT $most
"""

# `rank` orders marks by one number, so that DuckDB need not keep their texts: the lowest score first (none comes last),
# then the largest weight, the number of the row, and the place in it. `words` is the same for texts that are the same.
_MARKS: Final = f"""
CREATE VIEW marks AS
SELECT *, hash(lower(left(evidence, 300))) AS words,
    CAST(1e6 * least(2, coalesce(score, 2)) AS HUGEINT) * {10**27}
    + CAST(1e6 * (10 - greatest(-10, least(10, weight))) AS HUGEINT) * {10**19}
    + least({10**15}, coalesce(row, 0)) * 1000 + least(999, place) AS rank
FROM (
    SELECT file, row, id, score, day, unnest(marks, max_depth := 2)
    FROM (SELECT file, row, id, {{score}} AS score, day, marks FROM verdicts WHERE is_judged AND len(names) > 0)
)
"""  # noqa: S608 - our own words

# A row counts once for each name, however often it has it.
_FOUND: Final = """
CREATE TEMP TABLE found AS
SELECT name, day, count(*) FILTER (is_first) AS rows, count(*) AS found FROM marks GROUP BY ALL
"""

_SIGNALS: Final = """
SELECT name, CAST(sum(rows) AS BIGINT) AS total, CAST(sum(found) AS BIGINT), count(*) OVER ()
FROM found GROUP BY name ORDER BY total DESC, name LIMIT $most
"""

# The worst mark of each text, then the five worst of these.
_EXAMPLES: Final = """
WITH different AS (
    SELECT name, words, min(rank) AS rank
    FROM marks WHERE list_contains(CAST($names AS VARCHAR[]), name) GROUP BY name, words
),
worst AS (
    SELECT name, unnest(min_by({words: words, rank: rank}, {rank: rank, words: words}, 5), max_depth := 2)
    FROM different GROUP BY name
)
SELECT name, row, file, id, score, evidence, detail FROM marks JOIN worst USING (name, words, rank)
QUALIFY row_number() OVER (PARTITION BY name, words ORDER BY coalesce(file, ''), id, evidence, detail) = 1
ORDER BY name, rank, words
"""


def _describe(rows: VerdictDatabase, layout: SummaryLayout, options: SummaryOptions, source: str) -> BatchReport:
    ((count, problems, flagged),) = rows.run(_TOTALS)
    judged = count - problems
    rows.run(_MARKS.format(score=layout.score or "CAST(NULL AS DOUBLE)"))
    rows.run(_FOUND)
    signals = rows.run(_SIGNALS, most=_MOST_SIGNALS)
    names = [name for name, *_ in signals]
    examples: dict[str, list[RowExample]] = {name: [] for name in names}
    for name, *found in rows.run(_EXAMPLES, names=names):
        examples[name].append(_example(*found))
    return BatchReport(
        kind=layout.kind,
        source=source,
        rows=count,
        problems=problems,
        flag=layout.flag,
        flagged=share(flagged, judged),
        numbers=[number for each in layout.numbers if (number := _number(rows, layout, each)) is not None],
        words=[
            words for name, title in layout.words.items() if (words := _words(rows, name, title, judged)) is not None
        ],
        signals=[
            SignalFigures(name=name, rows=share(in_rows, judged), found=found, examples=examples[name])
            for name, in_rows, found, _ in signals
        ],
        other_signals=signals[0][-1] - len(signals) if signals else 0,
        first_problems=[
            RowProblem(row=row or None, file=file or None, problem=quoted(why))
            for row, file, why in rows.run(_PROBLEMS)
        ],
        drift=None if options.time is None else _drift(rows, names[:_MOST_SERIES], options),
        labels=None if options.label is None else _labels(rows, options, judged, layout.probabilities),
        toolvet_version=__version__,
    )


def _example(  # noqa: PLR0917 - a row of a table
    row: int | None, file: str | None, id_: str | None, score: float | None, evidence: str, detail: str
) -> RowExample:
    return RowExample(
        row=row,
        file=file or None,
        id=None if id_ is None else shorten(id_, _LONGEST_ID),
        score=None if score is None else round(score, 6),
        evidence=quoted(evidence),
        detail=quoted(detail),
    )


def quoted(text: str) -> str:
    """Return words without secrets, and short. Secrets are looked for before anything is cut."""
    return shorten(redact_text(text[:_LONGEST_READ]), _LONGEST_SHOWN)


def _number(rows: VerdictDatabase, layout: SummaryLayout, column: NumberColumn) -> NumberFigures | None:
    is_list = pa.types.is_nested(column_types(layout.kind, [column.name]).field(0).type)
    number = f"len({column.name})" if is_list else column.name
    rows.run(_COUNTED.format(number=number, value=_VALUE[column.scale]))
    ((count, least, most, total, median, p90, p99),) = rows.run(_FIGURES)
    if not count:
        return None
    one = _MICRO if column.scale == "share" else 1
    return NumberFigures(
        name=column.name,
        title=column.title,
        unit=column.unit,
        scale=column.scale,
        count=count,
        least=round(least / one, 6),
        most=round(most / one, 6),
        mean=round(total / one / count, 6),
        median=round(median / one, 6),
        p90=round(p90 / one, 6),
        p99=round(p99 / one, 6),
        bins=_bins(dict(rows.run(_BINS, scale=column.scale)), column.scale),
    )


def _bins(counts: Mapping[int, int], scale: str) -> list[BinCount]:
    if scale == "share":
        return [
            BinCount(low=round(place / _BARS, 6), high=round((place + 1) / _BARS, 6), count=counts.get(place, 0))
            for place in range(_BARS)
        ]
    return [
        BinCount(low=2.0**place if place >= 0 else 0.0, high=2.0 ** (place + 1), count=counts.get(place, 0))
        for place in range(min(counts), max(counts) + 1)
    ]


def _words(rows: VerdictDatabase, name: str, title: str, judged: int) -> WordFigures | None:
    found = rows.run(_WORDS.format(column=name), most=_MOST_WORDS)
    if not found:
        return None
    return WordFigures(
        name=name,
        title=title,
        words=[CountedWord(word=word, rows=share(count, judged)) for word, count, _ in found],
        others=found[0][-1] - sum(count for _, count, _ in found),
    )


_MOST_LABELS: Final = 20
_NAMED: Final = 5
_CURVE_BINS: Final = 10

# The labelled rows by what they have in common. Probabilities are summed in millionths, as above.
_LABELLED: Final = """
CREATE TEMP TABLE labelled AS
SELECT *, CASE
    WHEN list_contains(CAST($bad AS VARCHAR[]), plain) THEN 'bad'
    WHEN list_contains(CAST($good AS VARCHAR[]), plain) THEN 'good'
    ELSE $other
END AS meaning
FROM (
    SELECT label, replace(replace(lower(label), ' ', '_'), '-', '_') AS plain, verdict,
        count(*) AS rows, count(*) FILTER (is_flagged) AS flagged{binned}
    FROM (SELECT label, verdict, is_flagged{shares} FROM verdicts WHERE is_judged AND label IS NOT NULL)
    GROUP BY ALL
)
"""
# Of a null, `least` is the other number.
_SHARE: Final = """,
    CASE WHEN {0} IS NOT NULL THEN CAST(round_even(1e6 * greatest(0, least(1, {0})), 0) AS BIGINT) END AS {0}"""
_BINNED: Final = f""",
    CASE WHEN {{0}} IS NOT NULL THEN least({{0}} * {_CURVE_BINS} // {_MICRO}, {_CURVE_BINS - 1}) END AS {{0}}_bin,
    sum({{0}}) AS {{0}}_sum"""

_MEANINGS: Final = """
SELECT meaning, CAST(sum(rows) AS BIGINT), CAST(sum(flagged) AS BIGINT) FROM labelled GROUP BY meaning
"""

_LABELS: Final = """
SELECT label, meaning, CAST(sum(rows) AS BIGINT) AS total, CAST(sum(flagged) AS BIGINT)
FROM labelled GROUP BY ALL ORDER BY total DESC, label LIMIT $most
"""

_LABEL_VERDICTS: Final = """
SELECT verdict, CAST(sum(rows) AS BIGINT) AS total
FROM labelled WHERE label = $label GROUP BY verdict ORDER BY total DESC, verdict LIMIT $most
"""

_CURVE: Final = """
SELECT {0}_bin, CAST(sum(rows) AS BIGINT), coalesce(CAST(sum(rows) FILTER (meaning = 'good') AS BIGINT), 0),
    CAST(sum({0}_sum) AS BIGINT)
FROM labelled WHERE meaning <> 'unknown' AND {0}_bin IS NOT NULL GROUP BY {0}_bin ORDER BY {0}_bin
"""


class LabelWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which labels say that a row is bad, and which that it is good."""

    bad: tuple[str, ...]
    good: tuple[str, ...]


def _meanings(bad: Sequence[str] | None, good: Sequence[str] | None) -> dict[str, object]:
    """Given labels decide: if only bad or only good ones are given, the others are the opposite. Else words decide."""
    if bad is None and good is None:
        known = read_toml(__package__ or "", "label_words.toml", LabelWords)
        return {"bad": list(known.bad), "good": list(known.good), "other": "unknown"}
    other = "good" if good is None else "bad" if bad is None else "unknown"
    return {"bad": [*map(_plain, bad or ())], "good": [*map(_plain, good or ())], "other": other}


def _plain(word: str) -> str:
    return word.strip().lower().replace(" ", "_").replace("-", "_")


def _labels(rows: VerdictDatabase, options: SummaryOptions, judged: int, probabilities: Sequence[str]) -> LabelReport:
    shares, binned = ("".join(map(each.format, probabilities)) for each in (_SHARE, _BINNED))
    rows.run(_LABELLED.format(shares=shares, binned=binned), **_meanings(options.bad, options.good))
    counts = {meaning: (count, flagged) for meaning, count, flagged in rows.run(_MEANINGS)}
    words = rows.run(_LABELS, most=_MOST_LABELS)
    all_labelled = sum(count for count, _ in counts.values())
    labelled = all_labelled - counts.get("unknown", (0, 0))[0]
    report = LabelReport(
        column=options.label or "",
        labelled=labelled,
        unlabelled=judged - all_labelled,
        unknown=all_labelled - labelled,
        words=[
            LabelledWord(
                word=word,
                meaning=meaning,
                flagged=share(flagged, count),
                verdicts=dict(rows.run(_LABEL_VERDICTS, label=word, most=_MOST_LABELS)),
            )
            for word, meaning, count, flagged in words
        ],
        other_words=all_labelled - sum(count for _, _, count, _ in words),
        note=_note([word for word, *_ in words], counts.keys() - {"unknown"}, options),
    )
    if not labelled:
        return report
    curves = [(name, rows.run(_CURVE.format(name))) for name in probabilities]
    return _with_figures(report, counts, [_curve(name, bins) for name, bins in curves if bins])


def _note(words: Sequence[str], known: AbstractSet[str], options: SummaryOptions) -> str:
    if not words:
        return "no judged row has a label"
    named = ", ".join(repr(word) for word in words[:_NAMED]) + (", …" if len(words) > _NAMED else "")
    if not known:
        if options.bad is None and options.good is None:
            return f"none of the labels ({named}) says by itself what is bad: give --bad LABEL,… or --good LABEL,…"
        return f"no row has a label that was given as bad or good; the labels are {named}"
    if len(known) == 1:
        return f"all known labels say {min(known)}; precision and recall need both"
    return ""


def _with_figures(
    report: LabelReport, counts: Mapping[str, tuple[int, int]], calibration: list[CalibrationCurve]
) -> LabelReport:
    bad, found = counts.get("bad", (0, 0))
    good, alarms = counts.get("good", (0, 0))
    missed, passed = bad - found, good - alarms
    kappa = kappa_of_counts({("b", "b"): found, ("b", "g"): alarms, ("g", "b"): missed, ("g", "g"): passed})
    flags = 2 * found + alarms + missed
    return replace(
        report,
        flagged_bad=found,
        flagged_good=alarms,
        passed_bad=missed,
        passed_good=passed,
        precision=share(found, found + alarms),
        recall=share(found, bad),
        false_alarms=share(alarms, good),
        accuracy=share(found + passed, bad + good),
        f1=round(2 * found / flags, 6) if flags else None,
        kappa=None if kappa is None else round(kappa, 6),
        calibration=calibration,
    )


def _curve(name: str, bins: Sequence[tuple[int, int, int, int]]) -> CalibrationCurve:
    total = sum(rows for _, rows, _, _ in bins)
    error = sum(abs(said / _MICRO - good) for _, _, good, said in bins)
    return CalibrationCurve(
        column=name,
        rows=total,
        ece=round(error / total, 6),
        bins=[
            CalibrationBin(
                low=place / _CURVE_BINS,
                high=(place + 1) / _CURVE_BINS,
                said=round(said / _MICRO / rows, 6),
                good=share(good, rows),
            )
            for place, rows, good, said in bins
        ],
    )


_MOST_PERIODS: Final = 120
_LEVEL: Final = 0.05
_LEAST_CHANGE: Final = 0.1
"""Of millions of rows every ripple is more than chance: a change is reported from a tenth of the larger share on."""
_CORE: Final = 0.005  # Rows at each end that do not decide which periods are shown: clocks are wrong sometimes.


_DAYS: Final = """
SELECT day, count(*), count(*) FILTER (is_flagged) FROM verdicts WHERE is_judged GROUP BY day
"""

_DAY_SIGNALS: Final = """
SELECT name, day, rows FROM found WHERE day IS NOT NULL AND list_contains(CAST($names AS VARCHAR[]), name)
"""

_EPOCH: Final = date(1970, 1, 1)


def _drift(rows: VerdictDatabase, signals: Sequence[str], options: SummaryOptions) -> DriftReport:
    found = rows.run(_DAYS)
    days = {_EPOCH + timedelta(days=day): count for day, count, _ in found if day is not None}
    core = _core(days)
    per = options.per or _fitting_length(core)
    starts = _starts(days, core, per)
    of: Counter[date] = Counter()
    for day, count in days.items():
        of[_period_start(day, per)] += count
    having: Counter[tuple[str | None, date]] = Counter()
    for name, day, count in [
        *((None, day, flagged) for day, _, flagged in found if day is not None),
        *rows.run(_DAY_SIGNALS, names=[*signals]),
    ]:
        having[name, _period_start(_EPOCH + timedelta(days=day), per)] += count
    series = [(name, [share(having[name, start], of[start]) for start in starts]) for name in (None, *signals)]
    changes, compared, too_few = _changes(series, starts)
    return DriftReport(
        column=options.time or "",
        per=per,
        periods=[DriftPeriod(start=start.isoformat(), rows=of[start]) for start in starts],
        series=[DriftSeries(name=name, points=points) for name, points in series],
        changes=changes,
        compared=compared,
        too_few=too_few,
        without_time=sum(count for day, count, _ in found if day is None),
        outside=of.total() - sum(of[start] for start in starts),
    )


_MOST_DAYS: Final = 45
_MOST_WEEKS: Final = 60


def _fitting_length(days: Sequence[date]) -> PeriodLength:
    span = (days[-1] - days[0]).days + 1 if days else 0
    return "day" if span <= _MOST_DAYS else "week" if span <= 7 * _MOST_WEEKS else "month"


def _period_start(day: date, per: PeriodLength) -> date:
    if per == "day":
        return day
    return day - timedelta(days=day.weekday()) if per == "week" else day.replace(day=1)


def _core(days: Mapping[date, int]) -> list[date]:
    left = _CORE * sum(days.values())

    def cut(order: Sequence[date]) -> set[date]:
        found: set[date] = set()
        seen = 0
        for day in order:
            seen += days[day]
            if seen > left:
                break
            found.add(day)
        return found

    known = sorted(days)
    outer = cut(known) | cut(known[::-1])
    return [day for day in known if day not in outer]


def _starts(days: Mapping[date, int], core: Sequence[date], per: PeriodLength) -> list[date]:
    if not days:
        return []
    found = _between(min(days), max(days), per)
    return found if len(found) <= _MOST_PERIODS else _between(core[0], core[-1], per)[-_MOST_PERIODS:]


def _between(first: date, last: date, per: PeriodLength) -> list[date]:
    # Each step ends in the next period, whatever its length.
    step = {"day": 1, "week": 7, "month": 31}[per]
    found = [_period_start(first, per)]
    end = _period_start(last, per)
    while found[-1] < end:
        found.append(_period_start(found[-1] + timedelta(days=step), per))
    return found


def _changes(
    series: Sequence[tuple[str | None, Sequence[ShareFigure]]], starts: Sequence[date]
) -> tuple[list[DriftChange], int, int]:
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
