"""`PatternSet`: finds many phrases in one pass, with the same answer from either engine."""

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Protocol

from toolvet.core.matching.index import Expression, PatternIndex, index_made_from, index_of
from toolvet.core.matching.pattern import Hit, HitScope, LazyPatterns, Pattern, PlacedBefore

if TYPE_CHECKING:
    from toolvet.core.matching.compiled import CompiledSet

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
        """Every match of every expression, or of those in `only`, in any order; `most`: so many of each, the first.

        With `scopes`, one for each expression, matches outside of them may be left out. `placed` is what scans of the
        same text before found, and grows.
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
        # An engine neither pickles nor copies: it is made anew, for large sets from the cache.
        return PatternSet, (self.patterns,), {"_only": self._only}

    def only(self, ids: Iterable[str]) -> "PatternSet":
        """Return the same set, restricted to the patterns with these ids; it shares the compiled databases.

        Raises `KeyError` for an id that is not in the set.
        """
        from copy import copy  # noqa: PLC0415 - a check in all languages needs none

        index = {identifier: number for number, identifier in enumerate(self._ids)}
        chosen = copy(self)
        chosen._only = frozenset(index[identifier] for identifier in ids)  # noqa: SLF001 - a copy of ourselves
        return chosen

    def prepare(self) -> None:
        """Compile what is missing in the cache, here and now: what scans otherwise do when a text needs it."""
        self._engine.prepare()

    def scan(
        self, text: str, most: int | None = None, *, in_scope: bool = False, placed: PlacedBefore | None = None
    ) -> list[Hit]:
        """Return every hit in `text`, sorted by start, then end; hits of one pattern do not overlap.

        With `most`, only so many hits of each pattern are looked for, the first. With `in_scope`, hits outside of the
        scope of their pattern may be left out, which spares the search for where they begin; those inside are the same.
        Of a text that grows, a scan may be given what the scans before it have `placed`, by the words that they read.
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
        from toolvet.core.matching.compiled import CompiledSet  # noqa: PLC0415
        from toolvet.core.matching.engine_hyperscan import HyperscanEngine  # noqa: PLC0415
    except ImportError:
        from toolvet.core.matching.engine_re import ReEngine  # noqa: PLC0415 - as above

        engine = ReEngine(index)
        if not index.key:
            # A caller's own patterns: they are refused when the set is built, not when a text is scanned.
            engine.prepare()
        return engine
    compiled = CompiledSet(index)
    return HyperscanEngine(compiled) if compiled.is_kept() else _WaitingEngine(index, compiled)
