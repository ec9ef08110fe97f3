"""`BatchSummary`: one record batch of an output after the other → all that the report needs."""

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from toolvet.assess.report import RowExample, RowProblem
from toolvet.batch.arrow import Array, RecordBatch, compute, pa
from toolvet.batch.kernel.columns import PROBLEM
from toolvet.batch.plan import FILE, ID, ROW
from toolvet.batch.summary.columns import LAYOUTS, FoundMarks, SummaryLayout, marks_of
from toolvet.batch.summary.tallies import (
    NO_DAY,
    LabelTally,
    Numbers,
    ShareTally,
    SizeTally,
    WordTally,
    coded,
    days_of,
    keep_smallest,
    merged,
    numbers_of,
)
from toolvet.core.redact import redact_text
from toolvet.core.visible import shorten

NOT_JUDGED: Final = "not judged"
_PROBLEMS_SHOWN: Final = 5
_NO_SCORE: Final = 2.0  # Behind every score.


class DayCounts:
    """The judged rows of one day: how many, how many of them flagged, and in how many each signal was found."""

    __slots__ = ("flagged", "marks", "rows")

    def __init__(self, rows: int = 0, flagged: int = 0) -> None:
        self.rows = rows
        self.flagged = flagged
        self.marks: dict[str, int] = {}

    def add_marks(self, counts: Iterator[tuple[str, int]]) -> None:
        """Add in how many rows each signal was found."""
        for name, count in counts:
            self.marks[name] = self.marks.get(name, 0) + count
        self.marks = keep_smallest(self.marks)

    def merge(self, other: "DayCounts") -> None:
        """Add the counts of other rows of the same day."""
        self.rows += other.rows
        self.flagged += other.flagged
        self.add_marks(iter(other.marks.items()))


