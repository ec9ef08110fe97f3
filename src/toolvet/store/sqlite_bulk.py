"""SQLite's own ways to take many rows at once: plain statements, and rows that go to the driver as they are.

SQLAlchemy binds each value of each row by its name, which costs twice as much as all of SQLite's work. An error of the
driver is raised as SQLAlchemy raises it.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from sqlalchemy import Connection, Table

from toolvet.store.padding import padded

# SQLite takes 32,766 values in one statement.
_MOST_IDS = 8_192
GREATEST: Final = "max"


def known_ids(connection: Connection, table: Table, ids: Sequence[str]) -> Iterator[str]:
    """Yield those of these ids that the table has."""
    for start in range(0, len(ids), _MOST_IDS):
        some = padded(ids[start : start + _MOST_IDS])
        # The names are those of our own tables.
        query = f"SELECT {table.name}.id FROM {table.name} WHERE id IN ({_marks(some)})"  # noqa: S608
        yield from connection.exec_driver_sql(query, tuple(some)).scalars()


def insert_rows(connection: Connection, table: Table, names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> None:
    """Insert rows whose values are in the order of `names`."""
    command = f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({_marks(names)})"  # noqa: S608 - as above
    connection.exec_driver_sql(command, list(rows))


def upsert_sums(
    connection: Connection,
    table: Table,
    rows: Sequence[tuple[object, ...]],
    *,
    names: Sequence[str],
    keys: Sequence[str],
    changes: str,
) -> None:
    """Insert rows of sums; a row whose keys are there already makes these `changes` to it."""
    command = (
        f"INSERT INTO {table.name} ({', '.join(names)}) VALUES ({_marks(names)})"  # noqa: S608 - as above
        f" ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {changes}"
    )
    connection.exec_driver_sql(command, list(rows))


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
