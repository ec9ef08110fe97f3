"""What a fold keeps of a column: sums whose size does not depend on the number of rows.

All sums are of whole numbers, so it does not matter in which order rows come or how they are divided. Where there may
be any number of words, those with the smallest hashes are kept: whether a word is among them does not depend on the
division either, and the counts of those that are kept are exact.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from toolvet.batch.arrow import Array, compute, pa

MICRO: Final = 1_000_000
"""Shares are summed in millionths."""
MOST_WORDS: Final = 1000
_LONGEST_WORD: Final = 100
_SHARE_BINS: Final = 100
_PER_OCTAVE: Final = 32
_OCTAVES: Final = 48

_T = TypeVar("_T")
Numbers = NDArray[Any]


def keep_smallest(words: dict[str, _T], most: int = MOST_WORDS) -> dict[str, _T]:
    """Return the words with the smallest hashes, at most so many."""
    if len(words) <= most:
        return words
    chosen = sorted(words, key=lambda word: hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest())
    return {word: words[word] for word in chosen[:most]}


def coded(texts: Array) -> tuple[Numbers, list[str]]:
    """Return a column of texts as numbers (-1 for null), and the words that they stand for, shortened."""
    encoded = compute.dictionary_encode(compute.utf8_slice_codeunits(texts, 0, _LONGEST_WORD))
    codes = np.asarray(compute.fill_null(encoded.indices, -1)).astype(np.int64)
    return codes, encoded.dictionary.to_pylist()


class WordTally:
    """How often each word occurs."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.total = 0

    def add(self, texts: Array) -> None:
        """Add a column of texts; nulls do not count."""
        codes, words = coded(texts)
        counts = np.bincount(codes[codes >= 0], minlength=len(words)).tolist()
        self.add_counts(dict(zip(words, counts, strict=True)))

    def add_counts(self, counts: Mapping[str, int]) -> None:
        """Add words with their counts."""
        for word, count in counts.items():
            if count:
                self.counts[word] = self.counts.get(word, 0) + count
                self.total += count
        self.counts = keep_smallest(self.counts)

    def merge(self, other: "WordTally") -> None:
        """Add what another tally has."""
        total = self.total + other.total
        self.add_counts(other.counts)
        self.total = total


class ShareTally:
    """How numbers from 0 to 1 are distributed: a bin for each hundredth, and one for 1 itself."""

    def __init__(self) -> None:
        self.bins = np.zeros(_SHARE_BINS + 1, np.int64)
        self.total = 0
        self.least = self.most = -1

    def add(self, values: Numbers) -> None:
        """Add numbers."""
        if not len(values):
            return
        micro = micros(values)
        self.bins += np.bincount(micro // (MICRO // _SHARE_BINS), minlength=_SHARE_BINS + 1)
        self.total += int(micro.sum())
        self._range(int(micro.min()), int(micro.max()))

    def merge(self, other: "ShareTally") -> None:
        """Add what another tally has."""
        self.bins = self.bins + other.bins
        self.total += other.total
        if other.least >= 0:
            self._range(other.least, other.most)

    def _range(self, least: int, most: int) -> None:
        self.least = least if self.least < 0 else min(self.least, least)
        self.most = max(self.most, most)

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return int(self.bins.sum())

    def at(self, quantile: float) -> float:
        """The number below which this share of the numbers is, to the width of a bin."""
        return _place(self.bins, quantile) / _SHARE_BINS

    def coarse(self, bins: int) -> list[int]:
        """The counts in so many bins of equal width; 1 is in the last."""
        found = [int(part.sum()) for part in np.split(self.bins[:-1], bins)]
        found[-1] += int(self.bins[-1])
        return found


class SizeTally:
    """How sizes, which have no end, are distributed: bins that are 2.2 % wide."""

    def __init__(self) -> None:
        # The first bin has the zeros.
        self.bins = np.zeros(1 + _OCTAVES * _PER_OCTAVE, np.int64)
        self.total = 0
        self.least = self.most = -1

    def add(self, values: Numbers) -> None:
        """Add whole numbers, 0 or more."""
        if not len(values):
            return
        # Most columns hold few different sizes, or sizes below a thousand; the others cost a logarithm each.
        places = np.zeros(len(values), np.int64)
        some = values > 0
        places[some] = 1 + np.floor(np.log2(values[some]) * _PER_OCTAVE).astype(np.int64)
        self.bins += np.bincount(np.minimum(places, len(self.bins) - 1), minlength=len(self.bins))
        self.total += int(values.sum())
        least, most = int(values.min()), int(values.max())
        self.least = least if self.least < 0 else min(self.least, least)
        self.most = max(self.most, most)

    def merge(self, other: "SizeTally") -> None:
        """Add what another tally has."""
        self.bins = self.bins + other.bins
        self.total += other.total
        if other.least >= 0:
            self.least = other.least if self.least < 0 else min(self.least, other.least)
            self.most = max(self.most, other.most)

    @property
    def count(self) -> int:
        """How many numbers there are."""
        return int(self.bins.sum())

    def at(self, quantile: float) -> float:
        """The number below which this share of the numbers is, to the width of a bin."""
        place = _place(self.bins, quantile)
        if place == 0:
            return 0.0
        # What is in a bin is a whole number, and no more than the largest.
        return float(min(round(2 ** ((place - 0.5) / _PER_OCTAVE)), self.most))

    def octaves(self) -> list[tuple[float, float, int]]:
        """Bins of doubling width with their counts, from the first to the last that has any."""
        sums = self.bins[1:].reshape(_OCTAVES, _PER_OCTAVE).sum(axis=1)
        found = [(0.0, 1.0, int(self.bins[0]))] if self.bins[0] else []
        some = np.flatnonzero(sums)
        if len(some):
            first = int(some[0]) if not found else 0
            found += [(2.0**place, 2.0 ** (place + 1), int(sums[place])) for place in range(first, int(some[-1]) + 1)]
        return found


def _place(bins: Numbers, quantile: float) -> int:
    """The bin in which a quantile is."""
    sums = np.cumsum(bins)
    return int(np.searchsorted(sums, max(1, np.ceil(quantile * int(sums[-1])))))


def micros(values: Numbers) -> Numbers:
    """Return shares in millionths, within 0 to 1; what is no number is 0."""
    found: Numbers = np.rint(np.clip(np.nan_to_num(values), 0.0, 1.0) * MICRO).astype(np.int64)
    return found


def numbers_of(column: Array) -> Numbers:
    """Return a column of numbers, or the lengths of a column of lists, without nulls."""
    kind = column.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        column = compute.list_value_length(column)
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return np.zeros(0)
    found: Numbers = np.asarray(compute.drop_null(column))
    sound: Numbers = found[np.isfinite(found) & (found >= 0)]
    return sound


def merged(own: dict[str, Any], others: Iterable[tuple[str, Any]]) -> None:
    """Merge tallies by name into `own`."""
    for name, tally in others:
        own[name].merge(tally)
