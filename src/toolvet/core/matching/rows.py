"""`RowScan`: where patterns may match in many ASCII texts at once, which stand one behind the other in one buffer.

One pass over a buffer of short texts costs a third of a pass over each. What it finds is only that a match may be
there: whether it is, `place` says of the row alone. Nothing is missed, because between two texts stands
`SEPARATOR`, at which the border of a word is where it is at the end of a text.
"""

import re
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, cast

from toolvet.core.matching.pattern import Hit, HitScope
from toolvet.core.matching.patterns import PatternSet

if TYPE_CHECKING:
    from collections.abc import Sequence

SEPARATOR: Final = b"\n"
"""What has to stand between two texts."""
# What Hyperscan finds only at the edge of a whole buffer.
_EDGES: Final = re.compile(r"(?:[^\\]|\A)(?:\\\\)*(?:\^|\$|\\[AzZ])")
_CLASS: Final = re.compile(r"\[(?:\\.|[^\]\\])*\]")


class Reach(NamedTuple):
    """Where in a text of so many characters a pattern may match: see `HitScope`, and `width` is its longest match."""

    scope: HitScope | None
    width: int | None


class _Expression(Protocol):
    @property
    def hyperscan(self) -> str: ...
    @property
    def width(self) -> int | None: ...


class _Compiled(Protocol):
    def expression(self, number: int, /) -> _Expression: ...
    def is_kept(self) -> bool: ...


class _BufferEngine(Protocol):
    """The engine of Hyperscan, as far as it is used here."""

    _compiled: _Compiled

    def _ends(self, data: bytes) -> dict[int, list[int]]: ...
    def scan(self, text: str, /) -> object: ...
    def place(
        self, scanned: object, only: frozenset[int] | None, most: int | None, scopes: "Sequence[HitScope | None]", /
    ) -> list[tuple[int, int, int]]: ...


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
        if not cast("_Compiled", compiled).is_kept():
            # A database is loaded when a text needs it; only where there is none yet all are made first.
            patterns.prepare()
        patterns.scan("")  # The engine becomes the fast one with the first text.
        engine = getattr(engine, "_engine", engine)
        self._engine = cast("_BufferEngine", engine)
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
        """Return what `place` asks for, of an ASCII text of a buffer, seen where in it matches may end.

        A match that began in the text before is none, and moves nothing; but where a pattern has no greatest length,
        such an end moves the window in which others are looked for: that text has to be scanned by itself, and None is
        returned.
        """
        if any(self.reach[number].width is None for number in ends):
            return None
        from toolvet.core.matching.engine_hyperscan import scanned_in_ascii  # noqa: PLC0415 - loaded where there is one

        return scanned_in_ascii(text, ends)

    def place(self, scanned: object, most: int | None = None) -> list[Hit]:
        """Return the hits in a text that was scanned, those of the whole text.

        As in a scan of the whole text, those outside of the scope of their pattern may be left out.
        """
        return self._patterns.hits(self._engine.place(scanned, self.only, most, self._scopes))
