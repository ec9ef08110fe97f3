"""Dates and times of day, in the ways that people and machines write them. Each is read in every way that it can be."""

import re
from collections.abc import Iterator
from functools import cache

import msgspec

from toolvet.discover.toml import read_toml

Date = tuple[int, int, int]
"""Year, month, day; year 0 where none is given."""

_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?![\d])")
_NUMERIC = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})\Z")
_COMPACT = re.compile(r"(?:19|20)\d{6}\Z")
_CJK = re.compile(r"(?:(\d{4}) ?[年년] ?)?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일号號]")
_CLOCK = re.compile(r"(?<![\d:.])(\d{1,2})[:.h](\d{2})(?::\d{2})?(?:\.\d+)?(?![\d])")
_WORD_BEFORE = re.compile(r"([^\W\d_]{3,12})\.?,?[ \u00a0]+(?:the )?\Z")
_WORD_AFTER = re.compile(r"(?:st|nd|rd|th|\.|º|er|ª|-)?,?[ \u00a0]+(?:of |de |d'|do )?([^\W\d_]{3,12})\.?")
_YEAR_AFTER = re.compile(r"(?:st|nd|rd|th|\.)?,?[ \u00a0]+(?:de |of |del )?((?:19|20)\d\d)(?!\d)")
_DAY_SECONDS = 86_400
_EPOCH = (946_684_800, 4_102_444_800)  # 2000-01-01 to 2100-01-01, in seconds.


class _Months(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    month: dict[int, list[str]]


@cache
def months() -> dict[str, int]:
    """Each name of a month, lower case, and its number."""
    read = read_toml("toolvet.turn.grounding", "months.toml", _Months)
    return {name: number for number, every in read.month.items() for name in every}


def numeric_date(token: str) -> tuple[Date, ...]:
    """The dates that a token of digits and separators can be: `2026-11-22`, `22.11.2026`, `11/22/26`."""
    found = _ISO.match(token)
    if found:
        return _valid((int(found[1]), int(found[2]), int(found[3])))
    found = _NUMERIC.match(token)
    if found:
        year = int(found[4]) + (2000 if len(found[4]) == 2 else 0)
        first, second = int(found[1]), int(found[3])
        return _valid((year, first, second)) + (_valid((year, second, first)) if first != second else ())
    if _COMPACT.match(token):
        return _valid((int(token[:4]), int(token[4:6]), int(token[6:])))
    return ()


def worded_date(text: str, start: int, end: int) -> tuple[Date, int, int] | None:
    """The date of which the day is the number at `start`: (date, its start, its end), or None."""
    day = int(text[start:end])
    if not 1 <= day <= 31:
        return None
    before = _WORD_BEFORE.search(text, max(0, start - 20), start)
    month = months().get(before[1].lower()) if before else None
    if month is not None and before is not None:
        year = _YEAR_AFTER.match(text, end)
        return (int(year[1]) if year else 0, month, day), before.start(), year.end() if year else end
    after = _WORD_AFTER.match(text, end)
    month = months().get(after[1].lower()) if after else None
    if month is not None and after is not None:
        year = _YEAR_AFTER.match(text, after.end())
        return (int(year[1]) if year else 0, month, day), start, year.end() if year else after.end()
    return None


def cjk_dates(text: str) -> Iterator[tuple[Date, int, int]]:
    """`2026年11月22日`, `11월 22일`."""
    for found in _CJK.finditer(text):
        for date in _valid((int(found[1] or 0), int(found[2]), int(found[3]))):
            yield date, found.start(), found.end()


def dates_in(text: str) -> set[Date]:
    """Every date in a text, in every reading."""
    found: set[Date] = set()
    for token in _CANDIDATE.finditer(text):
        word = token[0]
        if len(word) > 2:
            found.update(numeric_date(word))
            if word.isdigit() and len(word) in (10, 13):
                found.update(epoch_dates(int(word[:10])))
        elif (worded := worded_date(text, token.start(), token.end())) is not None:
            found.add(worded[0])
    found.update(date for date, _, _ in cjk_dates(text))
    return found


_CANDIDATE = re.compile(
    r"(?<![\w.])\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|(?<![\w.])\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|(?<!\d)\d{1,13}(?!\d)"
)


def epoch_dates(seconds: int) -> Iterator[Date]:
    """The days that a Unix time can be, wherever the reader lives."""
    if not _EPOCH[0] <= seconds <= _EPOCH[1]:
        return
    for offset in (-_DAY_SECONDS // 2, 0, _DAY_SECONDS // 2):
        yield _civil((seconds + offset) // _DAY_SECONDS)


def neighbours(date: Date) -> tuple[Date, ...]:
    """The day before and the day after, for times of another zone."""
    if not date[0]:
        return ()
    days = _days(date)
    return _civil(days - 1), _civil(days + 1)


def days_between(left: Date, right: Date) -> int:
    """How many days lie between two dates that have a year."""
    return abs(_days(left) - _days(right))


def times_in(text: str) -> set[int]:
    """Every time of day in a text that is written with minutes, as minutes since midnight."""
    return {
        int(found[1]) * 60 + int(found[2])
        for found in _CLOCK.finditer(text)
        if int(found[1]) < 25 and int(found[2]) < 60
    }


def _valid(date: Date) -> tuple[Date, ...]:
    year, month, day = date
    return (date,) if 1 <= month <= 12 and 1 <= day <= 31 and (year == 0 or 1000 <= year <= 2999) else ()


def _days(date: Date) -> int:
    """Days since 1970-01-01 in the Gregorian calendar; `datetime` would refuse February 30."""
    year, month, day = date
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def _civil(days: int) -> Date:
    days += 719_468
    era, of_era = divmod(days, 146_097)
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month += 3 if month < 10 else -9
    return year + era * 400 + (month <= 2), month, day
