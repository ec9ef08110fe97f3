"""Finds a page of verdicts without looking at all of them: a list behind a URL must not cost what the store is large.

    filter → the index that leads to the fewest candidates → the rest of the filter, checked on some thousands of them

An index condition is the part of a filter that one index answers, so that a page looks at few verdicts of millions.
The answer says what was left out.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol

import msgspec
from sqlalchemy import (
    ARRAY,
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Select,
    any_,
    bindparam,
    func,
    literal_column,
    select,
    true,
)

from toolvet.store.reading import VerdictOrder, conditions, read_places
from toolvet.store.records import EVERYTHING, VerdictFilter, VerdictRecord
from toolvet.store.search import (
    HAS_WORDS,
    SearchedWords,
    block_of,
    is_indexed,
    places_in_blocks,
    places_of_words,
    words_of,
)
from toolvet.store.tables.blocks import BLOCK, VERDICT_BLOCKS
from toolvet.store.tables.rollups import ROLLUPS, WIDTHS
from toolvet.store.tables.verdicts import SIGNALS, VERDICTS

PROBED: Final = 5_000
"""A search with no more candidates than this looks at all of them."""

# How many candidates a page looks at, in these steps.
_STEPS: Final = (1_000, 4_000, 5_000)
_CHUNK: Final = 8_192
_SUMMED: Final = ("kind", "server", "tool", "model", "variant")


class VerdictPage(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the verdicts of a filter, in the order that was asked for.

    `count` is how many there are; at least that many if `is_whole` is False. `has_more` reports that there are more in
    this order. `stopped` is the place at which looking ended before the page was full: the cursor to look further;
    `stopped_at` is when the verdict there happened, in seconds since the epoch.
    """

    verdicts: Sequence[VerdictRecord]
    count: int
    is_whole: bool = True
    has_more: bool = False
    stopped: int | None = None
    stopped_at: float | None = None


def find_page(
    connection: Connection,
    wanted: VerdictFilter = EVERYTHING,
    *,
    limit: int = 50,
    order: VerdictOrder = "newest",
    after: int | None = None,
    before: int | None = None,
    offset: int = 0,
) -> VerdictPage:
    """Return at most `limit` verdicts of a filter, and how many there are.

    `after` and `before` are places, for the orders `newest` and `oldest`; `offset` is for the others.
    """
    if wanted.text is not None and not words_of(wanted.text):
        wanted = msgspec.structs.replace(wanted, text=None)
    asked = _RequestedPart(limit, order, after, before, offset)
    span = _span_of(connection, wanted)
    if span is None:
        return VerdictPage(verdicts=[], count=0)
    walking: tuple[IndexCondition, Candidates] | None = None
    for condition in index_conditions(wanted):
        probed, probe = condition, condition.read(connection, span, PROBED + 1)
        if isinstance(condition, WordsCondition) and not probe.places and probe.reached is None:
            # A word that no verdict has may begin one.
            probed = condition.with_beginning()
            probe = probed.read(connection, span, PROBED + 1)
        if probe.reached is None:
            matching = list(_matching(connection, probe.places, _without(wanted, probed)))
            return _part_of_all(connection, matching, asked)
        if walking is None and probed.can_continue:
            walking = probed, probe
    if walking is None:
        raise AssertionError("the last condition can continue")
    newest = list(_matching(connection, walking[1].places, _without(wanted, walking[0])))
    if order in ("lowest_score", "slowest"):
        return _part_of_worst(connection, wanted, newest, asked)
    return _part_of_many(connection, _PlaceWalk(*walking, _without(wanted, walking[0]), span), newest, asked)


class _RequestedPart(NamedTuple):
    """Which part of the verdicts was asked for."""

    limit: int
    order: VerdictOrder
    after: int | None
    before: int | None
    offset: int


class Candidates(msgspec.Struct, frozen=True):
    """Places in the order of their span. All up to `reached` are there; None: all of the span."""

    places: Sequence[int]
    reached: int | None = None


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


class IndexCondition(Protocol):
    """What finds candidates."""

    @property
    def covers(self) -> frozenset[str]:
        """The members of the filter that hold for all of its candidates."""
        ...

    @property
    def can_continue(self) -> bool:
        """Whether it can go on after its first candidates."""
        ...

    def read(self, connection: Connection, span: PlaceSpan, most: int) -> Candidates:
        """Return the first candidates of a span, at most `most`."""
        ...


class _PlaceWalk(NamedTuple):
    """A way through verdicts that are too many to be looked at whole, what it began with, and what is to be checked."""

    condition: IndexCondition
    probe: Candidates
    rest: VerdictFilter
    span: PlaceSpan


