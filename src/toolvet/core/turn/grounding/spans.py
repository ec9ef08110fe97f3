"""Days that follow from other days: a span of time later or earlier, the end of a month, a day of the week.

    evidence   delivered 2026-11-01, "returns within 30 days"
    answer     You can return it until December 1.
    spans      {(30, days)}
    steps      December 1 minus 30 days is November 1, which the evidence has: the day follows.

The words are in `spans.toml`.
"""

import itertools
import re
from collections.abc import Collection, Iterator
from functools import cache

import msgspec

from toolvet.core.discover.toml import read_toml
from toolvet.core.turn.grounding.dates import Date, civil, days_since_epoch
from toolvet.core.turn.grounding.frames import MentionFrame

_MOST_SPANS = 60
_LONGEST_READ = 200_000
_SPAN = re.compile(r"(?<![\w.,])(\d{1,4}|[^\W\d_]{1,9})(?=[ -](?:(business|working) )?([^\W\d_]{2,9})(?![^\W\d_]))")
_KEY = re.compile(r'"\w{0,40}?(day|week|month|year)s?\w{0,20}"\s{0,3}:\s{0,3}"?(\d{1,4})(?![\d.])')
_RELATIVE = re.compile(r"[^\W\d_]{4,11}")
_WEEKDAY_BEFORE = re.compile(r"([^\W\d_]{3,10})\.?,?(?: (?:is|was|would be|will be|falls on|on|the))? \(?\Z")
_WEEKDAY_AFTER = re.compile(r",? \(?([^\W\d_]{3,10})")
_NEAR = 14
_MOST_DAYS = 40_000
_MOST_DATES = 400
_MOST_COMPARED = 10_000
_AROUND = 60


class Span(msgspec.Struct, frozen=True):
    """A span of time: so many days and calendar months; `working` days leave out the weekends."""

    days: int = 0
    months: int = 0
    working: bool = False


