"""Pages of a store that is too large to be looked at whole: nothing is lost, and little is read."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, get_args

import msgspec
import pytest
from sqlalchemy import Engine, event, text

from toolvet.store import Store, VerdictFilter, verdict_page
from toolvet.store.database import open_engine
from toolvet.store.inserting import insert_records
from toolvet.store.reading import VerdictOrder
from toolvet.store.records import SignalRecord, VerdictRecord
from toolvet.store.search import SearchedWords, places_in_blocks
from toolvet.store.tables import blocks
from toolvet.store.tables.blocks import BLOCK
from toolvet.store.tables.verdicts import VERDICTS
from toolvet.store.verdict_page import VerdictPage, find_page

DAY = 86_400
COUNT = 400


@pytest.fixture
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that a small store exceeds."""
    monkeypatch.setattr(verdict_page, "PROBED", 20)
    monkeypatch.setattr(verdict_page, "_STEPS", (10, 15))
    monkeypatch.setattr(verdict_page, "_CHUNK", 7)
    monkeypatch.setattr(verdict_page, "_ENOUGH", 5)


def verdict(number: int) -> VerdictRecord:
    draw = random.Random(number)  # noqa: S311 - no secret
    is_answer, failed = number % 5 == 4, number % 7 == 0
    return VerdictRecord(
        id=f"{number:032x}",
        # Most come in the order of time, some were imported late.
        at=1e9 + number * 3600 - (10 * DAY if number % 50 == 0 else 0),
        kind="answer" if is_answer else "call",
        trace=f"turn-{number // 3}",
        conversation="long" if number % 2 else None,
        server=f"server-{number % 3}",
        tool=None if is_answer else f"tool-{number % 4}",
        model=draw.choice(("small", "large")) if is_answer else None,
        outcome="tool_error" if failed else "success",
        state="not_found" if failed else None,
        failed=failed,
        escalate=number % 11 == 0,
        blocked="policy" if number % 37 == 0 else None,
        score=None if number % 13 == 0 else draw.choice((0.25, 0.5, 1.0, 1.0, 1.0)),
        duration=None if is_answer else draw.choice((0.1, 0.2, 1.5, 3.0)),
        reason=f"word{number % 2} rare{number // 100} 本を見つけ" if failed or number % 4 == 0 else None,
        signals=(SignalRecord("not_found"), SignalRecord("not_found")) if failed else (),
    )


@pytest.fixture
def filled(url: str) -> Iterator[Store]:
    with Store(url) as store:
        with store.connect() as connection:
            insert_records(connection, [verdict(number) for number in range(COUNT)])
        yield store


FILTERS = [
    VerdictFilter(),
    VerdictFilter(kind="call"),
    VerdictFilter(failed=True),
    VerdictFilter(failed=False),
    VerdictFilter(failed=True, server="server-1", tool="tool-2"),
    VerdictFilter(failed=True, kind="answer"),
    VerdictFilter(server="server-1"),
    VerdictFilter(tool="tool-3", escalated=True),
    VerdictFilter(escalated=True),
    VerdictFilter(blocked=True),
    VerdictFilter(blocked=False, model="small"),
    VerdictFilter(outcome="success", min_score=0.5),
    VerdictFilter(max_score=0.3),
    VerdictFilter(max_score=0.3, min_score=0.26),
    VerdictFilter(state="not_found", signal="not_found"),
    VerdictFilter(signal="not_found", since=1e9 + 50 * 3600, until=1e9 + 200 * 3600),
    VerdictFilter(since=1e9 + 50 * 3600),
    VerdictFilter(until=1e9),
    VerdictFilter(since=1e11),
    VerdictFilter(trace="turn-7"),
    VerdictFilter(conversation="long", kind="call"),
    VerdictFilter(model="nobody's"),
    VerdictFilter(text="word0"),
    VerdictFilter(text="word1 rare2"),
    VerdictFilter(text="wor", failed=True),
    VerdictFilter(text="nowhere"),
    VerdictFilter(text="見つけ", kind="call"),
    VerdictFilter(text="…"),
]


def walked(store: Store, wanted: VerdictFilter, order: Any) -> Sequence[VerdictPage]:
    """All pages, one after the other, as a reader who always looks further gets them."""
    pages: list[VerdictPage] = []
    place: int | None = None
    for _ in range(COUNT):
        before, after = (place, None) if order == "newest" else (None, place)
        pages.append(store.page(wanted, limit=15, order=order, before=before, after=after))
        page = pages[-1]
        if not page.has_more and page.stopped is None:
            return pages
        place = page.verdicts[-1].seq if page.has_more else page.stopped
    raise AssertionError("it never ends")


@pytest.mark.usefixtures("small_steps")
@pytest.mark.parametrize("order", ["newest", "oldest"])
def test_all_pages_together_have_what_the_filter_finds(filled: Store, order: Any) -> None:
    for wanted in FILTERS:
        expected = filled.verdicts(wanted, limit=COUNT, order=order)
        pages = walked(filled, wanted, order)
        assert [each.id for page in pages for each in page.verdicts] == [each.id for each in expected], wanted
        for page in pages:
            assert page.count == len(expected) if page.is_whole else page.count <= len(expected), wanted
    whole = [filled.page(wanted).is_whole for wanted in FILTERS]
    assert {True, False} <= set(whole)


