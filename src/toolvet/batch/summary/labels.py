"""`LabelTally`: labels beside verdicts → counts for each label, and `meanings`: which labels say good or bad."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from toolvet.batch.arrow import Array, RecordBatch, compute, pa
from toolvet.batch.summary.tallies import coded, keep_smallest, micros
from toolvet.core.discover import read_toml

BINS: Final = 10


class LabelCounts:
    """The rows of one label: how many, how many of them flagged, their verdicts, and their probabilities in bins."""

    __slots__ = ("flagged", "rows", "said", "sums", "verdicts")

    def __init__(self, columns: int) -> None:
        self.rows = self.flagged = 0
        self.verdicts: dict[str, int] = {}
        # For each column of probabilities: how many rows a bin has, and what their probabilities come to.
        self.said: NDArray[Any] = np.zeros((columns, BINS), np.int64)
        self.sums: NDArray[Any] = np.zeros((columns, BINS), np.int64)

    def add_verdicts(self, counts: Iterable[tuple[str, int]]) -> None:
        """Add how often each verdict was given."""
        for word, count in counts:
            if count:
                self.verdicts[word] = self.verdicts.get(word, 0) + count
        self.verdicts = keep_smallest(self.verdicts)

    def merge(self, other: "LabelCounts") -> None:
        """Add the counts of other rows with the same label."""
        self.rows += other.rows
        self.flagged += other.flagged
        self.add_verdicts(other.verdicts.items())
        self.said = self.said + other.said
        self.sums = self.sums + other.sums


class LabelTally:
    """What is known of each label. `probabilities` are the columns that say how probable it is that a row is good."""

    def __init__(self, probabilities: Sequence[str]) -> None:
        self.probabilities = probabilities
        self.words: dict[str, LabelCounts] = {}
        self.labelled = self.unlabelled = 0

    def add(self, labels: Array, verdicts: Array, flags: NDArray[Any], batch: RecordBatch) -> None:
        """Add some rows; `verdicts` are words."""
        trimmed = compute.utf8_trim_whitespace(_as_words(labels))
        codes, words = coded(compute.if_else(compute.equal(trimmed, ""), None, trimmed))
        is_labelled = codes >= 0
        self.labelled += int(is_labelled.sum())
        self.unlabelled += int((~is_labelled).sum())
        given, kinds = coded(verdicts)
        counts = np.bincount(codes[is_labelled], minlength=len(words))
        flagged = np.bincount(codes[is_labelled & flags], minlength=len(words))
        both = is_labelled & (given >= 0)
        table = np.bincount(codes[both] * len(kinds) + given[both], minlength=len(words) * len(kinds))
        rows: list[list[int]] = table.reshape(len(words), len(kinds)).tolist() if len(kinds) else [[]] * len(words)
        for place, word in enumerate(words):
            own = self.words.setdefault(word, LabelCounts(len(self.probabilities)))
            own.rows += int(counts[place])
            own.flagged += int(flagged[place])
            own.add_verdicts(zip(kinds, rows[place], strict=True))
        for column, name in enumerate(self.probabilities):
            if name in batch.schema.names:
                self._add_said(column, batch.column(name), codes, words)
        self.words = keep_smallest(self.words)

    def merge(self, other: "LabelTally") -> None:
        """Add what is known of other rows."""
        self.labelled += other.labelled
        self.unlabelled += other.unlabelled
        for word, counts in other.words.items():
            self.words.setdefault(word, LabelCounts(len(self.probabilities))).merge(counts)
        self.words = keep_smallest(self.words)

    def _add_said(self, column: int, said: Array, codes: NDArray[Any], words: Sequence[str]) -> None:
        numbers = np.asarray(compute.fill_null(said.cast(pa.float64()), np.nan))
        known = np.isfinite(numbers) & (codes >= 0)
        micro = micros(numbers[known])
        places = codes[known] * BINS + np.minimum(micro * BINS // 1_000_000, BINS - 1)
        rows = np.bincount(places, minlength=len(words) * BINS).reshape(-1, BINS)
        # Sums of doubles are exact up to 2**53, which are nine billion rows of millionths in one batch.
        sums = np.bincount(places, weights=micro, minlength=len(words) * BINS).reshape(-1, BINS).astype(np.int64)
        for place, word in enumerate(words):
            own = self.words[word]
            own.said[column] += rows[place]
            own.sums[column] += sums[place]


def _as_words(labels: Array) -> Array:
    """Labels as texts: numbers and truth values as JSON writes them; of what is nested nothing."""
    if pa.types.is_dictionary(labels.type):
        return _as_words(labels.dictionary_decode())
    try:
        return labels.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.nulls(len(labels), pa.string())


class LabelWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which labels say that a row is bad, and which that it is good."""

    bad: tuple[str, ...]
    good: tuple[str, ...]


def meanings(words: Iterable[str], bad: Sequence[str] | None, good: Sequence[str] | None) -> dict[str, bool | None]:
    """Return for each label whether it says that a row is bad; None where that is not known.

    Labels that are given as `bad` or `good` decide: where one of the two is given alone, all others are the opposite.
    Without any, it is the words of `label_words.toml`, whatever their case.
    """
    if bad is None and good is None:
        known = read_toml(__package__ or "", "label_words.toml", LabelWords)
        return {word: _meaning(_plain(word), known.bad, known.good) for word in words}
    wanted, fine = ([_plain(word) for word in given or ()] for given in (bad, good))
    found: dict[str, bool | None] = {}
    for word in words:
        meaning = _meaning(_plain(word), wanted, fine)
        if meaning is None and (bad is None or good is None):
            meaning = bad is None
        found[word] = meaning
    return found


def _plain(word: str) -> str:
    return word.strip().casefold().replace(" ", "_").replace("-", "_")


def _meaning(word: str, bad: Sequence[str], good: Sequence[str]) -> bool | None:
    return True if word in bad else False if word in good else None
