"""`describe`: a summary → the document that reports show."""

from typing import Final

from toolvet.assess.report import (
    BatchReport,
    BinCount,
    CountedWord,
    NumberFigures,
    SignalFigures,
    WordFigures,
)
from toolvet.batch.summary.agreement import describe_labels
from toolvet.batch.summary.drift import describe_drift
from toolvet.batch.summary.fold import BatchSummary
from toolvet.batch.summary.layout import NumberColumn
from toolvet.batch.summary.options import SummaryOptions
from toolvet.batch.summary.statistics import share
from toolvet.batch.summary.tallies import MICRO, ShareTally, SizeTally, WordTally
from toolvet.version import __version__

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
