"""Words of a call and of its schema: what they mean, which names mean the same, and how sure that is."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Final, Literal

import msgspec

from toolvet.core.discover.toml import read_toml
from toolvet.core.schema.naming import words_of

Confidence = Literal["high", "medium", "low"]

_RANKS: Final[dict[Confidence, int]] = {"high": 0, "medium": 1, "low": 2}

# How sure it is that the only member which is too much is the only one that is missing, under another name: where the
# names mean the same ("town" for "city") or the value is one of few that are allowed; and where nothing else says so.
SAME_MEANING: Final[Confidence] = "medium"
ONLY_ONE_LEFT: Final[Confidence] = "low"


class Guess(msgspec.Struct, frozen=True):
    """A value that may have been meant in place of another. Of two equally sure ones the lower `cost` is preferred."""

    value: object
    confidence: Confidence
    cost: int = 0


def rank(confidence: Confidence) -> int:
    """0 for high, 1 for medium, 2 for low."""
    return _RANKS[confidence]


def least(confidences: Iterable[Confidence]) -> Confidence:
    """The weakest of several: a chain of steps is as sure as its least sure step. Of none it is high."""
    weakest: Confidence = "high"
    for confidence in confidences:
        if _RANKS[confidence] > _RANKS[weakest]:
            weakest = confidence
    return weakest


Meaning = Literal["null", "true", "false", "wrapping", "value", "envelope", "remark"]


class Word(msgspec.Struct, frozen=True, kw_only=True):
    """One row: words, what they mean, and how sure that is. Its proof: `hits` and `misses`."""

    meaning: Meaning
    confidence: Confidence
    words: tuple[str, ...]
    hits: tuple[str, ...]
    misses: tuple[str, ...]


@lru_cache(maxsize=1)
def rows() -> tuple[Word, ...]:
    """Every row, in the order of the file."""
    return read_toml("toolvet.core.schema.repairs", "words.toml", dict[str, tuple[Word, ...]])["word"]


@lru_cache(maxsize=1)
def _meanings() -> Mapping[tuple[Meaning, str], Confidence]:
    return {(row.meaning, word): row.confidence for row in rows() for word in map(_normalize, row.words)}


def meant(text: str, meaning: Meaning) -> Confidence | None:
    """Return how sure it is that `text` means this, or None where it does not."""
    return _meanings().get((meaning, _normalize(text))) if len(text) <= _LONGEST_WORD else None


_LONGEST_WORD = 40


def _normalize(text: str) -> str:
    return text.strip().casefold().replace("_", "").replace("-", "")


class Synonyms(msgspec.Struct, frozen=True, kw_only=True):
    """One group of words for the same thing. Its proof: `hits` and `misses`, pairs such as `town => city`."""

    words: tuple[str, ...]
    hits: tuple[str, ...]
    misses: tuple[str, ...]


class Opposites(msgspec.Struct, frozen=True, kw_only=True):
    """Words that exclude the `others` in a name that is alike for the rest: `start_date` is not `end_date`."""

    words: tuple[str, ...]
    others: tuple[str, ...]
    hits: tuple[str, ...]
    misses: tuple[str, ...]


class SynonymTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The content of `synonyms.toml`."""

    synonym: tuple[Synonyms, ...]
    opposite: tuple[Opposites, ...]


@cache
def synonym_table() -> SynonymTable:
    """The table, read once."""
    return read_toml("toolvet.core.schema.repairs", "synonyms.toml", SynonymTable)


@lru_cache(maxsize=4096)
def mean_the_same(left: str, right: str) -> bool:
    """Whether two names name one thing: by the words at the end of the longer one, or by the table.

    >>> mean_the_same("id", "task_id"), mean_the_same("town", "city"), mean_the_same("user_id", "task_id")
    (True, True, False)
    """
    first, second = words_of(left), words_of(right)
    if not first or not second:
        return False
    if _same_whole(first, second):
        return True
    shorter, longer = sorted((first, second), key=len)
    tail = longer[-len(shorter) :]
    return all(one == other or _same_whole((one,), (other,)) for one, other in zip(shorter, tail, strict=True))


@lru_cache(maxsize=4096)
def are_opposite(left: str, right: str) -> bool:
    """Whether two names are about different things, although they look alike: `start_date` and `end_date`."""
    first, second = set(words_of(left)), set(words_of(right))
    return any((first & one and second & other) or (first & other and second & one) for one, other in _opposites())


