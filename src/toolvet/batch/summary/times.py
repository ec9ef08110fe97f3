"""`days_of`: a column of times in any form → days since 1970, and `Calendar`: days → periods."""

from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from toolvet.assess.report import PeriodLength
from toolvet.batch.arrow import Array, compute, pa

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
