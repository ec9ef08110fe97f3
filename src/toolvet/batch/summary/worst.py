"""`WorstExamples`: the worst rows of each signal, no two with the same words."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from toolvet.assess.report import RowExample
from toolvet.batch.arrow import Array, RecordBatch, compute, pa
from toolvet.batch.plan import FILE, ID, ROW
from toolvet.batch.summary.marks import FoundMarks, Numbers
from toolvet.batch.summary.tallies import keep_smallest
from toolvet.core.redact import redact_text
from toolvet.core.visible import shorten

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
