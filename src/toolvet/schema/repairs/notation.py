"""Days and times in the notations of people, rewritten as ISO 8601 (RFC 3339); as data in `notations.toml`."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Literal

import msgspec

from toolvet.discover import data_file
from toolvet.schema.repairs.confidence import Confidence, least
from toolvet.schema.repairs.guess import Guess

Target = Literal["date", "time", "date-time"]


class Notation(msgspec.Struct, frozen=True, kw_only=True):
    """One way to write a day, a time or an offset. Its proof: hits are `text => ISO`, misses are not this."""

    match: str
    confidence: Confidence
    hits: tuple[str, ...]
    misses: tuple[str, ...]


class Notations(msgspec.Struct, frozen=True):
    """The whole table."""

    months: tuple[str, ...]
    weekdays: str
    date: tuple[Notation, ...]
    time: tuple[Notation, ...]
    offset: tuple[Notation, ...]


@lru_cache(maxsize=1)
def notations() -> Notations:
    """The table, in the order of the file."""
    content = data_file("toolvet.schema.repairs", "notations.toml")
    return msgspec.convert(tomllib.loads(content.decode()), Notations)


class Moment(msgspec.Struct, frozen=True):
    """What a text says of a moment, each part as ISO 8601; an empty part was not said."""

    confidence: Confidence
    day: str = ""
    time: str = ""
    offset: str = ""


def rewritten(value: object, target: Target) -> Iterator[Guess]:
    """`value` in the notation of the format, where what it says is certain; the surest first."""
    for moment in moments(value):
        confidence = moment.confidence
        if target == "date" and moment.day:
            # A day was asked for: midnight says no more than the day, another time would be lost.
            lost = moment.time and not moment.time.startswith("00:00:00")
            yield Guess(moment.day, "low" if lost else confidence)
        elif target == "time" and moment.time and not moment.day:
            yield Guess(f"{moment.time}{moment.offset or 'Z'}", confidence if moment.offset else _at_most(confidence))
        elif target == "date-time" and moment.day:
            if moment.time:
                sure = confidence if moment.offset else _at_most(confidence)
                yield Guess(f"{moment.day}T{moment.time}{moment.offset or 'Z'}", sure)
            else:
                yield Guess(f"{moment.day}T00:00:00Z", "low")


def plainly(value: object) -> Iterator[Guess]:
    """`value` in the notations that patterns ask for: a day, hours and minutes, and what lies between."""
    for moment in moments(value):
        if moment.day and moment.time:
            yield Guess(f"{moment.day}T{moment.time}{moment.offset}", moment.confidence)
            yield Guess(f"{moment.day} {moment.time}{moment.offset}", moment.confidence)
            yield Guess(f"{moment.day}T{moment.time}{moment.offset or 'Z'}", _at_most(moment.confidence))
        elif moment.day:
            yield Guess(moment.day, moment.confidence)
            yield Guess(moment.day.replace("-", ""), moment.confidence)
            yield Guess(moment.day.replace("-", "/"), moment.confidence)
        elif moment.time:
            if moment.time.endswith(":00"):
                yield Guess(moment.time[:-3], moment.confidence)
            yield Guess(f"{moment.time}{moment.offset}", moment.confidence)


def _at_most(confidence: Confidence) -> Confidence:
    """An offset that was not said is taken to be UTC: medium, at most."""
    return least((confidence, "medium"))


def moments(value: object) -> Iterator[Moment]:
    """What a text, or a number of seconds since 1970, says of a moment."""
    if isinstance(value, str):
        text = value.strip().strip("\"'")
        if 2 < len(text) <= _LONGEST and text.isascii():
            yield from _read(text)
    elif isinstance(value, int) and not isinstance(value, bool):
        # Seconds have ten digits from 2001 to 2286, milliseconds thirteen.
        seconds = value if 10**9 <= value < 10**10 else value // 1000 if 10**12 <= value < 10**13 else None
        if seconds is not None:
            found = datetime.fromtimestamp(seconds, tz=UTC)
            yield Moment("medium", found.date().isoformat(), found.time().isoformat(), "Z")


_LONGEST = 50


def _read(text: str) -> Iterator[Moment]:
    table = _compiled()
    for expression, row in table["date"]:
        found = expression.match(text)
        day = _day(found) if found else None
        if found is None or day is None:
            continue
        rest = text[found.end() :]
        if not rest:
            yield Moment(row.confidence, day)
            continue
        between = _BETWEEN.match(rest)
        if between is not None:
            for moment in _clock(rest[between.end() :]):
                yield Moment(least((row.confidence, moment.confidence)), day, moment.time, moment.offset)
    yield from _clock(text)


_BETWEEN = re.compile(r"(?:t|,?\s+(?:at\s+)?)", re.IGNORECASE)


def _clock(text: str) -> Iterator[Moment]:
    table = _compiled()
    for expression, row in table["time"]:
        found = expression.match(text)
        if found is None:
            continue
        rest = text[found.end() :].strip()
        time = _time(found)
        if not rest:
            yield Moment(row.confidence, "", time)
            continue
        for offset, other in table["offset"]:
            zone = offset.fullmatch(rest)
            if zone is not None:
                yield Moment(least((row.confidence, other.confidence)), "", time, _offset(zone))


@lru_cache(maxsize=1)
def _compiled() -> Mapping[str, tuple[tuple[re.Pattern[str], Notation], ...]]:
    table = notations()
    kinds = {"date": (table.weekdays, table.date), "time": ("", table.time), "offset": ("", table.offset)}
    return {
        kind: tuple((re.compile(before + row.match, re.IGNORECASE | re.ASCII), row) for row in rows)
        for kind, (before, rows) in kinds.items()
    }


def _day(found: re.Match[str]) -> str | None:
    parts = found.groupdict()
    if "a" in parts:
        first, second = int(parts["a"]), int(parts["b"])
        # Both may be the month: which one is depends on the country.
        if first <= 12 and second <= 12 and first != second:
            return None
        day, month = (first, second) if first > 12 else (second, first)
    elif "name" in parts:
        known = _month(parts["name"])
        if known is None:
            return None
        day, month = int(parts["day"]), known
    else:
        day, month = int(parts["day"]), int(parts["month"])
    try:
        return date(int(parts["year"]), month, day).isoformat()
    except ValueError:
        return None


def _month(name: str) -> int | None:
    lowered = name.lower()
    for index, month in enumerate(notations().months):
        if month.startswith(lowered) or lowered == "sept" == month[:4]:
            return index + 1
    return None


def _time(found: re.Match[str]) -> str:
    parts = found.groupdict()
    hour = int(parts["hour"])
    half = parts.get("half")
    if half:
        hour = hour % 12 + (12 if half.lower() == "p" else 0)
    fraction = parts.get("fraction") or ""
    return f"{hour:02}:{parts.get('minute') or '00'}:{parts.get('second') or '00'}{fraction}"


def _offset(found: re.Match[str]) -> str:
    parts = found.groupdict()
    if not parts.get("hours"):
        return "Z"
    return f"{parts['sign']}{int(parts['hours']):02}:{parts.get('minutes') or '00'}"