def _part_of_many(
    connection: Connection, walk: _PlaceWalk, newest: Sequence[int], asked: _RequestedPart
) -> VerdictPage:
    most = asked.limit + 1
    if asked.order == "newest" and asked.before is None and asked.after is None and walk.probe.reached is not None:
        # The counted verdicts are already the beginning of the first page.
        found, span = list(newest), walk.span.beyond(walk.probe.reached)
        steps: Sequence[int] = _STEPS[-1:]
    else:
        high = walk.span.high if asked.before is None else min(walk.span.high, asked.before)
        found, steps = [], _STEPS
        span = PlaceSpan(max(walk.span.low, asked.after or 0), high, asked.order == "newest")
    is_over = False
    for step in steps:
        if is_over or len(found) >= most:
            break
        candidates = walk.condition.read(connection, span, max(step, most))
        found += _matching(connection, candidates.places, walk.rest, most - len(found))
        is_over = candidates.reached is None
        span = span if candidates.reached is None else span.beyond(candidates.reached)
    stopped = None if is_over or len(found) >= most else span.high if span.newest else span.low
    stopped_at: float | None = None
    if stopped is not None:
        query = select(VERDICTS.c.at).where(VERDICTS.c.seq >= stopped).order_by(VERDICTS.c.seq).limit(1)
        stopped_at = connection.execute(query).scalar()
    return VerdictPage(
        verdicts=_records(connection, found[: asked.limit]),
        count=len(newest),
        is_whole=False,
        has_more=len(found) >= most,
        stopped=stopped,
        stopped_at=stopped_at,
    )


def _part_of_all(connection: Connection, matching: Sequence[int], asked: _RequestedPart) -> VerdictPage:
    if asked.order in ("newest", "oldest"):
        after, before = asked.after, asked.before
        within = [each for each in matching if (after is None or each > after) and (before is None or each < before)]
        ordered: Sequence[int] = sorted(within, reverse=asked.order == "newest")
    else:
        ordered = _worst_first(connection, matching, asked.order)
    part = ordered[asked.offset : asked.offset + asked.limit]
    return VerdictPage(
        verdicts=_records(connection, part), count=len(matching), has_more=len(ordered) > asked.offset + len(part)
    )


def _part_of_worst(
    connection: Connection, wanted: VerdictFilter, newest: Sequence[int], asked: _RequestedPart
) -> VerdictPage:
    bad: list[int] = []
    if wanted.text is None:
        # The lowest scores below 1, or the longest durations from a second on.
        columns = VERDICTS.c
        query = select(columns.seq).where(columns.score < _ONE).order_by(columns.score, columns.seq)
        if asked.order == "slowest":
            slow = select(columns.seq).where(columns.duration >= _ONE)
            query = slow.order_by(columns.duration.desc(), columns.seq.desc())
        places = [int(place) for place in connection.execute(query.limit(sum(_STEPS))).scalars()]
        bad = list(_matching(connection, places, wanted, asked.offset + asked.limit + 1))
    ordered = _worst_first(connection, list(dict.fromkeys([*bad, *newest])), asked.order)
    part = ordered[asked.offset : asked.offset + asked.limit]
    return VerdictPage(
        verdicts=_records(connection, part),
        count=len(newest),
        is_whole=False,
        has_more=len(ordered) > asked.offset + len(part),
    )


def _worst_first(connection: Connection, places: Sequence[int], order: VerdictOrder) -> Sequence[int]:
    column = VERDICTS.c.score if order == "lowest_score" else VERDICTS.c.duration
    sign = 1 if order == "lowest_score" else -1
    keys: list[tuple[bool, float, int]] = []
    for chunk in _chunks(places):
        query = select(VERDICTS.c.seq, column).where(_among(connection, chunk))
        keys += [(value is None, sign * (value or 0.0), -int(seq)) for seq, value in connection.execute(query)]
    return [-key[2] for key in sorted(keys)]


def _matching(
    connection: Connection, places: Sequence[int], rest: VerdictFilter, most: int | None = None
) -> Iterator[int]:
    if rest == EVERYTHING:
        yield from places[:most]
        return
    count = 0
    for chunk in _chunks(places, 1_024 if most is not None else _CHUNK):
        query = _checking(connection, chunk, rest)
        matching = {int(place) for place in connection.execute(query).scalars()}
        for place in chunk:
            if place in matching:
                yield place
                count += 1
                if count == most:
                    return


