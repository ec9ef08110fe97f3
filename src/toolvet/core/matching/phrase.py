"""`Phrase` and `PhraseFile`: what the entries and the files of all phrases have in common.

Readers extend both; `toolvet.core.matching.phrasebook` reads the files. Apart from it, because a process that finds its
phrases in the cache reads no files.
"""

from typing import ClassVar, Final, Generic, TypeVar

import msgspec

LANGUAGES: Final = "toolvet.core.languages"
"""The package whose folders hold the phrase files of the languages."""

WORDS_FILE: Final = "words.toml"
"""The file whose parts and gaps all other files of its folder share."""


class Phrase(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, gc=False):
    """What every entry of a phrase file has: its pattern, and its proofs.

    `match` is a regular expression in the dialect of `toolvet.core.matching`; `say` is the same in plain words, and an
    entry has one of the two. In a phrase that was read, `match` is filled and `say` is empty.
    """

    PATTERNS: ClassVar[tuple[str, ...]] = ("match",)
    """The fields that are regular expressions and may name parts; each a string or a list of strings."""

    match: str = ""
    say: str = ""
    hits: list[str] = []
    misses: list[str] = []


PhraseT_co = TypeVar("PhraseT_co", bound=Phrase, covariant=True)


class PhraseFile(msgspec.Struct, Generic[PhraseT_co], frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What every phrase file has: its entries, and the parts that they share."""

    PATTERNS: ClassVar[tuple[str, ...]] = ()
    """The fields of the file itself that are regular expressions and may name parts."""

    phrase: tuple[PhraseT_co, ...] = ()
    parts: dict[str, str | list[str]] = {}
