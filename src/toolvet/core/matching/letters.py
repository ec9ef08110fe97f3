"""Letters: their variants and scripts, and where a word ends; the data are in `letters.toml`."""

import re
from enum import StrEnum
from functools import cache

import msgspec

from toolvet.core.discover.toml import read_toml


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