@pytest.mark.usefixtures("small_steps")
def test_the_worst_come_first_and_all_that_are_bad_are_among_them(filled: Store) -> None:
    lowest = filled.page(limit=COUNT, order="lowest_score")
    every = filled.verdicts(limit=COUNT)
    assert not lowest.is_whole
    scores = [each.score for each in lowest.verdicts if each.score is not None]
    assert scores == sorted(scores)
    low = sorted(each.score for each in every if each.score is not None and each.score < 1)
    # As many as are looked at: the steps together.
    assert scores[:25] == low[:25]
    slowest = filled.page(VerdictFilter(server="server-1"), limit=3, order="slowest", offset=2)
    assert ([each.duration for each in slowest.verdicts], slowest.has_more) == ([3.0, 3.0, 3.0], True)
    # A list that is read whole is sorted whole, those without a score last.
    wanted = VerdictFilter(trace="turn-26")
    assert [each.id for each in filled.page(wanted, order="lowest_score").verdicts] == [
        each.id for each in filled.verdicts(wanted, order="lowest_score")
    ]


@contextmanager
def noted(engine: Engine) -> Iterator[list[tuple[str, Any]]]:
    seen: list[tuple[str, Any]] = []

    def note(*given: Any) -> None:
        seen.append((given[2], given[3]))

    event.listen(engine, "before_cursor_execute", note)
    yield seen
    event.remove(engine, "before_cursor_execute", note)


@pytest.mark.parametrize("order", ["newest", "oldest", "lowest_score", "slowest"])
def test_every_statement_of_a_page_goes_by_an_index_or_a_limit(filled: Store, order: Any) -> None:
    engine = open_engine(filled.address)
    if engine.dialect.name != "sqlite":
        engine.dispose()
        pytest.skip("the planner of PostgreSQL reads so small a table whole")
    with engine.connect() as connection:
        for wanted in FILTERS:
            with noted(engine) as statements:
                find_page(connection, wanted, order=order)
            for statement, given in statements:
                rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", given)
                plan = [str(row[3]) for row in rows]
                whole = {f"SCAN {table}" for table in ("verdicts", "signals", "rollups", "queue_items")}
                assert not whole & set(plan), (wanted, statement, plan)
                assert not any("TEMP B-TREE" in step for step in plan), (wanted, statement, plan)
    engine.dispose()


def test_a_page_reads_no_more_rows_than_its_bounds(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdict_page, "PROBED", 20)
    monkeypatch.setattr(verdict_page, "_STEPS", (10, 15))
    read: list[int] = []
    among = verdict_page._among

    def counted(connection: Any, places: Sequence[int]) -> Any:
        read.append(len(places))
        return among(connection, places)

    monkeypatch.setattr(verdict_page, "_among", counted)
    for wanted in FILTERS:
        for order in get_args(VerdictOrder):
            read.clear()
            filled.page(wanted, limit=6, order=order)
            # A probe, two steps, and sorting; words on PostgreSQL come by whole blocks.
            assert sum(read) <= (21 + 25) * 2 or wanted.text is not None, (wanted, order)


def test_the_index_of_words_is_asked_for_blocks(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Store(url) as store:
        if store.address.kind != "postgresql":
            pytest.skip("for PostgreSQL: SQLite's index of words is in order")
        with store.connect() as connection:
            insert_records(connection, [verdict(number) for number in range(COUNT)])
            # As if there were 300 blocks between the first half and the second.
            connection.execute(
                text(
                    "ALTER TABLE signals DROP CONSTRAINT signals_verdict_fkey;"
                    " INSERT INTO verdict_blocks SELECT 300, first, last FROM verdict_blocks WHERE block = 0"
                )
            )
            moved = VERDICTS.update().where(VERDICTS.c.seq > 200).values(seq=VERDICTS.c.seq + 300 * BLOCK)
            connection.execute(moved)
        monkeypatch.setattr(verdict_page, "_ENOUGH", 5)
        asked: list[range | None] = []
        search = places_in_blocks

        def noting(connection: Any, words: Any, those: range | None, most: int) -> Any:
            asked.append(those)
            return search(connection, words, those, most)

        monkeypatch.setattr(verdict_page, "places_in_blocks", noting)
        common = store.page(VerdictFilter(text="word0"), limit=5)
        assert (len(common.verdicts), common.is_whole, asked) == (5, False, [range(300, 301)])
        asked.clear()
        rare = store.page(VerdictFilter(text="rare0"), limit=5)
        assert (rare.is_whole, asked) == (True, [range(300, 301), range(292, 300), None])
        assert {each.seq < 200 for each in rare.verdicts} == {True}
        with store.connect() as connection:
            connection.execute(text("ANALYZE verdicts"))
            words = SearchedWords(["word0"])
            with noted(connection.engine) as statements:
                search(connection, words, range(300, 301), 10)
            statement, given = next(each for each in statements if "FROM verdicts" in each[0])
            connection.execute(text("SET LOCAL enable_seqscan = off"))
            connection.execute(text("SET LOCAL enable_indexscan = off"))
            plan = str(connection.exec_driver_sql(f"EXPLAIN {statement}", given).all())
            assert "verdicts_by_words" in plan


def test_blocks_widen_with_what_comes_late(filled: Store) -> None:
    late = msgspec.structs.replace(verdict(COUNT), at=5.0)
    with filled.connect() as connection:
        insert_records(connection, [late])
        rows = connection.execute(blocks.VERDICT_BLOCKS.select()).all()
    assert [tuple(row) for row in rows] == [(0, 5.0, max(verdict(number).at for number in range(COUNT)))]
    assert [each.id for each in filled.page(VerdictFilter(until=6.0)).verdicts] == [late.id]


def test_a_store_without_verdicts_has_an_empty_page(url: str) -> None:
    with Store(url) as store:
        assert store.page() == VerdictPage(verdicts=[], count=0)
