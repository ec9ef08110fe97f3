"""The memory of the thread that moves records into the database, in bytes that Python counts."""

import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from toolvet.store.database import memory_engine, writing
from toolvet.store.database_writer import DatabaseWriter
from toolvet.store.records import VerdictRecord, encode_lines, new_id
from toolvet.store.spool import Spool
from toolvet.store.tables.verdicts import VERDICTS

AT = 1_795_357_000.0
CALLS = 4_000


@pytest.fixture(autouse=True)
def counted() -> Iterator[None]:
    yield
    tracemalloc.stop()


def nothing() -> None:
    """The work of the database writer after it moved everything."""


def spool_of(folder: Path, calls: int) -> tuple[Spool, int]:
    """A spool with records of some number of calls, and the bytes of their lines."""
    records = [
        VerdictRecord(id=new_id(AT + number), at=AT + number, kind="call", tool="find", reason="x" * 200)
        for number in range(calls)
    ]
    lines = encode_lines(records)
    spool = Spool(folder / "spool")
    spool.append(lines)
    return spool, len(lines)


def test_a_long_spool_is_moved_in_pieces(tmp_path: Path) -> None:
    engine = memory_engine()
    # Statements are made with the first record.
    DatabaseWriter(spool_of(tmp_path / "first", 1)[0], lambda: engine, print, nothing).move_now()
    spool, size = spool_of(tmp_path, CALLS)
    assert size > 1_200_000
    tracemalloc.start()
    DatabaseWriter(spool, lambda: engine, print, nothing).move_now()
    kept, peak = tracemalloc.get_traced_memory()
    # Of the lines, split lines, records and rows of a piece of 384 KiB; the rows of SQLite are not counted.
    assert peak < 3 << 20
    assert kept < 1 << 18
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM verdicts")).scalar() == CALLS + 1


def test_what_the_database_did_not_take_stays_on_the_disk_only(tmp_path: Path) -> None:
    engine = memory_engine()
    DatabaseWriter(spool_of(tmp_path / "first", 1)[0], lambda: engine, print, nothing).move_now()
    with writing(engine) as connection:
        VERDICTS.drop(connection)
    spool, size = spool_of(tmp_path, CALLS)
    told: list[str] = []
    writer = DatabaseWriter(spool, lambda: engine, told.append, nothing)
    tracemalloc.start()
    writer.try_now()
    kept, _ = tracemalloc.get_traced_memory()
    assert "no such table" in told[0]
    assert str(writer.problem) == told[0]
    assert spool.waiting == size
    assert kept < 1 << 18
