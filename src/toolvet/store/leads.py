"""Leads: the parts of a filter that one index answers, so that a page looks at few verdicts of millions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import msgspec
from sqlalchemy import Column, ColumnElement, Connection, literal_column, select, true

from toolvet.store.records import VerdictFilter
from toolvet.store.search import (
    HAS_WORDS,
    SearchedWords,
    block_of,
    is_indexed,
    places_in_blocks,
    places_of_words,
    words_of,
)
from toolvet.store.tables.blocks import BLOCK
from toolvet.store.tables.verdicts import SIGNALS, VERDICTS

# The blocks that are searched for words one after the other on PostgreSQL; after these all that are left.
_BLOCKS: Final = (1, 8, None)
# All words with a beginning are read each time, so less often.
_BLOCKS_OF_BEGINNINGS: Final = (8, None)
# With so many found, the rest is not searched.
_ENOUGH: Final = 1_000
# As it stands in the index of low scores.
_ONE: Final[ColumnElement[int]] = literal_column("1")


class PlaceSpan(msgspec.Struct, frozen=True):
    """The places between `low` and `high`, both excluded, from the newest down or from the oldest up."""

    low: int
    high: int
    newest: bool = True

    def beyond(self, place: int) -> "PlaceSpan":
        """Return what is left after this place."""
        if self.newest:
            return PlaceSpan(self.low, min(place, self.high))
        return PlaceSpan(max(place, self.low), self.high, newest=False)


class Candidates(msgspec.Struct, frozen=True):
    """Places in the order of their span. All up to `reached` are there; None: all of the span."""

    places: Sequence[int]
    reached: int | None = None


class Lead(Protocol):
    """What finds candidates."""

    @property
    def settles(self) -> frozenset[str]:
        """The members of the filter that hold for all of its candidates."""
        ...

    @property
    def walks(self) -> bool:
        """Whether it can go on after its first candidates."""
        ...

    def read(self, connection: Connection, span: PlaceSpan, most: int) -> Candidates:
        """Return the first candidates of a span, at most so many."""
        ...


@dataclass(frozen=True)
class IndexLead:
    """A condition with an index; one that does not walk finds all of its candidates, or is of no use."""

    settles: frozenset[str]
    condition: ColumnElement[bool]
    place: Column[Any] = VERDICTS.c.seq
    sorted_by: Column[Any] | None = None
    walks: bool = True

    def read(self, connection: Connection, span: PlaceSpan, most: int) -> Candidates:
        """Return the first candidates of a span, at most so many."""
        query = select(self.place).where(self.condition).limit(most)
        if self.walks:
            order = self.place.desc() if span.newest else self.place.asc()
            query = query.where(self.place > span.low, self.place < span.high).order_by(order)
        elif self.sorted_by is not None:
            query = query.order_by(self.sorted_by)
        read = [int(place) for place in connection.execute(query).scalars()]
        # A verdict may have two signals of one type.
        places = list(dict.fromkeys(read))
        if not self.walks:
            places = sorted((each for each in places if span.low < each < span.high), reverse=span.newest)
        return Candidates(places, None if len(read) < most else read[-1])


@dataclass(frozen=True)
class WordsLead:
    """Words that the index of words knows."""

    words: SearchedWords
    settles: frozenset[str] = frozenset({"text"})
    walks: bool = True

    def with_beginning(self) -> "WordsLead":
        """Return the same with the last word as the beginning of one."""
        return WordsLead(SearchedWords(self.words.words, has_beginning=True))

    def read(self, connection: Connection, span: PlaceSpan, most: int) -> Candidates:
        """Return the first candidates of a span, at most so many."""
        if connection.dialect.name == "postgresql":
            return self._in_blocks(connection, span, most)
        places = places_of_words(connection, self.words, span.low, span.high, most, newest=span.newest)
        return Candidates(places, None if len(places) < most else places[-1])

    def _in_blocks(self, connection: Connection, span: PlaceSpan, most: int) -> Candidates:
        """Search the first blocks, then more, then all: an index without an order is asked for what it can bear."""
        found: list[int] = []
        rest = span
        for count in _BLOCKS_OF_BEGINNINGS if self.words.has_beginning else _BLOCKS:
            blocks = None if count is None else _first_blocks(rest, count)
            places = places_in_blocks(connection, self.words, blocks, max(most, BLOCK))
            if places is None:
                return Candidates(found, rest.high if span.newest else rest.low)
            found += sorted((each for each in places if rest.low < each < rest.high), reverse=span.newest)
            if blocks is None:
                break
            rest = rest.beyond(blocks.start * BLOCK if span.newest else blocks.stop * BLOCK - 1)
            if rest.high - rest.low <= 1:
                break
            if len(found) >= (1 if self.words.has_beginning else min(most, _ENOUGH)):
                return Candidates(found, rest.high if span.newest else rest.low)
        return Candidates(found)


def _first_blocks(span: PlaceSpan, count: int) -> range:
    """Return the blocks that the first places of a span are in."""
    if span.newest:
        last = block_of(span.high - 1)
        return range(max(block_of(span.low + 1), last - count + 1), last + 1)
    first = block_of(span.low + 1)
    return range(first, min(block_of(span.high - 1) + 1, first + count))


def leads_of(wanted: VerdictFilter) -> Sequence[Lead]:
    """Return the leads of a filter, those that probably find least first; the last one finds all verdicts."""
    if wanted.text is not None and (words := words_of(wanted.text)):
        # Only beside each other: nothing else knows words, except by reading the texts.
        return [WordsLead(SearchedWords(words))] if is_indexed(words) else [IndexLead(frozenset(), HAS_WORDS)]
    return [*_leads(wanted), IndexLead(frozenset(), true())]


def _leads(wanted: VerdictFilter) -> Iterator[Lead]:
    columns = VERDICTS.c
    for name in ("trace", "conversation"):
        if getattr(wanted, name) is not None:
            yield _equal(wanted, name, walks=False)
    of_tool = (columns.server == wanted.server) & (columns.tool == wanted.tool)
    has_tool = wanted.server is not None and wanted.tool is not None
    if wanted.failed and has_tool:
        yield IndexLead(frozenset({"failed", "server", "tool"}), columns.failed.is_(True) & of_tool)
    if wanted.signal is not None:
        yield IndexLead(frozenset({"signal"}), SIGNALS.c.type == wanted.signal, SIGNALS.c.verdict)
    if wanted.state is not None:
        yield _equal(wanted, "state")
    if wanted.blocked:
        yield IndexLead(frozenset({"blocked"}), columns.blocked.is_not(None))
    if wanted.variant is not None:
        yield _equal(wanted, "variant")
    if wanted.escalated:
        yield IndexLead(frozenset({"escalated"}), columns.escalate.is_(True))
    if wanted.max_score is not None and wanted.max_score < 1:
        # `< 1` is what the index is for.
        low = (columns.score <= wanted.max_score) & (columns.score < _ONE)
        yield IndexLead(frozenset({"max_score"}), low, sorted_by=columns.score, walks=False)
    if wanted.failed:
        yield IndexLead(frozenset({"failed"}), columns.failed.is_(True))
    if has_tool:
        yield IndexLead(frozenset({"server", "tool"}), of_tool)
    if wanted.model is not None:
        yield _equal(wanted, "model")
    if wanted.since is not None or wanted.until is not None:
        since = columns.at >= wanted.since if wanted.since is not None else true()
        until = columns.at < wanted.until if wanted.until is not None else true()
        yield IndexLead(frozenset({"since", "until"}), since & until, sorted_by=columns.at, walks=False)
    if wanted.server is not None and not has_tool:
        yield IndexLead(frozenset({"server"}), columns.server == wanted.server, walks=False)
    for name in ("outcome", "kind"):
        if getattr(wanted, name) is not None:
            yield _equal(wanted, name)


def _equal(wanted: VerdictFilter, name: str, *, walks: bool = True) -> IndexLead:
    return IndexLead(frozenset({name}), VERDICTS.c[name] == getattr(wanted, name), walks=walks)
