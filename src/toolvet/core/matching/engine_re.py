"""`ReEngine`, the slow twin: the standard library's `re`, one pattern after the other.

It says what is right, and serves where Hyperscan has no wheel or its databases are not there yet. Of a large set few
patterns are asked: those of whose needed words (`anchor.needed_words`) the text has one.
"""

import re
from collections.abc import Sequence
from typing import Protocol

from toolvet.core.matching.letters import RARE, OffsetMap, as_ascii, normalize_text
from toolvet.core.matching.pattern import Finder, HitScope, PlacedBefore, Translation, finder

_RARE = re.compile(RARE)


class Translations(Protocol):
    """A list of translations, or what reads them when they are asked for."""

    def __len__(self) -> int:
        """How many there are."""
        ...

    def __getitem__(self, number: int, /) -> Translation:
        """The translation of this number, from 0."""
        ...


class ReEngine:
    """Finds expressions with `re`."""

    def __init__(self, expressions: Translations) -> None:
        self._expressions = expressions
        self._finders: dict[int, Finder] = {}
        self._asked_by: dict[str, list[int]] = {}
        self._always: list[int] = []
        for number in range(len(expressions)):
            words = expressions[number].words
            for word in words:
                self._asked_by.setdefault(word, []).append(number)
            if not words:
                self._always.append(number)

    def prepare(self) -> None:
        """Compile every expression; raises `UnsafePattern` for one that `re` cannot run."""
        for number in range(len(self._expressions)):
            self._finder(number)

    def find(
        self,
        text: str,
        only: frozenset[int] | None = None,
        most: int | None = None,
        scopes: Sequence[HitScope | None] | None = None,
        placed: PlacedBefore | None = None,
    ) -> list[tuple[int, int, int]]:
        """Every match, or the first `most` of each pattern, in characters; those out of scope, too."""
        del scopes, placed
        # A lone surrogate is not a character; the other engine reads it as a question mark, too.
        text = as_ascii(text.encode("utf-8", "replace").decode("utf-8"))
        places: OffsetMap | None = None
        if _RARE.search(text) is not None:
            text, places = normalize_text(text)
        found: list[tuple[int, int, int]] = []
        lowered = text.lower()
        asked = {number for word, numbers in self._asked_by.items() if word in lowered for number in numbers}
        for index in asked.union(self._always):
            if only is not None and index not in only:
                continue
            pattern, spans = self._finder(index), self._expressions[index].spans
            reached = count = 0
            while count != most and (match := pattern.search(text, reached, len(text))) is not None:
                start, end = match
                reached = end
                count += 1
                if places is not None:
                    start, end = places.start(start), places.end(end)
                found.append((index, start if spans else end, end))
                if not spans:
                    break
        return found

    def _finder(self, number: int) -> Finder:
        known = self._finders.get(number)
        if known is None:
            known = self._finders[number] = finder(self._expressions[number])
        return known
