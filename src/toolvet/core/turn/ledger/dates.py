"""Dates and times of day, in the ways that people and machines write them. Each is read in every way that it can be."""

import itertools
import re
from collections.abc import Collection, Iterator
from functools import cache
from typing import NamedTuple

import msgspec

from toolvet.core.discover.toml import read_toml
from toolvet.core.json_value import whole
from toolvet.core.turn.ledger.tokens import MentionFrame

Date = tuple[int, int, int]
"""Year, month, day; year 0 if none is given."""

_ISO = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?![\d])", re.ASCII)
_NUMERIC = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})\Z", re.ASCII)
_COMPACT = re.compile(r"(?:19|20)\d{6}\Z", re.ASCII)
_CJK = re.compile(r"(?:(\d{4}) ?[年년] ?)?(\d{1,2}) ?[月월] ?(\d{1,2}) ?[日일号號]", re.ASCII)
_CLOCK = re.compile(r"(?<![\d:.])(\d{1,2})[:.h](\d{2})(?::\d{2})?(?:\.\d+)?(?![\d])", re.ASCII)
_WORD_BEFORE = re.compile(r"([^\W\d_]{3,12})\.?,?[ \u00a0]+(?:the )?\Z")
_WORD_AFTER = re.compile(r"(?:st|nd|rd|th|\.|º|er|ª|-)?,?[ \u00a0]+(?:of |de |d'|do )?([^\W\d_]{3,12})\.?")
_YEAR_AFTER = re.compile(r"(?:st|nd|rd|th|\.)?,?[ \u00a0]+(?:de |of |del )?((?:19|20)[0-9]{2})(?!\d)")
_RANGE_BEFORE = re.compile(
    r"([^\W\d_]{3,12})\.? +(?:the )?\d{1,2}(?:st|nd|rd|th)?[ \u00a0]{0,2}"
    r"(?:-|\u2013|\u2014|to|and|or|through|until|&|,|/)[ \u00a0]{0,2}\Z"
)
_RANGE_AFTER = re.compile(
    r"(?:st|nd|rd|th|\.)?[ \u00a0]{0,2}(?:-|\u2013|\u2014|to|and|or|bis|y|et|e|/)[ \u00a0]{0,2}"
    r"\d{1,2}(?:st|nd|rd|th|\.)? (?:of |de )?([^\W\d_]{3,12})"
)
# The characters next to a number show quickly that most numbers are not part of a range.
_RANGE_LAST = frozenset("-\u2013\u2014&,/odrhl")
_RANGE_FIRST = (
    "-", "\u2013", "\u2014", "/", " -", " \u2013", " \u2014", " to ", " and ", " or ", " bis ", " y ", " et ", " e ",
    "st", "nd", "rd", "th",
)  # fmt: skip
_SPACES = frozenset(" \u00a0")
_DAY_AFTER = re.compile(r"\.?[ \u00a0]+\d{1,2}(?!\d)")
_ZONED = re.compile(
    r"(?<!\d)([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2}):[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)? ?"
    r"(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2})"
)
_WORD = re.compile(r"[^\W\d_]+")
_SENTENCE = 70
_LONG_NAME = 5
_DAY_SECONDS = 86_400
_EPOCH = (946_684_800, 4_102_444_800)  # 2000-01-01 to 2100-01-01, in seconds.


