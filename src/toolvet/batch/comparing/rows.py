"""`RowReader`'s counterpart for outputs: `VerdictRows` makes of record batches what is compared of each row."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from toolvet.batch.arrow import Array, RecordBatch, compute, pa
from toolvet.batch.kernel.columns import PROBLEM
from toolvet.batch.plan import FILE, ID, ROW
from toolvet.batch.summary.fold import NOT_JUDGED, flagged_rows, verdict_words
from toolvet.batch.summary.layout import SummaryLayout
from toolvet.batch.summary.marks import marks_of
from toolvet.batch.summary.tallies import coded
from toolvet.batch.verdict_file import VerdictFile

UNJUDGED: Final = 0
"""The number of that verdict."""
_LONGEST_ID: Final = 200

COMPARED: Final = pa.schema(
    [
        ("id", pa.string()),
        ("row", pa.int64()),
        ("verdict", pa.int32()),
        ("flagged", pa.bool_()),
        ("score", pa.float64()),
        ("signals", pa.uint64()),
    ]
)
"""What is kept of each row until it is compared. `verdict` and the bits of `signals` are places in `NameTable`s."""


class NameTable:
    """Names as numbers, in the order in which they were first seen. Names beyond `most` share the last number."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._places: dict[str, int] = {}

    def place(self, name: str) -> int:
        """Return the number of a name."""
        known = self._places.get(name)
        if known is not None:
            return known
        return (
            self._places.setdefault(name, len(self._places)) if len(self._places) < self._most - 1 else self._most - 1
        )

    def places(self, names: Sequence[str]) -> NDArray[Any]:
        """Return the numbers of names."""
        return np.array([self.place(name) for name in names], np.int64)

    @property
    def names(self) -> list[str]:
        """The names by number; the last one stands for all further ones."""
        return [*self._places, *([""] * (self._most - 1 - len(self._places))), "others"]


class VerdictRows:
    """Makes what is compared of the rows of an output. Both sides share the tables of names."""

    def __init__(self, layout: SummaryLayout, by: str, verdicts: NameTable, signals: NameTable) -> None:
        self._layout = layout
        self._by = by
        self._verdicts = verdicts
        # The first name has the first number.
        verdicts.place(NOT_JUDGED)
        self._signals = signals

    def batches(self, file: VerdictFile) -> Iterator[RecordBatch]:
        """Yield the rows of an output as record batches of `COMPARED`."""
        there = None if file.is_lines else file.names
        wanted = self._layout.columns(there)
        read: Mapping[str, Sequence[str]] = {
            name: members for name, members in wanted.items() if name in self._needed() or name in self._layout.marks
        }
        for batch in file.batches(read, self._layout.kind):
            yield self._compared(batch)

    def _needed(self) -> set[str]:
        score = {self._layout.score} if self._layout.score is not None else set[str]()
        return {ROW, FILE, ID, PROBLEM, self._layout.subject.flag, *score}

    def _compared(self, batch: RecordBatch) -> RecordBatch:
        names, count = batch.schema.names, batch.num_rows
        flag, score = self._layout.subject.flag, self._layout.score
        verdicts = batch.column(flag) if flag in names else pa.nulls(count, pa.string())
        judged = compute.is_null(batch.column(PROBLEM)) if PROBLEM in names else pa.array([True] * count)
        flagged = flagged_rows(self._layout, verdicts) & np.asarray(judged)
        words = compute.if_else(judged, verdict_words(self._layout, verdicts), NOT_JUDGED)
        codes, known = coded(words)
        scores = batch.column(score) if score in names else pa.nulls(count, pa.float64())
        rows = batch.column(ROW) if ROW in names else pa.nulls(count, pa.int64())
        return pa.RecordBatch.from_arrays(
            [
                self._keys(batch),
                rows.cast(pa.int64()),
                pa.array(self._verdicts.places(known)[codes].astype(np.int32)),
                pa.array(flagged),
                scores.cast(pa.float64()),
                pa.array(self._bits(batch)),
            ],
            schema=COMPARED,
        )

    def _keys(self, batch: RecordBatch) -> Array:
        if self._by == ID:
            return compute.utf8_slice_codeunits(batch.column(ID).cast(pa.string()), 0, _LONGEST_ID)
        rows = batch.column(ROW).cast(pa.string())
        if FILE not in batch.schema.names:
            return rows
        return compute.binary_join_element_wise(batch.column(FILE).cast(pa.string()), rows, ", row ")

    def _bits(self, batch: RecordBatch) -> NDArray[Any]:
        marks = marks_of(self._layout.kind, batch)
        codes, names = coded(marks.names)
        found = np.zeros(batch.num_rows, np.uint64)
        if len(codes):
            bits = np.left_shift(np.uint64(1), self._signals.places(names).astype(np.uint64))
            np.bitwise_or.at(found, marks.rows, bits[codes])
        return found
