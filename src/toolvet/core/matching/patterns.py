"""`PatternSet`: finds many phrases in one pass, with the same answer from either engine.

`RowScan` says where patterns may match in many ASCII texts at once, one after the other in one buffer.

One pass over a buffer of short texts costs a third of a pass over each text. It finds only where a match may be;
`place` then checks the row alone. Nothing is missed, because two texts have `SEPARATOR` between them. There the border
of a word is the same as at the end of a text.
"""

import re
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, cast

from toolvet.core.matching.index import Expression, PatternIndex, index_made_from, index_of
from toolvet.core.matching.pattern import Hit, HitScope, LazyPatterns, Pattern, PlacedBefore

if TYPE_CHECKING:
    from toolvet.core.matching.engine_hyperscan import CompiledSet, HyperscanEngine, Scanned

_BY_PLACE = itemgetter(1, 2, 0)


class Engine(Protocol):
    """Finds expressions in a text, as (index, start, end) per match, in characters."""

    def find(
        self,
        text: str,
        only: frozenset[int] | None = None,
        most: int | None = None,
        scopes: Sequence[HitScope | None] | None = None,
        placed: PlacedBefore | None = None,
    ) -> list[tuple[int, int, int]]:
        """Every match of every expression, or of those in `only`, in any order; with `most`, only the first of each.

        `scopes` has one scope for each expression, and matches outside of it may be left out. `placed` holds the
        findings of earlier scans of the same text, and grows.
        """
        ...

    def prepare(self) -> None:
        """Make ready all that some text may need."""
        ...


class PatternSet:
    r"""Many patterns that are looked for together; immutable, and safe to use from several threads.

    Raises `UnsafePattern` for a pattern that cannot be matched in linear time. A large set is compiled once, by a
    process of its own where that can be started, and kept in the user's private cache; until then a slower engine finds
    the same. `is_kept` says whether a small set is kept, too. Still, build a set when it is first used, not at import.

    Example:
        >>> PatternSet([Pattern("wish", r"\bneeds? a café\b")]).scan("She NEEDS a CAFÉ.")
        [Hit(id='wish', start=4, end=16)]
    """

    def __init__(self, patterns: Iterable[Pattern] | LazyPatterns, *, is_kept: bool | None = None) -> None:
        self._only: frozenset[int] | None = None
        if isinstance(patterns, LazyPatterns):
            self._source: LazyPatterns | None = patterns
            self._ids, self._scopes = patterns.ids, patterns.scopes
            make = patterns.make
            self._engine = _engine_of(index_made_from(patterns.key, lambda: _expressions(make())))
            return
        self._source = None
        self._patterns = tuple(patterns)
        self._ids = tuple(pattern.id for pattern in self._patterns)
        self._scopes = tuple(pattern.scope for pattern in self._patterns)
        self._engine = _engine(_expressions(self._patterns), is_kept=is_kept)

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """The patterns, in order."""
        return self._patterns if self._source is None else tuple(self._source.make())

    def __reduce__(self) -> tuple[object, ...]:
        # An engine neither pickles nor copies: it is made again, for large sets from the cache.
        return PatternSet, (self.patterns,), {"_only": self._only}

    def only(self, ids: Iterable[str]) -> "PatternSet":
        """Return the same set, restricted to the patterns with these ids; it shares the compiled databases.

        Raises `KeyError` for an id that is not in the set.
        """
        index = {identifier: number for number, identifier in enumerate(self._ids)}
        # `copy` would use `__reduce__`, and compile another set.
        chosen = object.__new__(PatternSet)
        vars(chosen).update(vars(self), _only=frozenset(index[identifier] for identifier in ids))
        return chosen

    def prepare(self) -> None:
        """Compile the parts that the cache lacks now. Otherwise a scan compiles them when a text needs them."""
        self._engine.prepare()

    def scan(
        self, text: str, most: int | None = None, *, in_scope: bool = False, placed: PlacedBefore | None = None
    ) -> list[Hit]:
        """Return every hit in `text`, sorted by start, then end; hits of one pattern do not overlap.

        With `most`, only the first hits of each pattern are searched. With `in_scope`, hits outside the scope of their
        pattern may be left out, which avoids the search for their start; hits inside are the same. For a growing text,
        a scan can receive the findings of earlier scans as `placed`, by the words that they read.
        """
        return self.hits(self._engine.find(text, self._only, most, self._scopes if in_scope else None, placed))

    def hits(self, found: list[tuple[int, int, int]]) -> list[Hit]:
        """Return what an engine found, (index, start, end) per match, as sorted hits."""
        if not found:
            return []
        if len(found) > 1:
            found.sort(key=_BY_PLACE)
        ids = self._ids
        return [Hit(ids[index], start, end) for index, start, end in found]


class _NoEngine:
    """Finds nothing, for no patterns."""

    def find(
        self,
        text: str,
        only: frozenset[int] | None = None,
        most: int | None = None,
        scopes: Sequence[HitScope | None] | None = None,
        placed: PlacedBefore | None = None,
    ) -> list[tuple[int, int, int]]:
        """Nothing."""
        del text, only, most, scopes, placed
        return []

    def prepare(self) -> None:
        """Nothing."""


