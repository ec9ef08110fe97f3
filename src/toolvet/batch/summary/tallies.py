"""What a fold keeps of a column: sums whose size does not depend on the number of rows.

All sums are of whole numbers, so it does not matter in which order rows come or how they are divided. Where there may
be any number of words, those with the smallest hashes are kept: whether a word is among them does not depend on the
division either, and the counts of those that are kept are exact.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Any, Final, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from toolvet.assess.report import PeriodLength
from toolvet.batch.arrow import Array, RecordBatch, compute, pa
from toolvet.core.discover import read_toml

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


NO_DAY: Final = np.iinfo(np.int64).min
"""What a row has whose time is missing or cannot be read."""
_FIRST, _LAST = (np.datetime64(day, "D").astype(np.int64) for day in ("1970-01-01", "2199-12-31"))
_DAY_SECONDS: Final = 86_400
# Seconds since 1970 up to the year 2199 have at most ten digits; milliseconds, micro- and nanoseconds three more each.
_SECONDS_BELOW: Final = 1e10
_EPOCH: Final = date(1970, 1, 1)

MOST_DAYS: Final = 45
_MOST_WEEKS: Final = 60

Days = NDArray[np.int64]


def days_of(column: Array) -> Days:
    """Return the day of each row in UTC: of times, dates, texts that begin as ISO 8601 does, and seconds since 1970.

    A text is taken at its word: of "2026-03-01T23:30:00-05:00" it is the first of March.
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        return days_of(column.dictionary_decode())
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        found = column.cast(pa.timestamp("ms", getattr(kind, "tz", None)), safe=False).cast(pa.int64())
        return _within(np.asarray(compute.fill_null(found, NO_DAY)) // (1000 * _DAY_SECONDS))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _within(_since_epoch(np.asarray(compute.fill_null(column.cast(pa.float64(), safe=False), np.nan))))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _within(_from_texts(column.cast(pa.string())))
    return np.full(len(column), NO_DAY, np.int64)


def _since_epoch(seconds: NDArray[Any]) -> Days:
    for _ in range(3):
        seconds = np.where(np.abs(seconds) >= _SECONDS_BELOW, seconds / 1000, seconds)
    days = np.floor(seconds / _DAY_SECONDS)
    return np.where(np.isfinite(days), np.nan_to_num(days, posinf=0, neginf=0), NO_DAY).astype(np.int64)


def _from_texts(texts: Array) -> Days:
    """The days that texts begin with, each different text read once."""
    encoded = compute.dictionary_encode(compute.utf8_slice_codeunits(compute.utf8_ltrim_whitespace(texts), 0, 10))
    known = np.array([*map(_day, encoded.dictionary.to_pylist()), NO_DAY], np.int64)
    codes = np.asarray(compute.fill_null(encoded.indices, -1)).astype(np.int64)
    return known[codes]


def _day(text: str) -> int:
    try:
        return (date.fromisoformat(text) - _EPOCH).days
    except ValueError:
        pass
    try:
        seconds = float(text)
    except ValueError:
        return NO_DAY
    # Ten digits of seconds; more of them were cut off, as they would not change the day of milliseconds.
    return int(_since_epoch(np.array([seconds]))[0]) if text.isdecimal() and len(text) == len("1767225600") else NO_DAY


def _within(days: Days) -> Days:
    return np.where((days >= _FIRST) & (days <= _LAST), days, NO_DAY).astype(np.int64)


def fitting_length(days: Iterable[int]) -> PeriodLength:
    """Return the shortest period of which there are not too many to look at."""
    known = list(days)
    span = max(known) - min(known) + 1 if known else 0
    return "day" if span <= MOST_DAYS else "week" if span <= 7 * _MOST_WEEKS else "month"


def period_start(day: int, per: PeriodLength) -> date:
    """Return the first day of the period in which a day is.

    >>> period_start(20_000, "week").isoformat()
    '2024-09-30'
    """
    found = _EPOCH + timedelta(days=day)
    if per == "day":
        return found
    return found - timedelta(days=found.weekday()) if per == "week" else found.replace(day=1)


def next_start(start: date, per: PeriodLength) -> date:
    """Return the first day of the period behind the one that begins with `start`."""
    if per == "day":
        return start + timedelta(days=1)
    if per == "week":
        return start + timedelta(days=7)
    return (start + timedelta(days=32)).replace(day=1)
