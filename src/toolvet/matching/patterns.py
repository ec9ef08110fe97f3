"""`PatternSet`: many phrases, one pass, the same answer from either engine."""

import re
from collections.abc import Iterable
from copy import copy
from operator import itemgetter
from typing import Protocol

from toolvet.matching.pattern import Hit, Pattern

_BY_PLACE = itemgetter(1, 2, 0)


class Engine(Protocol):
    """What finds the expressions in a text: (index, start, end) per match, in characters."""

    def find(self, text: str, only: frozenset[int] | None = None) -> list[tuple[int, int, int]]:
        """Every match of every expression, or of those in `only`, in any order."""
        ...


class PatternSet:
    """Many patterns that are looked for together; immutable, and safe to use from several threads.

    Raises `UnsafePattern` for a pattern that cannot be matched in linear time. A large set is compiled once and kept
    in the user's private cache for the next process; still, who builds one builds it at its first use.
    """

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self.patterns: tuple[Pattern, ...] = tuple(patterns)
        self._ids = tuple(pattern.id for pattern in self.patterns)
        self._engine = _engine([(pattern.regex, int(pattern.flags), pattern.spans) for pattern in self.patterns])
        self._only: frozenset[int] | None = None

    def only(self, ids: Iterable[str]) -> "PatternSet":
        """The same set, finding only the patterns with these ids: it shares what is compiled, so it costs nothing.

        Raises `KeyError` for an id that is not in the set.
        """
        index = {identifier: number for number, identifier in enumerate(self._ids)}
        chosen = copy(self)
        chosen._only = frozenset(index[identifier] for identifier in ids)  # noqa: SLF001 - a copy of ourselves
        return chosen

    def scan(self, text: str) -> list[Hit]:
        """Every hit in `text`, sorted by start, then end; hits of one pattern do not overlap."""
        found = self._engine.find(text, self._only)
        if not found:
            return []
        if len(found) > 1:
            found.sort(key=_BY_PLACE)
        ids = self._ids
        return [Hit(ids[index], start, end) for index, start, end in found]


class _NoEngine:
    """Finds nothing, for no patterns."""

    def find(self, text: str, only: frozenset[int] | None = None) -> list[tuple[int, int, int]]:
        """Nothing."""
        del text, only
        return []


def _engine(patterns: list[tuple[str, int, bool]]) -> Engine:
    try:
        # Only who scans pays for the import (13 ms), and some platforms have no wheel.
        from toolvet.matching.compiled import CompiledSet  # noqa: PLC0415
        from toolvet.matching.engine_hyperscan import HyperscanEngine  # noqa: PLC0415
    except ImportError:
        # Only who has no Hyperscan pays for the translation, which the cache keeps for the others.
        from toolvet.matching.dialect import translate  # noqa: PLC0415
        from toolvet.matching.engine_re import ReEngine  # noqa: PLC0415

        return ReEngine([translate(regex, re.RegexFlag(flags), spans=spans) for regex, flags, spans in patterns])
    return HyperscanEngine(CompiledSet(patterns)) if patterns else _NoEngine()
