"""Names that mean the same thing, and names that never do: `synonyms.toml`."""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import Final

import msgspec

from toolvet.core.discover.toml import read_toml
from toolvet.core.schema.naming import words_of


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
    return all(map(_same_word, shorter, tail))


@lru_cache(maxsize=4096)
def are_opposite(left: str, right: str) -> bool:
    """Whether two names are about different things, although they look alike: `start_date` and `end_date`."""
    first, second = set(words_of(left)), set(words_of(right))
    return any((first & one and second & other) or (first & other and second & one) for one, other in _opposites())


def _same_whole(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    groups = _groups()
    return not groups.get(left, _NONE).isdisjoint(groups.get(right, _NONE))


def _same_word(left: str, right: str) -> bool:
    return left == right or _same_whole((left,), (right,))


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
