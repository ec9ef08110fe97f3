"""Days and times as people write them, rewritten as ISO 8601 (RFC 3339); the notations are in `notations.toml`."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Literal

import msgspec

from toolvet.core.discover.toml import read_toml
from toolvet.core.schema.repairs.context import Confidence, Guess, least, unquoted

Target = Literal["date", "time", "date-time"]
_TARGETS: tuple[Target, ...] = ("date", "time", "date-time")


class Notation(msgspec.Struct, frozen=True, kw_only=True):
    """One way to write a day, a time or an offset. Its proof: hits are `text => ISO`, misses are not this."""

    match: str
    confidence: Confidence
    hits: tuple[str, ...]
    misses: tuple[str, ...]


class Notations(msgspec.Struct, frozen=True):
    """The content of `notations.toml`."""

    months: tuple[str, ...]
    weekdays: str
    date: tuple[Notation, ...]
    time: tuple[Notation, ...]
    offset: tuple[Notation, ...]


@lru_cache(maxsize=1)
def notations() -> Notations:
    """The table, in the order of the file."""
    return read_toml("toolvet.core.schema.repairs", "notations.toml", Notations)


class Moment(msgspec.Struct, frozen=True):
    """The day, time and offset that a text states, each as ISO 8601; empty if it does not."""

    confidence: Confidence
    day: str = ""
    time: str = ""
    offset: str = ""


def rewrite_moment(value: object, target: Target) -> Iterator[Guess]:
    """Yield `value` in the notation of the format `target`, the surest reading first."""
    for moment in moments(value):
        confidence = moment.confidence
        if target == "date" and moment.day:
            # A day was asked for: midnight says no more than the day, another time would be lost.
            lost = moment.time and not moment.time.startswith("00:00:00")
            yield Guess(moment.day, "low" if lost else confidence)
        elif target == "time" and moment.time and not moment.day:
            yield Guess(
                f"{moment.time}{moment.offset or 'Z'}", confidence if moment.offset else _at_most_medium(confidence)
            )
        elif target == "date-time" and moment.day:
            if moment.time:
                sure = confidence if moment.offset else _at_most_medium(confidence)
                yield Guess(f"{moment.day}T{moment.time}{moment.offset or 'Z'}", sure)
            else:
                yield Guess(f"{moment.day}T00:00:00Z", "low")


def rewrite_plainly(value: object) -> Iterator[Guess]:
    """Yield `value` in the notations that patterns ask for: a day, a time, or both, with other separators."""
    for moment in moments(value):
        if moment.day and moment.time:
            yield Guess(f"{moment.day}T{moment.time}{moment.offset}", moment.confidence)
            yield Guess(f"{moment.day} {moment.time}{moment.offset}", moment.confidence)
            yield Guess(f"{moment.day}T{moment.time}{moment.offset or 'Z'}", _at_most_medium(moment.confidence))
        elif moment.day:
            yield Guess(moment.day, moment.confidence)
            yield Guess(moment.day.replace("-", ""), moment.confidence)
            yield Guess(moment.day.replace("-", "/"), moment.confidence)
        elif moment.time:
            if moment.time.endswith(":00"):
                yield Guess(moment.time[:-3], moment.confidence)
            yield Guess(f"{moment.time}{moment.offset}", moment.confidence)


def _at_most_medium(confidence: Confidence) -> Confidence:
    """Without an offset UTC is assumed: medium, at most."""
    return least((confidence, "medium"))


def moments(value: object) -> Iterator[Moment]:
    """Yield each moment that `value` may state: a text, or a number of seconds or milliseconds since 1970."""
    if isinstance(value, str):
        text = value.strip().strip("\"'")
        if not 2 < len(text) <= _LONGEST or not text.isascii():
            return
        for expression, row in _expressions()["date"]:
            found = expression.match(text)
            day = _iso_day(found) if found else None
            if found is None or day is None:
                continue
            rest = text[found.end() :]
            if not rest:
                yield Moment(row.confidence, day)
                continue
            between = _BETWEEN.match(rest)
            if between is not None:
                for moment in _parse_times(rest[between.end() :]):
                    yield Moment(least((row.confidence, moment.confidence)), day, moment.time, moment.offset)
        yield from _parse_times(text)
    elif isinstance(value, int) and not isinstance(value, bool):
        # Seconds have ten digits from 2001 to 2286, milliseconds thirteen.
        seconds = value if 10**9 <= value < 10**10 else value // 1000 if 10**12 <= value < 10**13 else None
        if seconds is not None:
            stated = datetime.fromtimestamp(seconds, tz=UTC)
            yield Moment("medium", stated.date().isoformat(), stated.time().isoformat(), "Z")


_LONGEST = 50


_BETWEEN = re.compile(r"(?:t|,?\s+(?:at\s+)?)", re.IGNORECASE)


def _parse_times(text: str) -> Iterator[Moment]:
    table = _expressions()
    for expression, row in table["time"]:
        found = expression.match(text)
        if found is None:
            continue
        rest = text[found.end() :].strip()
        parts = found.groupdict()
        hour, half, fraction = int(parts["hour"]), parts.get("half"), parts.get("fraction") or ""
        if half:
            hour = hour % 12 + (12 if half.lower() == "p" else 0)
        time = f"{hour:02}:{parts.get('minute') or '00'}:{parts.get('second') or '00'}{fraction}"
        if not rest:
            yield Moment(row.confidence, "", time)
            continue
        for offset, other in table["offset"]:
            zone = offset.fullmatch(rest)
            if zone is None:
                continue
            away = zone.groupdict()
            hours, minutes = away.get("hours"), away.get("minutes") or "00"
            written = f"{away['sign']}{int(hours):02}:{minutes}" if hours else "Z"
            yield Moment(least((row.confidence, other.confidence)), "", time, written)


@lru_cache(maxsize=1)
def _expressions() -> Mapping[str, tuple[tuple[re.Pattern[str], Notation], ...]]:
    table = notations()
    kinds = {"date": (table.weekdays, table.date), "time": ("", table.time), "offset": ("", table.offset)}
    return {
        kind: tuple((re.compile(before + row.match, re.IGNORECASE | re.ASCII), row) for row in rows)
        for kind, (before, rows) in kinds.items()
    }


def _iso_day(found: re.Match[str]) -> str | None:
    parts = found.groupdict()
    if "a" in parts:
        first, second = int(parts["a"]), int(parts["b"])
        # Both may be the month: which one is depends on the country.
        if first <= 12 and second <= 12 and first != second:
            return None
        day, month = (first, second) if first > 12 else (second, first)
    elif "name" in parts:
        name = parts["name"].lower()
        known = next((number for number, month in enumerate(notations().months, 1) if month.startswith(name)), None)
        if known is None:
            return None
        day, month = int(parts["day"]), known
    else:
        day, month = int(parts["day"]), int(parts["month"])
    try:
        return date(int(parts["year"]), month, day).isoformat()
    except ValueError:
        return None


def variants(value: object, schemas: Sequence[Mapping[str, object]]) -> Iterator[Guess]:
    """Yield what `value` may have been meant as; the caller checks which of these the schema accepts."""
    named = {name for schema in schemas if isinstance(name := schema.get("format"), str)}
    patterned = any("pattern" in schema for schema in schemas)
    for target in _TARGETS:
        if target in named:
            yield from rewrite_moment(value, target)
    if not isinstance(value, str) or len(value) > _LONGEST_VARIANT:
        return
    stripped = value.strip()
    if stripped != value:
        yield Guess(stripped, "high")
    if (bare := unquoted(value)) != stripped:
        yield Guess(bare, "high", 1)
    if "uuid" in named and (found := _UUID.fullmatch(bare)):
        yield Guess("-".join(found.groups()), "high")
    if named & _EMAIL and (found := _ADDRESS.fullmatch(bare)):
        yield Guess(found[1], "high" if bare.lower().startswith("mailto:") else "medium")
    if named & _URI:
        if bare.startswith("<") and bare.endswith(">"):
            yield Guess(bare[1:-1], "high")
        if _HOST.fullmatch(bare):
            yield Guess(f"https://{bare}", "medium")
        if " " in bare and "://" in bare:
            yield Guess(bare.replace(" ", "%20"), "medium")
    if not patterned:
        return
    yield from rewrite_plainly(value)
    # Other letter case, other separators, without or with the sign that such values begin with.
    for other in (bare.upper(), bare.lower()):
        if other != bare:
            yield Guess(other, "medium")
    for old in "-_ ./":
        if old in bare:
            for new in ("-", "_", ""):
                if new != old:
                    yield Guess(bare.replace(old, new), "medium", 1)
                    yield Guess(bare.lower().replace(old, new), "medium", 2)
    if bare[:1] in "#@$":
        yield Guess(bare[1:], "medium", 1)
    for sign in "#@$+":
        yield Guess(f"{sign}{bare}", "medium", 3)


_LONGEST_VARIANT = 2_000
_UUID = re.compile(
    r"(?:urn:uuid:)?\{?([0-9a-f]{8})[-_ ]?([0-9a-f]{4})[-_ ]?([0-9a-f]{4})[-_ ]?([0-9a-f]{4})[-_ ]?([0-9a-f]{12})\}?",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"(?:[^<>@\n]{0,80}<|mailto:)?([^\s<>@]{1,64}@[^\s<>@]{1,255}?)>?", re.IGNORECASE)
_HOST = re.compile(r"(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}(?::\d{1,5})?(?:[/?#]\S*)?", re.IGNORECASE)
_URI = frozenset({"uri", "iri", "url"})
_EMAIL = frozenset({"email", "idn-email"})