def _same_whole(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    groups = _groups()
    return not groups.get(left, _NONE).isdisjoint(groups.get(right, _NONE))


_NONE: Final[frozenset[int]] = frozenset()


@cache
def _groups() -> Mapping[tuple[str, ...], frozenset[int]]:
    """The numbers of the groups that each phrase is in."""
    found: dict[tuple[str, ...], set[int]] = {}
    for number, row in enumerate(synonym_table().synonym):
        for phrase in row.words:
            found.setdefault(words_of(phrase), set()).add(number)
    return {phrase: frozenset(numbers) for phrase, numbers in found.items()}


@cache
def _opposites() -> tuple[tuple[frozenset[str], frozenset[str]], ...]:
    return tuple((_words(row.words), _words(row.others)) for row in synonym_table().opposite)


def _words(phrases: Sequence[str]) -> frozenset[str]:
    return frozenset(word for phrase in phrases for word in words_of(phrase))


class Nearest(msgspec.Struct, frozen=True):
    """The option that was meant, and how sure that is."""

    option: str
    confidence: Confidence


def nearest(text: str, options: Sequence[str]) -> Nearest | None:
    """Return the one option that `text` means, or None: each way of being alike is tried in turn, a tie ends it."""
    if len(text) > _LONGEST or len(options) > _MOST:
        return None
    for form, confidence in _FORMS:
        wanted = form(text)
        if not wanted:
            return None
        found = [option for option in options if len(option) <= _LONGEST and form(option) == wanted]
        if found:
            return Nearest(found[0], confidence) if len(found) == 1 else None
    wanted = bare(text)
    near: list[tuple[int, str]] = []
    for option in options:
        other = bare(option)
        longer = max(len(wanted), len(other))
        # How many letters of a word of this length may be wrong, so that it is still recognised.
        most = 0 if longer < 4 else 1 if longer < 8 else 2
        if (
            not most
            or abs(len(wanted) - len(other)) > most
            or len(option) > _LONGEST
            or _NUMBERS.findall(wanted) != _NUMBERS.findall(other)
        ):
            continue
        away = distance(wanted, other, most)
        if away <= most:
            near.append((away, option))
    if near:
        near.sort(key=lambda pair: pair[0])
        alone = len(near) == 1 or near[0][0] < near[1][0]
        return Nearest(near[0][1], "medium") if alone else None
    # One that begins with the word, or that the word begins with: `desc` for `descending`.
    shortened = [
        option
        for option in options
        if (other := bare(option))
        and min(len(other), len(wanted)) >= 3
        and (wanted.startswith(other) or other.startswith(wanted))
    ]
    return Nearest(shortened[0], "medium") if len(shortened) == 1 else None


_LONGEST = 80
_MOST = 2_000
_NUMBERS = re.compile(r"\d+")
_QUOTES = "\"'`\u201c\u201d\u2018\u2019"


def unquoted(text: str) -> str:
    """Return `text` without white space around it and without one pair of quotation marks."""
    bare = text.strip()
    if len(bare) > 1 and bare[0] in _QUOTES and bare[-1] in _QUOTES:
        bare = bare[1:-1].strip()
    return bare


def _fold_case(text: str) -> str:
    return unquoted(text).casefold()


@lru_cache(maxsize=4096)
def bare(text: str) -> str:
    """Return the letters and digits alone, in lower case: the same for `user_name`, `userName` and `User name`."""
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


_FORMS: tuple[tuple[Callable[[str], str], Confidence], ...] = (
    (unquoted, "high"),
    (_fold_case, "high"),
    (bare, "high"),
)


def distance(left: str, right: str, most: int) -> int:
    """How many letters to add, drop, change or swap with a neighbour; counting stops at `most + 1`."""
    if left == right:
        return 0
    before: list[int] = []
    above = list(range(len(right) + 1))
    for row, letter in enumerate(left, 1):
        here = [row]
        for column, other in enumerate(right, 1):
            cost = 0 if letter == other else 1
            least = min(above[column] + 1, here[column - 1] + 1, above[column - 1] + cost)
            if row > 1 and column > 1 and letter == right[column - 2] and left[row - 2] == other:
                least = min(least, before[column - 2] + 1)
            here.append(least)
        if min(here) > most:
            return most + 1
        before, above = above, here
    return above[-1]
