"""Yes, no and not: `polarity.toml`, and which two texts say opposite things by it."""

import re
from functools import cache

import msgspec

from toolvet.core.discover.toml import read_toml

_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
# What French and Italian elide before a vowel: n'est is est, with a not that pas repeats.
_ELIDED = re.compile(r"\b(?:[nldcsjmt]|qu|dell|nell|un)'(?=[^\W\d_])")
_APOSTROPHES = str.maketrans("\u2018\u2019", "''")
# "No doubt", "no problem" and "no, thanks" are not a no: only a word alone decides.
_OPENING = re.compile(r"\W*([^\W\d_]+)\s*(?:[,.!;:\u2013\u2014-]|\Z)")


class Polarity(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words of one language, with pairs that say opposite things and pairs that don't."""

    yes: frozenset[str]
    no: frozenset[str]
    negations: frozenset[str] = msgspec.field(name="not")
    hits: tuple[tuple[str, str], ...]
    misses: tuple[tuple[str, str], ...]


@cache
def polarities() -> dict[str, Polarity]:
    """Every language that `polarity.toml` has."""
    return read_toml("toolvet.core.turn.consistency", "polarity.toml", dict[str, Polarity])


def yes_and_no(one: str, two: str) -> bool:
    """Whether one answer opens with a yes and the other with a no, in the same language."""
    first, second = _opening(one), _opening(two)
    return any(
        (first in words.yes and second in words.no) or (first in words.no and second in words.yes)
        for words in polarities().values()
    )


def one_negated(one: str, two: str) -> bool:
    """Whether two sentences are made of the same words but for a negation in one of them."""
    first, second = _words(one), _words(two)
    for words in polarities().values():
        negated = bool(first & words.negations), bool(second & words.negations)
        if negated[0] != negated[1]:
            # French negates with two words, English with a helper: so a word or two may differ.
            rest = (first ^ second) - words.negations
            shared = first & second
            if len(shared) >= 3 and len(rest) <= len(shared) // 3:
                return True
    return False


def _opening(text: str) -> str:
    match = _OPENING.match(text[:80].lower())
    return match[1] if match else ""


def _words(text: str) -> set[str]:
    return set(_WORD.findall(_ELIDED.sub("", text.lower().translate(_APOSTROPHES))))
