"""`Pattern`, a phrase to look for, and `Hit`, a place where it was found.

`Phrase` and `PhraseFile` are what the entries and the files of all phrases have in common. Readers extend both;
`toolvet.core.matching.phrasebook` reads the files. They are not part of it, because a process that finds its phrases in
the cache reads no files.

Letters: their variants and scripts, and where a word ends; the data are in `letters.toml`.

`normalize_text` returns a text as patterns read it, and the way back to positions in the original. It changes three
kinds of characters:

- look-alikes that are common (curly apostrophes, no-break spaces): one for one, by `as_ascii`;
- letters in two parts, which NFC puts together (e and U+0301, Hangul in jamo), and accents that no letter takes up
  (stress marks of Russian), Hebrew points and Arabic vowel marks, which are dropped;
- what compatibility forms mean (full-width letters, half-width katakana, ligatures, mathematical letters, Arabic
  presentation forms), and what cannot be seen (zero-width, soft hyphen, direction marks, tatweel), which is dropped.

The last two are rare: `RARE` is one class for an engine to look for in the same pass, and `normalize_text`
runs where it hit.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from functools import cache
from typing import ClassVar, Final, Generic, NamedTuple, Protocol, TypeVar
from unicodedata import normalize

import msgspec

from toolvet.core.discover.toml import read_toml
from toolvet.core.matching.machine import Machine, MatchOpening, PatternPart
from toolvet.core.matching.tree import UnsafePattern


class Script(StrEnum):
    r"""What a character is to `\b`: a border is between two of different kinds, and beside every unspaced one."""

    SPACED = "spaced"
    """Letters, digits and `_` of scripts with spaces between words; marks too."""
    HANGUL = "hangul"
    UNSPACED = "unspaced"
    """Chinese, Japanese, Thai, Lao, Khmer, Burmese, Tibetan."""
    NONE = "none"
    """Space, punctuation, and the ends of the text."""


EVERY_SCRIPT = frozenset(Script)


class _LetterWords(msgspec.Struct, frozen=True):
    unspaced: str
    hangul: str
    marks: str


class Letters(msgspec.Struct, frozen=True):
    """The content of `letters.toml`."""

    variants: dict[str, tuple[str, ...]]
    cjk_variants: dict[str, tuple[str, ...]]
    words: _LetterWords
    families: dict[str, tuple[tuple[int, int], ...]]


@cache
def letters() -> Letters:
    """Return the table."""
    return read_toml("toolvet.core.matching", "letters.toml", Letters)


@cache
def script_of(character: str) -> Script:
    r"""Return what `character` is to `\b`."""
    unspaced, hangul, marks = _classes()
    if character.isascii():
        return Script.SPACED if character.isalnum() or character == "_" else Script.NONE
    if unspaced.match(character):
        return Script.UNSPACED
    if hangul.match(character):
        return Script.HANGUL
    return Script.SPACED if character.isalnum() or marks.match(character) else Script.NONE


@cache
def family_of(character: str) -> str:
    """Return the family of scripts of the character; empty for Latin and for what all scripts share."""
    code = ord(character)
    for family, ranges in letters().families.items():
        if any(low <= code <= high for low, high in ranges):
            return family
    return ""


@cache
def forms_of(character: str) -> tuple[str, ...]:
    """Return the character in upper and lower case and its variants, itself first; a form may have several letters."""
    forms: list[str] = []
    for variant in (character, *letters().variants.get(character.lower(), ())):
        forms += [form for form in (variant, variant.lower(), variant.upper(), variant.title()) if len(form) == 1]
        if len(variant) > 1:
            forms.append(variant)
    return tuple(dict.fromkeys(forms))


@cache
def word_tokens() -> dict[str, str]:
    r"""Return what the tokens that `dialect` writes for words mean to `re`, in a text that is not ASCII.

    A border is: the two sides are not both of spaced scripts, not both Hangul, and not both nothing.
    """
    words = letters().words
    other = f"[{words.hangul}{words.unspaced}]"
    word = rf"(?u:[\w{words.marks}])"
    after_spaced, before_spaced = rf"(?<={word})(?<!{other})", rf"(?={word})(?!{other})"
    same = (
        rf"(?:{after_spaced}{before_spaced}|(?<=[{words.hangul}])(?=[{words.hangul}])|(?<!{word})(?!{word})"
        rf"(?<!{other})(?!{other}))"
    )
    return {
        "\0b": rf"(?!{same})",
        "\0B": same,
        "\0<": rf"(?!{after_spaced})",
        "\0>": rf"(?!{before_spaced})",
        "\0[": rf"(?<![{words.hangul}])",
        "\0]": rf"(?![{words.hangul}])",
        "\0m": words.marks,
    }


ASCII_TOKENS = {"\0b": r"\b", "\0B": r"\B", "\0<": r"\b", "\0>": r"\b", "\0[": "", "\0]": "", "\0m": ""}
r"""The same in a text that is ASCII, where `\b` of `re` says it faster."""


@cache
def _classes() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    words = letters().words
    unspaced, hangul, marks = (re.compile(f"[{each}]") for each in (words.unspaced, words.hangul, words.marks))
    return unspaced, hangul, marks


_LOOKALIKES = {
    "\u2019": "'",
    "\u2018": "'",
    "\u02bc": "'",
    "\u00b4": "'",
    "\u201c": '"',
    "\u201d": '"',
    "\u201e": '"',
    "\u2010": "-",
    "\u2011": "-",
    "\u00a0": " ",
    "\u2002": " ",
    "\u2003": " ",
    "\u2007": " ",
    "\u2009": " ",
    "\u200a": " ",
    "\u202f": " ",
    "\u3000": " ",
}
_UNSEEN = "\u00ad\u034f\u061c\u0640\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff"
_MARKS = (
    "\u0300-\u034e\u0350-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    "\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a\ufe20-\ufe2f"
)
_FULL_WIDTH = "\uff10-\uff19\uff21-\uff3a\uff41-\uff5a"
_COMPATIBLE = (
    "\u0130\u017f\u212a\u212b\ufb00-\ufb06\ufb1d-\ufdff\ufe70-\ufefc\uff66-\uff9f\U0001d400-\U0001d7ff"
    # Devanagari, Bengali and Gurmukhi letters that NFC takes apart.
    "\u0958-\u095f\u09dc\u09dd\u09df\u0a33\u0a36\u0a59-\u0a5b\u0a5e"
)
_JAMO = "\u1100-\u1112"

RARE = f"[{_UNSEEN}{_MARKS}{_FULL_WIDTH}{_COMPATIBLE}{_JAMO}]"
"""A class of every character that `normalize_text` changes, or that begins what it changes."""


class OffsetMap:
    """The way from places in a normalized text back to the original."""

    def __init__(self) -> None:
        # Each range: where it begins in the normalized text, and in the original; and, if it was one unit, its end.
        self._normalized: list[int] = [0]
        self._stretches: list[tuple[int, int]] = [(0, -1)]

    def add(self, normalized: int, original: int, unit_end: int) -> None:
        """From `normalized` on the text stems from `original` on; or from one unit, if its `unit_end` is not -1."""
        if self._normalized[-1] == normalized:
            self._stretches[-1] = (original, unit_end)
            return
        self._normalized.append(normalized)
        self._stretches.append((original, unit_end))

    def start(self, place: int) -> int:
        """Return where the character at `place` begins in the original."""
        number = bisect_right(self._normalized, place) - 1
        original, unit_end = self._stretches[number]
        return original if unit_end >= 0 else original + place - self._normalized[number]

    def end(self, place: int) -> int:
        """Return where the character before `place` ends in the original."""
        if place == 0:
            return 0
        number = bisect_right(self._normalized, place - 1) - 1
        original, unit_end = self._stretches[number]
        return unit_end if unit_end >= 0 else original + place - self._normalized[number]


def as_ascii(text: str) -> str:
    """Return the text with the common look-alikes replaced. A chain of searches costs a sixtieth of `str.translate`."""
    if text.isascii():
        return text
    for lookalike, ascii_form in _LOOKALIKES.items():
        if lookalike in text:
            text = text.replace(lookalike, ascii_form)
    return text


def normalize_text(text: str) -> tuple[str, OffsetMap]:
    """Return the text with all that is rare normalized, and the way back. In linear time."""
    pieces: list[str] = []
    places = OffsetMap()
    reached = length = 0
    # A text that has one such unit has it often: to normalize one costs ten times as much as to look it up.
    known: dict[str, str] = {}
    for unit in _expressions().unit.finditer(text):
        start, end = unit.span()
        form = known.get(unit.group())
        if form is None:
            form = known[unit.group()] = settled_unit(unit.group())
        pieces += text[reached:start], form
        length += start - reached
        if len(form) != end - start:
            places.add(length, start, end)
            places.add(length + len(form), end, -1)
        length += len(form)
        reached = end
    pieces.append(text[reached:])
    return "".join(pieces), places


def settled_unit(unit: str) -> str:
    """Return the normalized form of one unit: a character, with the marks that follow it."""
    expressions = _expressions()
    composed = normalize("NFKC", unit) if expressions.compatible.search(unit) else normalize("NFC", unit)
    return expressions.soundless.sub("", composed.replace("\u0130", "I"))


class _Expressions(NamedTuple):
    unit: re.Pattern[str]
    compatible: re.Pattern[str]
    soundless: re.Pattern[str]


@cache
def _expressions() -> _Expressions:
    """Compiled when the first text needs them."""
    return _Expressions(
        re.compile(
            f"[{_UNSEEN}]+"
            "|[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?"
            "|[\uff66-\uff9d][\uff9e\uff9f]?"
            f"|[{_FULL_WIDTH}][\uff01-\uff5e]*"
            f"|(?s:.)?[{_MARKS}]+"
            f"|[{_COMPATIBLE}]"
        ),
        re.compile(f"[{_FULL_WIDTH}{_COMPATIBLE}]"),
        re.compile(f"[{_UNSEEN}{_MARKS}]"),
    )


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
    """Patterns that are made only where what they compile to is not kept: making thousands takes milliseconds."""

    key: bytes
    """What they are made from: another key means other patterns."""
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
"""How far a match without a greatest length is looked for, in characters: it bounds what a hit costs."""

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
    """Decides where an expression matches."""

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