class BatchSummary:
    """What is known of an output.

    Args:
        kind: The kind of the rows.
        time: The column by which periods are made, None for none.
        label: The column of labels, None for none.

    `add` takes record batches of the output, in any order, and `merge` the summary of other rows: the result is the
    same however they were divided. It can be pickled.
    """

    def __init__(self, kind: str, *, time: str | None = None, label: str | None = None) -> None:
        self.kind = kind
        self.time = time
        self.label = label
        self.rows = self.problems = self.flagged = self.without_time = 0
        self.numbers: dict[str, ShareTally | SizeTally] = {
            each.name: (ShareTally() if each.scale == "share" else SizeTally()) for each in self.layout.numbers
        }
        self.words = {name: WordTally() for name in self.layout.words}
        self.marked_rows: dict[str, int] = {}
        self.marks: dict[str, int] = {}
        self.worst = WorstExamples()
        self.days: dict[int, DayCounts] = {}
        self.labels = LabelTally(self.layout.probabilities)
        self.problem_rows: list[tuple[str, int, str]] = []

    @property
    def layout(self) -> SummaryLayout:
        """What is read of such an output."""
        return LAYOUTS[self.kind]

    def columns(self, there: Sequence[str], *, are_all: bool = True) -> dict[str, Sequence[str]]:
        """Return the columns that are read, of those that are there, with their members (none: the whole column).

        `are_all` False says that there may be further ones.
        """
        found = self.layout.columns(there if are_all else None)
        return found | {name: () for name in (self.time, self.label) if name is not None}

    def add(self, batch: RecordBatch) -> None:
        """Add some rows."""
        self.rows += batch.num_rows
        batch = self._judged(batch)
        names = batch.schema.names
        for name, tally in self.numbers.items():
            if name in names:
                tally.add(numbers_of(batch.column(name)))
        for name, words in self.words.items():
            if name in names:
                words.add(batch.column(name).cast(pa.string()))
        flag = self.layout.subject.flag
        verdicts = batch.column(flag) if flag in names else pa.nulls(batch.num_rows)
        flags = flagged_rows(self.layout, verdicts)
        self.flagged += int(flags.sum())
        marks = marks_of(self.kind, batch)
        codes, found = coded(marks.names)
        days = self._add_days(batch, flags)
        self._add_marks(marks.rows, codes, found, days)
        self.worst.add(batch, marks, codes, found, self._scores(batch))
        if self.label is not None:
            self.labels.add(batch.column(self.label), verdict_words(self.layout, verdicts), flags, batch)

    def merge(self, other: "BatchSummary") -> None:
        """Add what a summary of other rows has."""
        self.rows += other.rows
        self.problems += other.problems
        self.flagged += other.flagged
        self.without_time += other.without_time
        merged(self.numbers, other.numbers.items())
        merged(self.words, other.words.items())
        for name, count in other.marks.items():
            self.marks[name] = self.marks.get(name, 0) + count
            self.marked_rows[name] = self.marked_rows.get(name, 0) + other.marked_rows[name]
        self._prune()
        self.worst.merge(other.worst)
        for day, counts in other.days.items():
            self.days.setdefault(day, DayCounts()).merge(counts)
        self.labels.merge(other.labels)
        self.problem_rows = sorted([*self.problem_rows, *other.problem_rows])[:_PROBLEMS_SHOWN]

    def first_problems(self) -> list[RowProblem]:
        """The first rows that could not be judged."""
        return [RowProblem(row=row or None, file=file or None, problem=why) for file, row, why in self.problem_rows]

    def _judged(self, batch: RecordBatch) -> RecordBatch:
        """The rows that were judged; the others are counted."""
        if PROBLEM not in batch.schema.names:
            return batch
        column = batch.column(PROBLEM)
        if column.null_count == len(column):
            return batch
        judged = compute.is_null(column)
        failed = batch.filter(compute.invert(judged))
        self.problems += failed.num_rows
        # Reports show few of them, and the first ones of a batch are the first ones of all of its rows.
        rows = _column(failed, ROW, 0)
        files = _column(failed, FILE, "")
        texts = failed.column(PROBLEM).cast(pa.string()).to_pylist()
        found = sorted(zip(files, rows, texts, strict=True))[:_PROBLEMS_SHOWN]
        self.problem_rows = sorted([*self.problem_rows, *((file, row, quoted(why)) for file, row, why in found)])
        self.problem_rows = self.problem_rows[:_PROBLEMS_SHOWN]
        return batch.filter(judged)

    def _scores(self, batch: RecordBatch) -> Numbers:
        """The score of each row; rows without one are behind all others, the flagged ones in front of the rest."""
        name = self.layout.score
        if name is None or name not in batch.schema.names:
            none: Numbers = np.full(int(batch.num_rows), _NO_SCORE)
            return none
        found: Numbers = np.asarray(compute.fill_null(batch.column(name).cast(pa.float64()), _NO_SCORE))
        return found

    def _add_days(self, batch: RecordBatch, flags: Numbers) -> Numbers | None:
        if self.time is None:
            return None
        days = days_of(batch.column(self.time))
        known, places, rows = np.unique(days, return_inverse=True, return_counts=True)
        flagged = np.bincount(places[flags], minlength=len(known))
        for place, day in enumerate(known.tolist()):
            if day == NO_DAY:
                self.without_time += int(rows[place])
                continue
            self.days.setdefault(day, DayCounts()).merge(DayCounts(int(rows[place]), int(flagged[place])))
        return days

    def _add_marks(self, rows: Numbers, codes: Numbers, names: Sequence[str], days: Numbers | None) -> None:
        if not len(codes):
            return
        # A row counts once for each name, however often it has it.
        pairs = np.unique(rows * len(names) + codes)
        marked, own = pairs // len(names), pairs % len(names)
        found = np.bincount(codes, minlength=len(names)).tolist()
        in_rows = np.bincount(own, minlength=len(names)).tolist()
        for name, count, row_count in zip(names, found, in_rows, strict=True):
            self.marks[name] = self.marks.get(name, 0) + count
            self.marked_rows[name] = self.marked_rows.get(name, 0) + row_count
        self._prune()
        if days is None:
            return
        known, places = np.unique(days[marked], return_inverse=True)
        counts = np.bincount(places * len(names) + own, minlength=len(known) * len(names)).reshape(-1, len(names))
        for day, line in zip(known.tolist(), counts.tolist(), strict=True):
            if day != NO_DAY:
                each = ((name, count) for name, count in zip(names, line, strict=True) if count)
                self.days[day].add_marks(each)

    def _prune(self) -> None:
        self.marks = keep_smallest(self.marks)
        self.marked_rows = {name: self.marked_rows[name] for name in self.marks}


def flagged_rows(layout: SummaryLayout, verdicts: Array) -> Numbers:
    """Return which rows are flagged, by their verdicts."""
    wanted = pa.array(list(layout.subject.flagged))
    if pa.types.is_null(verdicts.type):
        return np.zeros(len(verdicts), np.bool_)
    return np.asarray(compute.is_in(verdicts, value_set=wanted))


def verdict_words(layout: SummaryLayout, verdicts: Array) -> Array:
    """Return the verdicts in words: "to escalate" and "not to escalate", or the class."""
    if pa.types.is_boolean(verdicts.type):
        wanted = bool(layout.subject.flagged[0])
        yes = compute.equal(verdicts, pa.scalar(wanted))
        other = layout.flag.removeprefix("not ") if layout.flag.startswith("not ") else f"not {layout.flag}"
        words = compute.if_else(yes, layout.flag, other)
    else:
        words = verdicts.cast(pa.string())
    return compute.fill_null(words, NOT_JUDGED)


def _column(batch: RecordBatch, name: str, default: Any) -> list[Any]:
    if name not in batch.schema.names:
        return [default] * batch.num_rows
    kind = pa.int64() if isinstance(default, int) else pa.string()
    return [default if each is None else each for each in batch.column(name).cast(kind).to_pylist()]