class _Weekdays(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    names: list[list[str]]


class SpanWords(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `spans.toml`."""

    days: dict[str, int]
    months: dict[str, int]
    words: dict[str, int]
    relative: dict[str, int]
    recurring: dict[str, int]
    weekday: _Weekdays
    period: MentionFrame
    deadline: MentionFrame


@cache
def span_words() -> SpanWords:
    """The words for spans of time."""
    return read_toml("toolvet.core.turn.grounding", "spans.toml", SpanWords)


@cache
def period_words() -> re.Pattern[str]:
    """Words that give a reason for the first or last day of a month."""
    return re.compile(span_words().period.match, re.IGNORECASE)


@cache
def deadline_words() -> re.Pattern[str]:
    """Words by which a day is the end of a span that the results name."""
    return re.compile(span_words().deadline.match, re.IGNORECASE)


@cache
def _weekdays() -> dict[str, int]:
    return {name: place for place, names in enumerate(span_words().weekday.names) for name in names}


def spans_in(*texts: str) -> set[Span]:
    """The spans of time that texts mention, at most `_MOST_SPANS`: `30 days`, `two weeks`, `"term_months": 12`."""
    found: set[Span] = set()
    for text in texts:
        for span in _spans(text[:_LONGEST_READ].lower()):
            found.add(span)
            if len(found) >= _MOST_SPANS:
                return found
    return found


def _spans(text: str) -> Iterator[Span]:
    words = span_words()
    for match in _SPAN.finditer(text):
        count = int(match[1]) if match[1].isdigit() else words.words.get(match[1], 0)
        if count:
            unit = match[3]
            if unit in words.days:
                yield Span(days=count * words.days[unit], working=match[2] is not None)
            elif unit in words.months:
                yield Span(months=count * words.months[unit])
    for match in _KEY.finditer(text):
        unit, count = match[1], int(match[2])
        yield Span(days=count * words.days[unit]) if unit in words.days else Span(months=count * words.months[unit])
    for match in _RELATIVE.finditer(text):
        if match[0] in words.relative:
            yield Span(days=words.relative[match[0]])
        elif match[0] in words.recurring:
            yield Span(months=words.recurring[match[0]])


def follows_from(date: Date, dates: Collection[Date], days: Collection[tuple[int, int]], spans: set[Span]) -> bool:
    """Whether `date` lies one of `spans` before or after one of `dates` (`days` are the same without the year)."""
    year = date[0] or 2024
    for span in spans:
        for sign in (1, -1):
            for source in _moved((year, date[1], date[2]), span, sign):
                there = source in dates if date[0] else source[1:] in days
                if there or (0, *source[1:]) in dates:
                    return True
    return False


def lies_between(count: float, unit: str, shown: Collection[Date], dates: Collection[Date]) -> bool:
    """Whether `count` of `unit` lie between a day that the answer has and another, or between two of the results."""
    length = span_words().days.get(unit, 0)
    if not length or not 0 < count * length <= _MOST_DAYS:
        return False
    days = round(count * length)
    known = set(dates).union(shown)
    for date in [*shown, *itertools.islice(dates, _MOST_DATES)]:
        if date[0] and civil(days_since_epoch(date) + days) in known:
            return True
        if date[0] and civil(days_since_epoch(date) - days) in known:
            return True
    return False


def nearest_days(date: Date, dates: Collection[Date]) -> list[str]:
    """The five of `dates` that are closest to `date`, in order, as a reader knows them."""
    known = [each for each in itertools.islice(dates, _MOST_COMPARED) if each[0]]
    at = days_since_epoch(date if date[0] else (known[0][0] if known else 2024, date[1], date[2]))
    near = sorted(known, key=lambda each: (abs(days_since_epoch(each) - at), each))[:5]
    return [f"{year:04}-{month:02}-{day:02}" for year, month, day in sorted(near)]


def _moved(date: Date, span: Span, sign: int) -> Iterator[Date]:
    if span.months:
        months = date[0] * 12 + date[1] - 1 + sign * span.months
        year, month = months // 12, months % 12 + 1
        yield (year, month, date[2])
        if is_month_end(date):
            yield from ((year, month, day) for day in range(28, 32))
    elif span.working:
        yield civil(_working_days(days_since_epoch(date), span.days, sign))
    else:
        yield civil(days_since_epoch(date) + sign * span.days)


def _working_days(day: int, count: int, sign: int) -> int:
    left = min(count, 400)
    while left:
        day += sign
        left -= weekday(day) < 5
    return day


def weekday(days: int) -> int:
    """The day of the week of a day since 1970-01-01, Monday 0."""
    return (days + 3) % 7


def is_month_end(date: Date) -> bool:
    """Whether a date is the last day of its month."""
    return civil(days_since_epoch(date) + 1)[2] == 1


def ends_a_period(date: Date, text: str, start: int, end: int) -> bool:
    """Whether a day is the first or last of a month, and the words of `text` around it speak of a period."""
    if date[2] != 1 and not is_month_end((date[0] or 2024, date[1], date[2])):
        return False
    return period_words().search(text[max(0, start - _AROUND) : end + _AROUND]) is not None


def has_its_weekday(date: Date, text: str, start: int, end: int, dates: Collection[Date]) -> bool:
    """Whether the right day of the week is beside `date` in `text`, and a day of the evidence is not far off."""
    before = _WEEKDAY_BEFORE.search(text, max(0, start - 24), start)
    after = _WEEKDAY_AFTER.match(text, end)
    names = _weekdays()
    named = names.get(before[1].lower() if before else "", names.get(after[1].lower() if after else "", -1))
    if named < 0:
        return False
    years = {date[0]} if date[0] else {year for year, _, _ in dates if year}
    for year in sorted(years)[:_MOST_SPANS]:
        day = days_since_epoch((year, date[1], date[2]))
        if weekday(day) == named and any(civil(day + off) in dates for off in range(-_NEAR, _NEAR + 1)):
            return True
    return False