class _WaitingEngine:
    """The slow engine, until the databases of the fast one are there."""

    def __init__(self, index: PatternIndex, compiled: "CompiledSet") -> None:
        from toolvet.core.matching.engine_re import ReEngine  # noqa: PLC0415 - see `_engine_of`

        self._compiled = compiled
        self._engine: Engine = ReEngine(index)
        self._is_fast = False

    def find(
        self,
        text: str,
        only: frozenset[int] | None = None,
        most: int | None = None,
        scopes: Sequence[HitScope | None] | None = None,
        placed: PlacedBefore | None = None,
    ) -> list[tuple[int, int, int]]:
        """As of `Engine`; both engines find the same."""
        if not self._is_fast and self._compiled.is_ready():
            from toolvet.core.matching.engine_hyperscan import HyperscanEngine  # noqa: PLC0415 - see `_engine_of`

            self._engine, self._is_fast = HyperscanEngine(self._compiled), True
        return self._engine.find(text, only, most, scopes, placed)

    def prepare(self) -> None:
        """Compile the databases."""
        self._compiled.prepare()


def _expressions(patterns: Iterable[Pattern]) -> list[Expression]:
    return [(pattern.regex, int(pattern.flags), pattern.spans) for pattern in patterns]


def _engine(patterns: list[Expression], *, is_kept: bool | None) -> Engine:
    return _engine_of(index_of(patterns, is_kept=is_kept)) if patterns else _NoEngine()


def _engine_of(index: PatternIndex) -> Engine:
    try:
        # Imported by the first scan only (13 ms); and some platforms have no wheel.
        from toolvet.core.matching.engine_hyperscan import CompiledSet, HyperscanEngine  # noqa: PLC0415
    except ImportError:
        from toolvet.core.matching.engine_re import ReEngine  # noqa: PLC0415 - as above

        engine = ReEngine(index)
        if not index.key:
            # A caller's own patterns: they are refused when the set is built, not when a text is scanned.
            engine.prepare()
        return engine
    compiled = CompiledSet(index)
    return HyperscanEngine(compiled) if compiled.is_kept() else _WaitingEngine(index, compiled)


SEPARATOR: Final = b"\n"
"""The separator that two texts in a buffer need between them."""
# What Hyperscan finds only at the edge of a whole buffer.
_EDGES: Final = re.compile(r"(?:[^\\]|\A)(?:\\\\)*(?:\^|\$|\\[AzZ])")
_CLASS: Final = re.compile(r"\[(?:\\.|[^\]\\])*\]")


class Reach(NamedTuple):
    """Where in a text of a given length a pattern may match: see `HitScope`. `width` is its longest match."""

    scope: HitScope | None
    width: int | None


class RowScan:
    """A set of patterns that is looked for in whole buffers.

    Raises ValueError for a set that cannot be: where Hyperscan is not there, or a pattern asks for the beginning or the
    end of a text.
    """

    def __init__(self, patterns: PatternSet) -> None:
        self._patterns = patterns
        engine: object = getattr(patterns, "_engine")  # noqa: B009 - what a set is made of belongs to this room
        compiled: object = getattr(engine, "_compiled", None)
        if compiled is None:
            raise ValueError("no engine that reads buffers")
        if not cast("CompiledSet", compiled).is_kept():
            # A database is loaded when a text needs it. Only if none exists yet, all are made first.
            patterns.prepare()
        patterns.scan("")  # The engine becomes the fast one with the first text.
        engine = getattr(engine, "_engine", engine)
        self._engine = cast("HyperscanEngine", engine)
        self._compiled = self._engine._compiled  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        self.only = cast("frozenset[int] | None", getattr(patterns, "_only"))  # noqa: B009 - as above
        self._scopes = cast("Sequence[HitScope | None]", getattr(patterns, "_scopes"))  # noqa: B009 - as above
        expressions = [self._compiled.expression(number) for number in range(len(patterns.patterns))]
        if any(_EDGES.search(_CLASS.sub("", each.hyperscan)) for each in expressions):
            raise ValueError("a pattern asks for the edge of a text")
        self.reach = [Reach(scope, each.width) for scope, each in zip(self._scopes, expressions, strict=True)]

    def scan(self, buffer: bytes) -> dict[int, list[int]]:
        """Return where matches may end, by the number of the pattern, in ASCII texts that `SEPARATOR` divides."""
        ends = self._engine._ends(buffer)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        return ends if self.only is None else {number: ends[number] for number in ends if number in self.only}

    def scan_one(self, text: str) -> object | None:
        """Scan a text by itself, and return what `place` asks for; None if nothing is there."""
        return self._engine.scan(text)

    def found_in(self, text: str, ends: dict[int, list[int]]) -> object | None:
        """Return the argument for `place` for one ASCII text of a buffer, from the places where matches may end.

        A match that began in the text before does not count, and usually changes nothing. But if a pattern has no
        greatest length, such an end moves the search window of others. Then the method returns None, and the caller
        must scan that text alone.
        """
        if any(self.reach[number].width is None for number in ends):
            return None
        from toolvet.core.matching.engine_hyperscan import scanned_in_ascii  # noqa: PLC0415 - loaded where there is one

        return scanned_in_ascii(text, ends)

    def place(self, scanned: object, most: int | None = None) -> list[Hit]:
        """Return the hits in a text that was scanned, those of the whole text.

        As in a scan of the whole text, those outside of the scope of their pattern may be left out.
        """
        return self._patterns.hits(self._engine.place(cast("Scanned", scanned), self.only, most, self._scopes))
