"""PostgreSQL's own ways to take many rows at once: COPY, arrays as parameters, one statement for all sums.

Several times as fast as a statement for each row, which SQLAlchemy would send. An error of the driver is raised as
SQLAlchemy raises it.
"""

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import BigInteger, Connection, Double, Integer, Table
from sqlalchemy.exc import DBAPIError

if TYPE_CHECKING:
    from collections.abc import Generator

GREATEST: Final = "greatest"


def known_ids(connection: Connection, table: Table, ids: Sequence[str]) -> set[str]:
    """Return those of these ids that the table has."""
    # The names are those of our own tables.
    query = f"SELECT id FROM {table.name} WHERE id = ANY(%(ids)s)"  # noqa: S608
    return {str(id_) for id_ in connection.exec_driver_sql(query, {"ids": list(ids)}).scalars()}


def insert_rows(connection: Connection, table: Table, names: Sequence[str], rows: Sequence[tuple[object, ...]]) -> None:
    """Insert rows whose values are in the order of `names`."""
    columns = ", ".join(f'"{name}"' for name in names)
    command = f"COPY {table.name} ({columns}) FROM STDIN"
    with _translated(connection, command) as cursor, cursor.copy(command) as copy:
        for row in rows:
            copy.write_row(row)


def upsert_sums(
    connection: Connection,
    table: Table,
    rows: Sequence[tuple[object, ...]],
    *,
    names: Sequence[str],
    keys: Sequence[str],
    changes: str,
) -> None:
    """Insert rows of sums, in one statement; a row whose keys are there already makes these `changes` to it.

    The rows are locked in the order in which they are given.
    """
    types = [_TYPES.get(type(table.c[name].type), "text") for name in names]
    arrays = ", ".join(f"%s::{each}[]" for each in types)
    statement = (
        f"INSERT INTO {table.name} ({', '.join(names)}) SELECT * FROM unnest({arrays})"  # noqa: S608 - as above
        f" ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {changes}"
    )
    connection.exec_driver_sql(statement, tuple(map(list, zip(*rows, strict=True))))


_TYPES: Final[Mapping[type, str]] = {BigInteger: "bigint", Integer: "integer", Double: "double precision"}


@contextmanager
def _translated(connection: Connection, statement: str) -> "Generator[Any]":
    import psycopg  # noqa: PLC0415 - an extra

    raw: Any = connection.connection
    cursor = raw.cursor()
    try:
        yield cursor
    except psycopg.Error as error:
        raise DBAPIError.instance(
            statement, None, error, psycopg.Error, hide_parameters=True, dialect=connection.dialect
        ) from error
    finally:
        cursor.close()
