"""`Pattern`, a phrase to look for, and `Hit`, a place where it was found."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import msgspec

from toolvet.core.matching.unsafe import UnsafePattern


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
    scan may be told to keep to the `scope`.
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
