"""What `ending.toml` knows of how texts end, ready to be asked."""

import re
from functools import cache
from typing import NamedTuple

import msgspec

from toolvet.core.discover.toml import read_toml

# Written without spaces, or with particles at the end of a word: there a text's last characters are looked at.
_SPACELESS = ("zh", "ja", "ko")


class EndingMarks(NamedTuple):
    """The table: marks as sets of characters, words in lower case."""

    sentence_ends: frozenset[str]
    turn_ends: tuple[str, ...]
    closers: str
    without_marks: re.Pattern[str]
    complete_endings: tuple[str, ...]
    sign_off: frozenset[str]
    dangling: frozenset[str]
    dangling_endings: tuple[str, ...]
    abbreviations: frozenset[str]


@cache
def ending_marks() -> EndingMarks:
    """The table, read once."""
    table = ending_table()
    words = {language: words.split() for language, words in table.dangling.items()}
    return EndingMarks(
        sentence_ends=frozenset(table.sentence_ends),
        turn_ends=tuple(table.turn_ends),
        closers=table.closers,
        without_marks=re.compile(f"[{''.join(table.without_marks)}]"),
        complete_endings=tuple(table.complete_endings),
        sign_off=frozenset(phrase for phrases in table.sign_off.values() for phrase in phrases),
        dangling=frozenset(
            word for language, all_words in words.items() if language not in _SPACELESS for word in all_words
        ),
        abbreviations=frozenset(word for each in table.abbreviations.values() for word in each.split()),
        dangling_endings=tuple(word for language in _SPACELESS for word in words.get(language, ())),
    )


class EndingTable(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What `ending.toml` says; `hits` and `misses` prove `dangling` and `abbreviations`, by language."""

    sentence_ends: str
    turn_ends: list[str]
    closers: str
    without_marks: list[str]
    complete_endings: list[str]
    sign_off: dict[str, list[str]]
    dangling: dict[str, str]
    abbreviations: dict[str, str]
    hits: dict[str, list[str]]
    misses: dict[str, list[str]]


def ending_table() -> EndingTable:
    """`ending.toml` as it is written."""
    return read_toml("toolvet.core.checks.answer", "ending.toml", EndingTable)
