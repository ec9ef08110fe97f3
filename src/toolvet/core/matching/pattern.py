"""`Pattern`, a phrase to look for, and `Hit`, a place where it matched.

`Phrase` and `PhraseFile` are the common part of the entries and the files of all phrases. Readers extend both, and
`toolvet.core.matching.phrasebook` reads the files. It is a module of its own, because a process that finds its phrases
in the cache reads no files.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar, Final, Generic, NamedTuple, Protocol, TypeVar

import msgspec

from toolvet.core.matching.letters import ASCII_TOKENS, word_tokens
from toolvet.core.matching.machine import Machine, MatchOpening, PatternPart
from toolvet.core.matching.tree import UnsafePattern


class HitScope(msgspec.Struct, frozen=True, gc=False):
    """Where in a text a hit is of use.

    In a text of more than `at_most` characters nowhere, in one of no more than `whole` anywhere. Else where it begins
    in the first `first` characters or ends in the last `last`; anywhere if both are None.
    """

    at_most: int | None = None
    whole: int = 0
    first: int | None = None
    last: int | None = None


PlacedBefore = dict[tuple[int, bool, str], tuple[int, int] | None]
"""The match in some words, as scans of a text that grows have found it.

By what looked for it, whether the text begins with these words, and the words.
"""


class Pattern(msgspec.Struct, frozen=True):
    """A phrase to look for: `id` comes back with every hit, `regex` is in the dialect of this package.

    `flags` may hold `re.IGNORECASE`, `re.MULTILINE` and `re.DOTALL`. Without `spans` the pattern is found at most once
    per text, and its hit starts and ends where a match ends: cheaper, and enough to know that a phrase is there. A
    scan may keep to the `scope`.
    """

    id: str
    regex: str
    flags: re.RegexFlag = re.IGNORECASE
    spans: bool = True
    scope: HitScope | None = None


class LazyPatterns(NamedTuple):
    """Patterns that are made only if their compiled form is not stored: making thousands takes milliseconds."""

    key: bytes
    """The key of their source: another key means other patterns."""
    ids: Sequence[str]
    scopes: Sequence[HitScope | None]
    make: Callable[[], Iterable[Pattern]]


class Hit(msgspec.Struct, frozen=True, gc=False):
    """The pattern `id` matched the characters from `start` up to `end` of the text."""

    id: str
    start: int
    end: int


def literal(identifier: str, phrase: str) -> Pattern:
    """Return a pattern for exactly these words, at borders of words, in upper or lower case.

    Raises `UnsafePattern` for a phrase without a character that is not white space.
    """
    words = phrase.strip()
    body = re.escape(words)
    if not body:
        raise UnsafePattern(phrase, "it has no words")
    before = r"\b" if re.match(r"\w", words) else ""
    after = r"\b" if re.search(r"\w\Z", words) else ""
    return Pattern(identifier, f"{before}{body}{after}")


WINDOW = 256
"""How far a match without a greatest length is looked for, in characters: it bounds the cost of a hit."""

_TOKEN = re.compile("\0.")


class Translation(msgspec.Struct, frozen=True, array_like=True):
    """One pattern, written for both engines, and as it was given.

    `first` looks at the first character of a match, for `re`; it may be empty. `python` holds tokens for borders of
    words (`letters.word_tokens`). `width` is the length of the longest match in characters, None without limit.
    `exact` says that Hyperscan finds just what `re` finds, if the text is ASCII. `family` names scripts of which every
    match has a letter, if there are such beside Latin. `tree` is there for a pattern that could take `re` too long on
    a hostile text: then a `Machine` decides. `opening` is what every match of such a pattern begins with, for `re`, as
    far as that is quickly seen, and `reach` its greatest length in characters. `words`: every match has one of them
    (`needed_words`), in lower case.
    """

    regex: str
    flags: int
    spans: bool
    hyperscan: str
    first: str
    python: str
    width: int | None
    exact: bool
    family: str
    tree: PatternPart | None
    opening: str = ""
    reach: int = 0
    words: tuple[str, ...] = ()


class Finder(Protocol):
    """Finds the matches of an expression."""

    def search(self, text: str, start: int, limit: int) -> tuple[int, int] | None:
        """Return the first match that begins from `start` on; if it begins before `limit`, it is not missed."""
        ...


def finder(expression: Translation, *, ascii_text: bool = False) -> Finder:
    """Return a finder of the expression, for ASCII texts or for all. Raises `UnsafePattern` where `re` fails."""
    flags = expression.flags | re.ASCII
    tokens = ASCII_TOKENS if ascii_text else word_tokens()

    def compiled(source: str) -> re.Pattern[str]:
        # Upper and lower case beyond ASCII is written out in the pattern.
        return re.compile(_TOKEN.sub(lambda token: tokens[token.group()], source), flags)

    try:
        if expression.tree is not None:
            begins = MatchOpening(compiled(expression.first + expression.opening), expression.reach)
            return Machine(expression.tree, begins, expression.width or WINDOW, compiled)
        return _Backtracker(compiled(expression.first + expression.python), expression.width or WINDOW)
    except (re.error, OverflowError, RecursionError) as problem:
        raise UnsafePattern(expression.regex, f"not a regular expression that we can run ({problem})") from None


class _Backtracker:
    """Searches with `re`, which must not read on to the end of the text."""

    def __init__(self, pattern: re.Pattern[str], width: int) -> None:
        self._search = pattern.search
        self._width = width

    def search(self, text: str, start: int, limit: int) -> tuple[int, int] | None:
        """As of `Finder`; of a pattern without a greatest length a match far beyond its window may be cut short.

        `re` takes the end of what it may read for the end of the text. So two characters more are read than a match
        that begins by `limit` can have; and where one begins later or reaches that far, more.
        """
        end = limit + self._width + 2
        match = self._search(text, start, end)
        while match is not None and end < len(text) and max(match.end(), match.start() + self._width) + 2 > end:
            end = max(2 * match.end() - match.start(), match.start() + self._width) + 2
            match = self._search(text, match.start(), end)
        return None if match is None else match.span()


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
