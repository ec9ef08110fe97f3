"""What can be said of a store's health: `read_health`."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
from sqlalchemy import Connection, exists, func, inspect, select, text
from sqlalchemy.exc import DatabaseError

from toolvet.store.migrations import newest_revision
from toolvet.store.retention import measure
from toolvet.store.spool import REFUSED
from toolvet.store.tables import load_tables
from toolvet.store.tables.queue import QUEUE_FINALS, QUEUE_ITEMS, QUEUE_LABELS, QUEUE_PLACES
from toolvet.store.tables.rollups import ROLLUPS, WIDTHS
from toolvet.store.tables.verdicts import ASSESSMENTS, EVENTS, SIGNALS, VERDICTS

if TYPE_CHECKING:
    from sqlalchemy import Engine, Executable


class StoreHealth(msgspec.Struct, frozen=True, kw_only=True):
    """A store in numbers. `problems` are sentences on what is broken; `dropped` are those of the store's own events.

    `waiting` is how many bytes are in the spool, of processes that still run; `first` and `last` are times of
    verdicts in seconds since the epoch.
    """

    verdicts: int
    signals: int
    events: int
    assessments: int
    bytes: int
    revision: str
    first: float | None = None
    last: float | None = None
    waiting: int = 0
    dropped: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def read_health(engine: "Engine", waiting: int, spool: Path, known: Sequence[str] = ()) -> StoreHealth:
    """Check the database, and count what it has; what is too broken to be counted is a problem beside those known."""
    problems = list(known)
    with engine.connect() as connection:
        counts = [
            int(_asked(connection, select(func.count()).select_from(table), problems, [(0,)])[0][0])
            for table in (VERDICTS, SIGNALS, EVENTS, ASSESSMENTS)
        ]
        first, last = _asked(connection, select(func.min(VERDICTS.c.at), func.max(VERDICTS.c.at)), [], [(None, None)])[
            0
        ]
        dropped = select(EVENTS.c.message).where(EVENTS.c.kind == "dropped").order_by(EVENTS.c.at)
        messages = _asked(connection, dropped, problems, [])
        for look in (_missing, _loose_ends, _unsummed, _damage):
            problems += look(connection)
    refused = spool / REFUSED
    if refused.exists():
        problems.append(f"the database refused records; they are in {refused}, a line for each")
    return StoreHealth(
        verdicts=counts[0],
        signals=counts[1],
        events=counts[2],
        assessments=counts[3],
        bytes=measure(engine),
        revision=newest_revision(),
        first=first,
        last=last,
        waiting=waiting,
        dropped=tuple(str(message) for (message,) in messages),
        problems=tuple(dict.fromkeys(problems)),
    )


def _asked(
    connection: Connection, query: "Executable", problems: list[str], otherwise: list[tuple[Any, ...]]
) -> list[tuple[Any, ...]]:
    try:
        return [tuple(row) for row in connection.execute(query)]
    except DatabaseError as error:
        connection.rollback()
        problems.append(str(error.orig).strip())
        return otherwise


def _missing(connection: Connection) -> Iterator[str]:
    known = inspect(connection)
    there = set(known.get_table_names())
    for table in load_tables().sorted_tables:
        if table.name not in there:
            yield f"the table {table.name} is missing"
            continue
        columns = {column["name"] for column in known.get_columns(table.name)}
        yield from (f"{table.name} has no column {name}" for name in table.columns.keys() if name not in columns)  # noqa: SIM118
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # An index of an expression is not reflected.
            indexes = {index["name"] for index in known.get_indexes(table.name)}
        yield from (
            f"the index {index.name} is missing: lists take longer"
            for index in sorted(table.indexes, key=lambda each: str(each.name))
            if index.name not in indexes
        )


_LOOSE: Final = (
    (SIGNALS, SIGNALS.c.verdict, VERDICTS.c.seq, "signals belong to no verdict"),
    (QUEUE_ITEMS, QUEUE_ITEMS.c.verdict, VERDICTS.c.seq, "items of the review queue belong to no verdict"),
    (QUEUE_PLACES, QUEUE_PLACES.c.item, QUEUE_ITEMS.c.seq, "places in the review queue belong to no item"),
    (QUEUE_LABELS, QUEUE_LABELS.c.item, QUEUE_ITEMS.c.seq, "labels belong to no item of the review queue"),
    (QUEUE_FINALS, QUEUE_FINALS.c.item, QUEUE_ITEMS.c.seq, "final labels belong to no item of the review queue"),
)


def _loose_ends(connection: Connection) -> Iterator[str]:
    for table, column, other, words in _LOOSE:
        problems: list[str] = []
        lone = select(func.count()).select_from(table).where(~exists().where(other == column))
        (count,) = _asked(connection, lone, problems, [(0,)])[0]
        yield from problems
        if count:
            yield f"{count} {words}"


def _unsummed(connection: Connection) -> Iterator[str]:
    """Yield where sums have fewer verdicts than there are. More is right: sums outlive verdicts."""
    problems: list[str] = []
    for width in WIDTHS[1:]:
        summed = select(func.coalesce(func.sum(ROLLUPS.c.verdicts), 0)).where(ROLLUPS.c.width == width)
        (sums,), (count,) = (
            _asked(connection, query, problems, [(0,)])[0]
            for query in (summed, select(func.count()).select_from(VERDICTS))
        )
        if not problems and sums < count:
            yield f"the sums of {width // 3600} h have {sums} verdicts, and there are {count}"
    yield from problems


def _damage(connection: Connection) -> Iterator[str]:
    """Yield what SQLite finds in its own file; a PostgreSQL server watches its files itself."""
    if connection.dialect.name != "sqlite":
        return
    problems: list[str] = []
    answers = _asked(connection, text("PRAGMA quick_check(20)"), problems, [])
    yield from (str(answer) for (answer,) in answers if answer != "ok")
    yield from problems
    try:
        connection.execute(text("INSERT INTO verdict_words (verdict_words) VALUES ('integrity-check')"))
    except DatabaseError as error:
        yield f"the index of words is damaged: {error.orig}"
    connection.rollback()