_KEPT: Final = 5
_KEY_LETTERS: Final = 300
_LONGEST_READ: Final = 20_000
_LONGEST_SHOWN: Final = 200
_LONGEST_ID: Final = 100

# What orders rows, the worst first: score, weight, file, number.
_Order = tuple[float, float, str, int]


class WorstRow(NamedTuple):
    """A row that may be shown for a signal."""

    order: _Order
    words: str
    example: RowExample


class WorstExamples:
    """For each name, the five rows of the lowest score; of several with the same words the worst one.

    Which these are depends on the rows alone, not on how they were divided.
    """

    def __init__(self) -> None:
        self.kept: dict[str, list[WorstRow]] = {}

    def add(self, batch: RecordBatch, marks: FoundMarks, codes: Numbers, names: Sequence[str], scores: Numbers) -> None:
        """Add what was found in a batch; `codes` are the names of the marks as places in `names`."""
        if not len(codes):
            return
        words, _ = _coded(compute.utf8_lower(compute.utf8_slice_codeunits(marks.evidence, 0, _KEY_LETTERS)))
        places = _Places(batch)
        present: list[int] = np.unique(codes[codes >= 0]).tolist()
        for code in present:
            kept = self.kept.setdefault(names[code], [])
            own = np.flatnonzero(codes == code)
            if len(kept) == _KEPT:
                own = own[scores[marks.rows[own]] <= kept[-1].order[0]]
            rows = marks.rows[own]
            order = np.lexsort((places.rows[rows], places.files[rows], -marks.weights[own], scores[rows]))
            own = own[order]
            _, first = np.unique(words[own], return_index=True)
            for entry in own[np.sort(first)[:_KEPT]].tolist():
                row = int(marks.rows[entry])
                found = (float(scores[row]), -float(marks.weights[entry]), places.file(row), places.number(row))
                if len(kept) == _KEPT and found >= kept[-1].order:
                    break
                self._insert(names[code], _worst_row(found, marks, entry, batch, row))
                kept = self.kept[names[code]]
        self.kept = keep_smallest(self.kept)

    def merge(self, other: "WorstExamples") -> None:
        """Add what another one kept."""
        for name, rows in other.kept.items():
            self.kept.setdefault(name, [])
            for row in rows:
                self._insert(name, row)
        self.kept = keep_smallest(self.kept)

    def of(self, name: str) -> list[RowExample]:
        """The examples for a name, the worst first."""
        return [row.example for row in self.kept.get(name, [])]

    def _insert(self, name: str, row: WorstRow) -> None:
        best: dict[str, WorstRow] = {}
        for each in sorted([*self.kept[name], row], key=lambda each: each.order):
            best.setdefault(each.words, each)
        self.kept[name] = list(best.values())[:_KEPT]


class _Places:
    """Where the rows of a batch are in the input."""

    def __init__(self, batch: RecordBatch) -> None:
        names = batch.schema.names
        count: int = batch.num_rows
        numbers = batch.column(ROW) if ROW in names else None
        is_number = numbers is not None and pa.types.is_integer(numbers.type)
        self.rows: Numbers = np.asarray(compute.fill_null(numbers, 0)) if is_number else np.zeros(count, np.int64)
        codes, self._names = _coded(batch.column(FILE).cast(pa.string())) if FILE in names else (np.zeros(count), [""])
        # In the order of their names, so that the same rows are first whatever the order of the batches is.
        ranks = np.argsort(np.argsort(np.array(self._names, dtype=object)))
        self._codes = codes.astype(np.int64)
        self.files: Numbers = ranks[self._codes] if len(ranks) else self._codes

    def file(self, row: int) -> str:
        return self._names[int(self._codes[row])]

    def number(self, row: int) -> int:
        return int(self.rows[row])


def _coded(texts: Array) -> tuple[Numbers, list[str]]:
    encoded = compute.dictionary_encode(compute.fill_null(texts, ""))
    return np.asarray(encoded.indices).astype(np.int64), encoded.dictionary.to_pylist()


def _worst_row(order: _Order, marks: FoundMarks, entry: int, batch: RecordBatch, row: int) -> WorstRow:
    evidence = _text(marks.evidence[entry])
    names = batch.schema.names
    score = order[0]
    example = RowExample(
        row=order[3] if ROW in names else None,
        file=order[2] or None,
        id=shorten(_text(batch.column(ID)[row]), _LONGEST_ID) if ID in names else None,
        score=None if score > 1 else round(score, 6),
        evidence=quoted(evidence),
        detail=quoted(_text(marks.details[entry]).removeprefix(": ")),
    )
    return WorstRow(order, evidence[:_KEY_LETTERS].lower(), example)


def _text(scalar: Any) -> str:
    value: object = scalar.as_py()
    return "" if value is None else str(value)


def quoted(text: str) -> str:
    """Return words without secrets, and short. Secrets are looked for before anything is cut."""
    return shorten(redact_text(text[:_LONGEST_READ]), _LONGEST_SHOWN)
