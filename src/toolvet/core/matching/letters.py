"""Letters: their variants and scripts, and where a word ends; the data are in `letters.toml`.

`normalize_text` returns a text as patterns read it, and the way back to positions in the original. It changes three
kinds of characters:

- Common look-alikes (curly apostrophes, no-break spaces) are replaced one for one, by `as_ascii`.
- Letters in two parts are put together by NFC (e and U+0301, Hangul in jamo). Accents that no letter takes up (stress
  marks of Russian), Hebrew points and Arabic vowel marks are dropped.
- Compatibility forms (full-width letters, half-width katakana, ligatures, mathematical letters, Arabic presentation
  forms) are replaced by their meaning. Invisible characters (zero-width, soft hyphen, direction marks, tatweel) are
  dropped.

The last two are rare: `RARE` is one class for an engine to look for in the same pass, and `normalize_text` runs if it
matched.
"""

import re
from bisect import bisect_right
from enum import StrEnum
from functools import cache
from typing import NamedTuple
from unicodedata import normalize

import msgspec

from toolvet.core.discover.toml import read_toml


class Script(StrEnum):
    r"""The kind of a character for `\b`: a border is between two different kinds, and beside every unspaced one."""

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
    """Return the text with rare characters normalized, and the way back. In linear time."""
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
