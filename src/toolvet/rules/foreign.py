"""Whether an error is written in another language than English, so that its words prove no failure.

The phrases that tell a refusal from a crash are English for the most part; a crash text is English in every country.

    "Aufgabe 99 wurde nicht gefunden"    wurde, nicht: German; whether it is a refusal is not known, and so no finding
    "boom at worker 3"                   nothing of that

The words are data (`foreign.toml`), with their proof beside them.
"""

import re
from functools import cache
from typing import Final

import msgspec

from toolvet.discover.toml import read_toml

_LONGEST: Final = 2_000
_FEWEST_SIGNS: Final = 2
_LATIN: Final = 0x24F  # The last of the Latin letters, accents included.
_WORD: Final = re.compile(r"[^\W\d_]+")


def is_foreign(words: str) -> bool:
    """Return whether `words` are mostly in another script, or have small words of another language and none of English.

    >>> is_foreign("Aufgabe 99 wurde nicht gefunden"), is_foreign("task 99 was not found")
    (True, False)
    """
    found = [word.lower() for word in _WORD.findall(words[:_LONGEST])]
    letters = "".join(found)
    if not letters:
        return False
    if sum(ord(letter) > _LATIN for letter in letters) * 2 > len(letters):
        return True
    source = read_foreign_source()
    return sum(word in source.other for word in found) >= _FEWEST_SIGNS and source.english.isdisjoint(found)


class ForeignSource(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`foreign.toml` as written, with sentences that are foreign (`hits`) and such that are not."""

    english: frozenset[str]
    other: frozenset[str]
    hits: tuple[str, ...]
    misses: tuple[str, ...]


@cache
def read_foreign_source() -> ForeignSource:
    """The words as they are written in the file."""
    return read_toml("toolvet.rules", "foreign.toml", ForeignSource)
