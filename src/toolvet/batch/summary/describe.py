"""`summarise`: the files of an output → the document that reports show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import Final

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
    RowsKind,
    ShareFigure,
    SignalFigures,
    WordFigures,
)
from toolvet.batch.location import Location
from toolvet.batch.summary.columns import NumberColumn, layout_of
from toolvet.batch.summary.fold import BatchSummary, DayCounts
from toolvet.batch.summary.statistics import adjusted, difference, is_comparable, share, two_shares
from toolvet.batch.summary.tallies import (
    BINS,
    MICRO,
    LabelCounts,
    LabelTally,
    ShareTally,
    SizeTally,
    WordTally,
    fitting_length,
    meanings,
    next_start,
    period_start,
)
from toolvet.batch.verdict_file import VerdictFile
from toolvet.errors import UsageError
from toolvet.server.review import kappa_of_counts
from toolvet.version import __version__


@dataclass(frozen=True, kw_only=True)
class SummaryOptions:
    """What a report looks at beside the verdicts.

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
        options: What is looked at beside the verdicts.
        source: The name of the output.
        kind: The kind of its rows. None: what its columns say.

    Raises:
        UsageError: A file is no output of `toolvet batch`, cannot be read to its end, lacks a column, or holds other
            verdicts than the first one.
    """
    asked = {name: flag for name, flag in ((options.time, "--time"), (options.label, "--label")) if name is not None}
    opened = [VerdictFile(each) for each in files]
    found = same_kind(opened, kind)
    summary = BatchSummary(found, time=options.time, label=options.label)
    for file in opened:
        file.require(asked)
        for batch in file.batches(summary.columns(file.names, are_all=not file.is_lines), found):
            summary.add(batch)
        file.require(asked, is_read=True)
    return describe(summary, options, source)


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
_BARS: Final = 20


def describe(summary: BatchSummary, options: SummaryOptions, source: str) -> BatchReport:
    """Return the report of all that a summary has seen; `source` is the name of the output."""
    judged = summary.rows - summary.problems
    signals = sorted(summary.marked_rows, key=lambda name: (-summary.marked_rows[name], name))
    return BatchReport(
        kind=summary.layout.kind,
        source=source,
        rows=summary.rows,
        problems=summary.problems,
        flag=summary.layout.flag,
        flagged=share(summary.flagged, judged),
        numbers=[
            found
            for column in summary.layout.numbers
            if (found := _number(column, summary.numbers[column.name])) is not None
        ],
        words=[
            _words(name, title, summary.words[name], judged)
            for name, title in summary.layout.words.items()
            if summary.words[name].total
        ],
        signals=[
            SignalFigures(
                name=name,
                rows=share(summary.marked_rows[name], judged),
                found=summary.marks[name],
                examples=summary.worst.of(name),
            )
            for name in signals[:_MOST_SIGNALS]
        ],
        other_signals=max(0, len(signals) - _MOST_SIGNALS),
        first_problems=summary.first_problems(),
        drift=None
        if summary.time is None
        else describe_drift(summary.days, signals, summary.time, options.per, summary.without_time),
        labels=None
        if summary.label is None
        else describe_labels(summary.labels, summary.label, options.bad, options.good),
        toolvet_version=__version__,
    )


def _number(column: NumberColumn, tally: ShareTally | SizeTally) -> NumberFigures | None:
    count = tally.count
    if not count:
        return None
    if isinstance(tally, ShareTally):
        one = MICRO
        width = 1 / _BARS
        bins = [
            BinCount(low=round(place * width, 6), high=round((place + 1) * width, 6), count=number)
            for place, number in enumerate(tally.coarse(_BARS))
        ]
    else:
        one = 1
        bins = [BinCount(low=low, high=high, count=number) for low, high, number in tally.octaves()]
    return NumberFigures(
        name=column.name,
        title=column.title,
        unit=column.unit,
        scale=column.scale,
        count=count,
        least=round(tally.least / one, 6),
        most=round(tally.most / one, 6),
        mean=round(tally.total / one / count, 6),
        median=tally.at(0.5),
        p90=tally.at(0.9),
        p99=tally.at(0.99),
        bins=bins,
    )


def _words(name: str, title: str, tally: WordTally, judged: int) -> WordFigures:
    words = sorted(tally.counts.items(), key=lambda each: (-each[1], each[0]))[:_MOST_WORDS]
    return WordFigures(
        name=name,
        title=title,
        words=[CountedWord(word=word, rows=share(count, judged)) for word, count in words],
        others=tally.total - sum(count for _, count in words),
    )


_MOST_LABELS: Final = 20
_NAMED: Final = 5


def describe_labels(
    tally: LabelTally, column: str, bad: Sequence[str] | None, good: Sequence[str] | None
) -> LabelReport:
    """Return how far verdicts and labels agree. `bad` and `good` are labels as of `meanings`."""
    means = meanings(tally.words, bad, good)
    words = sorted(tally.words.items(), key=lambda each: (-each[1].rows, each[0]))
    decided = {word: counts for word, counts in words if means[word] is not None}
    bads = [counts for word, counts in decided.items() if means[word]]
    goods = [counts for word, counts in decided.items() if not means[word]]
    labelled = sum(each.rows for each in decided.values())
    shown = words[:_MOST_LABELS]
    report = LabelReport(
        column=column,
        labelled=labelled,
        unlabelled=tally.unlabelled,
        unknown=tally.labelled - labelled,
        words=[_word(word, counts, means[word]) for word, counts in shown],
        other_words=tally.labelled - sum(counts.rows for _, counts in shown),
        note=_note(tally, [word for word, _ in words], means, bad, good),
    )
    if not labelled:
        return report
    return _with_figures(report, bads, goods, tally.probabilities)


def _word(word: str, counts: LabelCounts, meaning: bool | None) -> LabelledWord:  # noqa: FBT001 - None is the third
    verdicts = dict(sorted(counts.verdicts.items(), key=lambda each: (-each[1], each[0]))[:_MOST_LABELS])
    return LabelledWord(
        word=word,
        meaning="unknown" if meaning is None else "bad" if meaning else "good",
        flagged=share(counts.flagged, counts.rows),
        verdicts=verdicts,
    )


def _note(
    tally: LabelTally,
    words: Sequence[str],
    means: Mapping[str, bool | None],
    bad: Sequence[str] | None,
    good: Sequence[str] | None,
) -> str:
    if not tally.labelled:
        return "no judged row has a label"
    known = set(means.values()) - {None}
    named = ", ".join(repr(word) for word in words[:_NAMED]) + (", …" if len(words) > _NAMED else "")
    if not known:
        if bad is None and good is None:
            return f"none of the labels ({named}) says by itself what is bad: give --bad LABEL,… or --good LABEL,…"
        return f"no row has a label that was given as bad or good; the labels are {named}"
    if len(known) == 1:
        which = "bad" if True in known else "good"
        return f"all known labels say {which}; precision and recall need both"
    return ""


def _with_figures(
    report: LabelReport, bads: Sequence[LabelCounts], goods: Sequence[LabelCounts], probabilities: Sequence[str]
) -> LabelReport:
    found, alarms = sum(each.flagged for each in bads), sum(each.flagged for each in goods)
    bad, good = sum(each.rows for each in bads), sum(each.rows for each in goods)
    missed, passed = bad - found, good - alarms
    counts = {("b", "b"): found, ("b", "g"): alarms, ("g", "b"): missed, ("g", "g"): passed}
    kappa = kappa_of_counts(counts)
    flags = 2 * found + alarms + missed
    replaced = {
        "flagged_bad": found,
        "flagged_good": alarms,
        "passed_bad": missed,
        "passed_good": passed,
        "precision": share(found, found + alarms),
        "recall": share(found, bad),
        "false_alarms": share(alarms, good),
        "accuracy": share(found + passed, bad + good),
        "f1": round(2 * found / flags, 6) if flags else None,
        "kappa": None if kappa is None else round(kappa, 6),
        "calibration": [
            curve for place, name in enumerate(probabilities) if (curve := _curve(place, name, bads, goods)) is not None
        ],
    }
    return replace(report, **replaced)


def _curve(place: int, name: str, bads: Sequence[LabelCounts], goods: Sequence[LabelCounts]) -> CalibrationCurve | None:
    bins: list[CalibrationBin] = []
    error = 0.0
    total = 0
    for number in range(BINS):
        good = sum(int(each.said[place, number]) for each in goods)
        rows = good + sum(int(each.said[place, number]) for each in bads)
        if not rows:
            continue
        said = sum(int(each.sums[place, number]) for each in (*bads, *goods)) / MICRO / rows
        bins.append(
            CalibrationBin(low=number / BINS, high=(number + 1) / BINS, said=round(said, 6), good=share(good, rows))
        )
        error += rows * abs(said - good / rows)
        total += rows
    return CalibrationCurve(column=name, rows=total, ece=round(error / total, 6), bins=bins) if total else None


_MOST_PERIODS: Final = 120
_MOST_SERIES: Final = 12
_LEVEL: Final = 0.05
_LEAST_CHANGE: Final = 0.1
"""Of millions of rows every ripple is more than chance: a change is reported from a tenth of the larger share on."""
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
