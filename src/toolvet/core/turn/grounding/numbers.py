"""Numerals of many countries, each read in every way that it can be, and the words around them."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache

import msgspec

from toolvet.core.discover.toml import read_toml

_LONGEST = 40
_NUMERAL = re.compile(r"(?<![\d])\d+(?:[.,]\d+|['\u2019 \u00a0\u202f]\d{3}(?!\d))*", re.ASCII)
_SEPARATORS = re.compile(r"[^0-9]")


class NumeralReading(msgspec.Struct, frozen=True):
    """One way to read a numeral: its value, and what one unit in its last written place is worth."""

    value: float
    place: float
    whole: bool


def readings(numeral: str) -> tuple[NumeralReading, ...]:
    """Every way to read a numeral of digits with points, commas, apostrophes or spaces; empty for other tokens.

    `1,234` is twelve hundred or one and a bit; `1.234,5` and `1,234.5` are the same; `1.2.3` is not a number.
    """
    return () if len(numeral) > _LONGEST else _readings(numeral)


# Answers and results repeat their years and amounts.
@lru_cache(maxsize=4096)
def _readings(numeral: str) -> tuple[NumeralReading, ...]:
    marks = set(_SEPARATORS.findall(numeral))
    if not marks:
        return (NumeralReading(float(numeral), 1.0, whole=True),) if numeral else ()
    if marks - {".", ",", "'", "\u2019", " ", "\u00a0", "\u202f"}:
        return ()
    for space in marks - {".", ","}:
        numeral = numeral.replace(space, "")
    points, commas = numeral.count("."), numeral.count(",")
    if points and commas:
        decimal = "." if numeral.rindex(".") > numeral.rindex(",") else ","
        other = "," if decimal == "." else "."
        if numeral.count(decimal) > 1 or not _grouped(numeral.split(decimal)[0], other):
            return ()
        return (_decimal(numeral.replace(other, ""), decimal),)
    mark = "." if points else ","
    if not points and not commas:
        return (NumeralReading(float(numeral), 1.0, whole=True),)
    if points + commas > 1:
        return (_whole(numeral, mark),) if _grouped(numeral, mark) else ()
    head, tail = numeral.split(mark)
    if len(tail) == 3 and 1 <= len(head) <= 3 and head[0] != "0":
        return _whole(numeral, mark), _decimal(numeral, mark)
    return (_decimal(numeral, mark),)


def _grouped(numeral: str, mark: str) -> bool:
    """Whether the marks part thousands; India parts by two, but for the last group."""
    groups = numeral.split(mark)
    return len(groups) == 1 or (
        len(groups[-1]) == 3 and all(2 <= len(group) <= 3 for group in groups[1:-1]) and 1 <= len(groups[0]) <= 3
    )


def _whole(numeral: str, mark: str) -> NumeralReading:
    return NumeralReading(float(numeral.replace(mark, "")), 1.0, whole=True)


def _decimal(numeral: str, mark: str) -> NumeralReading:
    head, _, tail = numeral.partition(mark)
    if not tail:
        return NumeralReading(float(head or "0"), 1.0, whole=True)
    return NumeralReading(float(f"{head or '0'}.{tail}"), 10.0 ** -len(tail), whole=False)


class WordList(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A list of words."""

    words: frozenset[str]


class Habit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Spans of time that are said from habit."""

    units: frozenset[str]
    numbers: frozenset[int]
    before: frozenset[str]


class KnownCodes(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Words of letters and digits that identify nothing."""

    match: str
    hits: list[str]
    misses: list[str]


class Surroundings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The tables of `numbers.toml`."""

    scale: dict[str, float]
    unit: dict[str, list[float]]
    about: WordList
    currency: WordList
    habit: Habit
    label: WordList
    known: KnownCodes


@cache
def surroundings() -> Surroundings:
    """The words around numbers that say what the numbers are."""
    return read_toml("toolvet.core.turn.grounding", "numbers.toml", Surroundings)


@cache
def about_words() -> tuple[str, ...]:
    """Words that say that a number is only roughly so, as `str.endswith` takes them."""
    return tuple(word for word in surroundings().about.words if len(word) > 1)


@cache
def known_words() -> re.Pattern[str]:
    """Words of letters and digits that identify nothing."""
    return re.compile(surroundings().known.match)


def numerals_in(text: str) -> Iterator[float]:
    """The value of every numeral in `text`, in each reading; a row of numbers is read as its parts too."""
    for found in _NUMERAL.finditer(text):
        token = found[0]
        if len(token) <= _LONGEST and token.isdecimal():
            yield float(token)
            continue
        every = readings(token)
        for reading in every:
            yield reading.value
        if not every or " " in token or "," in token:
            for part in re.findall(r"[0-9]+(?:\.[0-9]+)?", token):
                if len(part) <= 40:
                    yield float(part)