def _checking(connection: Connection, places: Sequence[int], rest: VerdictFilter) -> "Select[Any]":
    """Planners do not look through a limit: they fetch these rows by place, and never begin with the conditions."""
    others = msgspec.structs.replace(rest, signal=None)
    names = {"seq", *(column for name, column in _COLUMNS.items() if getattr(rest, name) is not None)}
    if rest.text is not None:
        names |= {"tool", "reason", "text"}
    columns = [VERDICTS.c[name] for name in sorted(names)]
    rows = select(*columns).where(_among(connection, places)).limit(len(places)).subquery()
    query = select(rows.c.seq).where(*conditions(connection, others, rows.c))
    if rest.signal is not None:
        of_type = select(func.count()).where(SIGNALS.c.verdict == rows.c.seq, SIGNALS.c.type == rest.signal)
        query = query.where(of_type.correlate(rows).scalar_subquery() > 0)
    return query


_COLUMNS: Final = {
    **{name: name for name in VerdictFilter.__struct_fields__ if name in VERDICTS.c},
    "escalated": "escalate",
    "min_score": "score",
    "max_score": "score",
    "since": "at",
    "until": "at",
}


def _chunks(places: Sequence[int], size: int = _CHUNK) -> Iterator[Sequence[int]]:
    for start in range(0, len(places), size):
        yield places[start : start + size]


def _among(connection: Connection, places: Sequence[int]) -> ColumnElement[bool]:
    if connection.dialect.name == "postgresql":
        array: Any = bindparam(None, list(places), type_=ARRAY(BigInteger))
        return VERDICTS.c.seq == any_(array)
    given = func.json_each(msgspec.json.encode(places).decode()).table_valued("value")
    return VERDICTS.c.seq.in_(select(given.c.value))


def _without(wanted: VerdictFilter, condition: IndexCondition) -> VerdictFilter:
    return msgspec.structs.replace(wanted, **dict.fromkeys(condition.covers))


def _records(connection: Connection, places: Sequence[int]) -> Sequence[VerdictRecord]:
    by_place = {verdict.seq: verdict for verdict in (read_places(connection, places) if places else [])}
    # The retention may have deleted one since.
    return [by_place[place] for place in places if place in by_place]


def _span_of(connection: Connection, wanted: VerdictFilter) -> PlaceSpan | None:
    since, until = wanted.since, wanted.until
    given = {name: value for name in _SUMMED if (value := getattr(wanted, name)) is not None}
    if given:
        # There are verdicts only on the days of its tool.
        day = max(WIDTHS)
        days = select(func.min(ROLLUPS.c.bucket), func.max(ROLLUPS.c.bucket)).where(
            ROLLUPS.c.width == day, *(ROLLUPS.c[name] == value for name, value in given.items())
        )
        first, last = connection.execute(days).one()
        if first is not None:
            since = max(since or 0.0, float(first))
            until = float(last) + day if until is None else min(until, float(last) + day)
    query = select(func.min(VERDICT_BLOCKS.c.block), func.max(VERDICT_BLOCKS.c.block))
    if since is not None:
        query = query.where(VERDICT_BLOCKS.c.last >= since)
    if until is not None:
        query = query.where(VERDICT_BLOCKS.c.first < until)
    first, last = connection.execute(query).one()
    return None if first is None else PlaceSpan(int(first) * BLOCK - 1, (int(last) + 1) * BLOCK)


# The blocks that are searched for words one after the other on PostgreSQL; after these all that are left.
_BLOCKS: Final = (1, 8, None)
# All words with a beginning are read each time, so less often.
_BLOCKS_OF_BEGINNINGS: Final = (8, None)
# With this many found, the rest is not searched.
_ENOUGH: Final = 1_000
# As it is written in the index of low scores.
_ONE: Final[ColumnElement[int]] = literal_column("1")


@dataclass(frozen=True)
class ColumnCondition:
    """A condition with an index; one that cannot continue finds all of its candidates, or is of no use."""

    covers: frozenset[str]
    condition: ColumnElement[bool]
    place: Column[Any] = VERDICTS.c.seq
    sorted_by: Column[Any] | None = None
    can_continue: bool = True

    def read(self, connection: Connection, span: PlaceSpan, most: int) -> Candidates:
        """Return the first candidates of a span, at most `most`."""
        query = select(self.place).where(self.condition).limit(most)
        if self.can_continue:
            order = self.place.desc() if span.newest else self.place.asc()
            query = query.where(self.place > span.low, self.place < span.high).order_by(order)
        elif self.sorted_by is not None:
            query = query.order_by(self.sorted_by)
        read = [int(place) for place in connection.execute(query).scalars()]
        # A verdict may have two signals of one type.
        places = list(dict.fromkeys(read))
        if not self.can_continue:
            places = sorted((each for each in places if span.low < each < span.high), reverse=span.newest)
        return Candidates(places, None if len(read) < most else read[-1])