class MonthNames(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The months of one language, frequent words of it, and the months that need their capital letter."""

    months: list[str]
    words: list[str]
    capital: list[str]


@cache
def month_names() -> dict[str, MonthNames]:
    """The months of each language."""
    return read_toml("toolvet.core.turn.ledger", "months.toml", dict[str, MonthNames])


@cache
def months() -> dict[str, int]:
    """Each name of a month, lower case, and its number."""
    return {name: number for name, number, _ in _every_name()}


@cache
def _every_name() -> tuple[tuple[str, int, str], ...]:
    return tuple(
        (name, number, language)
        for language, names in month_names().items()
        for number, every in enumerate(names.months, start=1)
        for name in every.split()
    )


class _MonthReading(NamedTuple):
    """The month that a name is, in which languages, and in which of them without a capital; `plain` names need none."""

    number: int
    languages: frozenset[str]
    lower: frozenset[str]
    plain: bool


@cache
def _readings() -> dict[str, _MonthReading]:
    spoken: dict[str, set[str]] = {}
    for name, _, language in _every_name():
        spoken.setdefault(name, set()).add(language)
    found: dict[str, _MonthReading] = {}
    for name, number in months().items():
        languages = frozenset(spoken[name])
        lower = frozenset(each for each in languages if name not in month_names()[each].capital)
        plain = len(name) >= _LONG_NAME and lower == languages
        found[name] = _MonthReading(number, languages, lower, plain)
    return found


@cache
def _frequent() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for language, names in month_names().items():
        for word in names.words:
            found[word] = (*found.get(word, ()), language)
    return found


def month_of(word: str, text: str, start: int, end: int) -> int | None:
    """The month that `word`, at `start` to `end` of `text`, names in the language of its sentence; None for none.

    Long names are months everywhere; short ones are words of other languages: `3 out of 4` is not October.
    """
    name = word.lower()
    reading = _readings().get(name)
    if reading is None or text.startswith(" of ", end):
        return None
    if reading.plain:
        return reading.number
    languages = reading.lower if word[0].islower() else reading.languages
    if not languages or len(name) >= _LONG_NAME:
        return reading.number if languages else None
    # The languages that most of the frequent words around it belong to.
    counts: dict[str, int] = {}
    around = text[max(0, start - _SENTENCE) : start] + text[end : end + _SENTENCE]
    for other in _WORD.findall(around.lower()):
        for language in _frequent().get(other, ()):
            counts[language] = counts.get(language, 0) + 1
    most = max(counts.values(), default=0)
    near = {language for language, count in counts.items() if count == most}
    return reading.number if (languages & near if near else "en" in languages or not name.isascii()) else None


def numeric_date(token: str) -> tuple[Date, ...]:
    """The dates that a token of digits and separators can be: `2026-11-22`, `22.11.2026`, `11/22/26`."""
    found = _ISO.match(token)
    if found:
        return _valid((int(found[1]), int(found[2]), int(found[3])))
    found = _NUMERIC.match(token)
    # 3.11.12 is a version of something.
    if found and not (found[2] == "." and len(found[4]) == 2 and len(token) < 8):
        year = int(found[4]) + (2000 if len(found[4]) == 2 else 0)
        first, second = int(found[1]), int(found[3])
        return _valid((year, first, second)) + (_valid((year, second, first)) if first != second else ())
    if _COMPACT.match(token):
        return _valid((int(token[:4]), int(token[4:6]), int(token[6:])))
    return ()


def worded_date(text: str, start: int, end: int, *, strict: bool = True) -> tuple[Date, int, int] | None:
    """The date of which the day is the number at `start`: (date, its start, its end), or None.

    `strict` asks for the language of the sentence; what a result contains is read in every way that it can be.
    """
    day = int(text[start:end])
    if not 1 <= day <= 31:
        return None
    # By one look at what is before, most numbers have no month there: a search costs ten times as much.
    before = _WORD_BEFORE.search(text, max(0, start - 20), start) if text[start - 1 : start] in _SPACES else None
    if before is not None and (month := _month(before, text, strict=strict)) is not None:
        year = _YEAR_AFTER.match(text, end)
        return (int(year[1]) if year else 0, month, day), before.start(), year.end() if year else end
    after = _WORD_AFTER.match(text, end)
    if after is not None and (month := _month(after, text, strict=strict)) is not None:
        year = _YEAR_AFTER.match(text, after.end())
        if text[end : end + 1] in (".", ","):
            opens_line = not text[text.rfind("\n", 0, start) + 1 : start].strip(" \t*_#>-")
            # "3. February 12" is the third item of a list, as is "2. May change".
            if _DAY_AFTER.match(text, after.end()) or (year is None and strict and opens_line):
                return None
        return (int(year[1]) if year else 0, month, day), start, year.end() if year else after.end()
    # The month may be at the other end of a range: 17 in `May 16-17`, 16 in `16-17 May`.
    if text[max(0, start - 4) : start].rstrip(" \u00a0")[-1:] in _RANGE_LAST:
        before = _RANGE_BEFORE.search(text, max(0, start - 30), start)
        if before is not None and (month := _month(before, text, strict=strict)) is not None:
            year = _YEAR_AFTER.match(text, end)
            return (int(year[1]) if year else 0, month, day), start, end
    if text.startswith(_RANGE_FIRST, end):
        after = _RANGE_AFTER.match(text, end)
        if after is not None and (month := _month(after, text, strict=strict)) is not None:
            year = _YEAR_AFTER.match(text, after.end())
            return (int(year[1]) if year else 0, month, day), start, end
    return None


def _month(found: re.Match[str], text: str, *, strict: bool) -> int | None:
    return month_of(found[1], text, found.start(1), found.end(1)) if strict else months().get(found[1].lower())


def cjk_dates(text: str) -> Iterator[tuple[Date, int, int]]:
    """`2026年11月22日`, `11월 22일`."""
    if "月" not in text and "월" not in text:
        return
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
        elif (worded := worded_date(text, token.start(), token.end(), strict=False)) is not None:
            found.add(worded[0])
    found.update(date for date, _, _ in cjk_dates(text))
    return found


_CANDIDATE = re.compile(
    r"(?<![\w.])\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|(?<![\w.])\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4}|(?<!\d)\d{1,13}(?!\d)",
    re.ASCII,
)


def epoch_dates(seconds: int) -> Iterator[Date]:
    """The days that a Unix time can be, wherever the reader lives."""
    if not _EPOCH[0] <= seconds <= _EPOCH[1]:
        return
    for offset in (-_DAY_SECONDS // 2, 0, _DAY_SECONDS // 2):
        yield civil((seconds + offset) // _DAY_SECONDS)


def zoned_neighbours(text: str) -> Iterator[Date]:
    """The days that a time with a zone can be elsewhere: the day before in the small hours, the day after at night."""
    for found in _ZONED.finditer(text):
        for date in numeric_date(found[1]):
            days, hour = days_since_epoch(date), int(found[2])
            if hour < 14:
                yield civil(days - 1)
            if hour >= 10:
                yield civil(days + 1)


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


def days_since_epoch(date: Date) -> int:
    """Days since 1970-01-01 in the Gregorian calendar; `datetime` would refuse February 30."""
    year, month, day = date
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def civil(days: int) -> Date:
    """The date of a day since 1970-01-01."""
    days += 719_468
    era, of_era = divmod(days, 146_097)
    year = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month += 3 if month < 10 else -9
    return year + era * 400 + (month <= 2), month, day


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
    """A span of time in days and calendar months; `working` days leave out the weekends."""

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
    return read_toml("toolvet.core.turn.ledger", "spans.toml", SpanWords)


@cache
def period_words() -> re.Pattern[str]:
    """Words that give a reason for the first or last day of a month."""
    return re.compile(span_words().period.match, re.IGNORECASE)


@cache
def deadline_words() -> re.Pattern[str]:
    """Words by which a day is the end of a span that the results name."""
    return re.compile(span_words().deadline.match, re.IGNORECASE)


@cache
def weekdays() -> dict[str, int]:
    """The names of the days of the week, each with its place."""
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
        number = whole(match[1])
        count = words.words.get(match[1], 0) if number is None else number
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
            yield from ((year, month, last) for last in range(28, 32))
    elif span.working:
        day, left = days_since_epoch(date), min(span.days, 400)
        while left:
            day += sign
            left -= weekday(day) < 5
        yield civil(day)
    else:
        yield civil(days_since_epoch(date) + sign * span.days)


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
    names = weekdays()
    named = names.get(before[1].lower() if before else "", names.get(after[1].lower() if after else "", -1))
    if named < 0:
        return False
    years = {date[0]} if date[0] else {year for year, _, _ in dates if year}
    for year in sorted(years)[:_MOST_SPANS]:
        day = days_since_epoch((year, date[1], date[2]))
        if weekday(day) == named and any(civil(day + off) in dates for off in range(-_NEAR, _NEAR + 1)):
            return True
    return False