@dataclass(frozen=True)
class WordsCondition:
    """Words that the index of words knows."""

    words: SearchedWords
    covers: frozenset[str] = frozenset({"text"})
    can_continue: bool = True

    def with_beginning(self) -> "WordsCondition":
        """Return the same with the last word as the beginning of one."""
        return WordsCondition(SearchedWords(self.words.words, has_beginning=True))

    def read(self, connection: Connection, span: PlaceSpan, most: int) -> Candidates:
        """Return the first candidates of a span, at most `most`."""
        if connection.dialect.name == "postgresql":
            return self._in_blocks(connection, span, most)
        places = places_of_words(connection, self.words, span.low, span.high, most, newest=span.newest)
        return Candidates(places, None if len(places) < most else places[-1])

    def _in_blocks(self, connection: Connection, span: PlaceSpan, most: int) -> Candidates:
        """Search the first blocks, then more, then all: an index without an order is asked for what it can bear."""
        found: list[int] = []
        rest = span
        for count in _BLOCKS_OF_BEGINNINGS if self.words.has_beginning else _BLOCKS:
            blocks = None
            if count is not None:
                # Those that the first places of the rest are in.
                oldest, latest = block_of(rest.low + 1), block_of(rest.high - 1)
                if span.newest:
                    blocks = range(max(oldest, latest - count + 1), latest + 1)
                else:
                    blocks = range(oldest, min(latest + 1, oldest + count))
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


def index_conditions(wanted: VerdictFilter) -> Sequence[IndexCondition]:
    """Return the leads of a filter, those that probably find least first; the last one finds all verdicts."""
    if wanted.text is not None and (words := words_of(wanted.text)):
        # Only beside each other: nothing else knows words, except by reading the texts.
        return (
            [WordsCondition(SearchedWords(words))] if is_indexed(words) else [ColumnCondition(frozenset(), HAS_WORDS)]
        )
    return [*_column_conditions(wanted), ColumnCondition(frozenset(), true())]


def _column_conditions(wanted: VerdictFilter) -> Iterator[IndexCondition]:
    columns = VERDICTS.c
    for name in ("trace", "conversation"):
        if getattr(wanted, name) is not None:
            yield _equal_to(wanted, name, can_continue=False)
    of_tool = (columns.server == wanted.server) & (columns.tool == wanted.tool)
    has_tool = wanted.server is not None and wanted.tool is not None
    if wanted.failed and has_tool:
        yield ColumnCondition(frozenset({"failed", "server", "tool"}), columns.failed.is_(True) & of_tool)
    if wanted.signal is not None:
        yield ColumnCondition(frozenset({"signal"}), SIGNALS.c.type == wanted.signal, SIGNALS.c.verdict)
    if wanted.state is not None:
        yield _equal_to(wanted, "state")
    if wanted.blocked:
        yield ColumnCondition(frozenset({"blocked"}), columns.blocked.is_not(None))
    if wanted.variant is not None:
        yield _equal_to(wanted, "variant")
    if wanted.escalated:
        yield ColumnCondition(frozenset({"escalated"}), columns.escalate.is_(True))
    if wanted.max_score is not None and wanted.max_score < 1:
        # `< 1` is what the index is for.
        low = (columns.score <= wanted.max_score) & (columns.score < _ONE)
        yield ColumnCondition(frozenset({"max_score"}), low, sorted_by=columns.score, can_continue=False)
    if wanted.failed:
        yield ColumnCondition(frozenset({"failed"}), columns.failed.is_(True))
    if has_tool:
        yield ColumnCondition(frozenset({"server", "tool"}), of_tool)
    if wanted.model is not None:
        yield _equal_to(wanted, "model")
    if wanted.since is not None or wanted.until is not None:
        since = columns.at >= wanted.since if wanted.since is not None else true()
        until = columns.at < wanted.until if wanted.until is not None else true()
        yield ColumnCondition(frozenset({"since", "until"}), since & until, sorted_by=columns.at, can_continue=False)
    if wanted.server is not None and not has_tool:
        yield ColumnCondition(frozenset({"server"}), columns.server == wanted.server, can_continue=False)
    for name in ("outcome", "kind"):
        if getattr(wanted, name) is not None:
            yield _equal_to(wanted, name)


def _equal_to(wanted: VerdictFilter, name: str, *, can_continue: bool = True) -> ColumnCondition:
    return ColumnCondition(frozenset({name}), VERDICTS.c[name] == getattr(wanted, name), can_continue=can_continue)
