"""Opens the database of a store: makes its tables, or brings those of an earlier release up to date.

A fresh database is made by `METADATA.create_all` and marked with the newest revision. Alembic is imported only where a
database has an older one.
"""

import os
import sqlite3
import time
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.pool import ConnectionPoolEntry, StaticPool

from toolvet.errors import StoreError
from toolvet.store.address import StoreAddress
from toolvet.store.migrations import mark_revision, newest_revision
from toolvet.store.private_file import make_private
from toolvet.store.tables import load_tables
from toolvet.version import requirement

# What does not get the lock in time is tried again.
_BUSY_SECONDS: Final = 1.5
# How long another process may take to bring the tables up to date.
_OTHERS_SECONDS: Final = 600
_WAIT_SECONDS: Final = 0.05
# Options of a connection to PostgreSQL, unless the URL has them. Without limits, one forgotten lock stops every reader.
_CONNECT: Final[Mapping[str, object]] = {
    "connect_timeout": 5,
    "application_name": "toolvet",
    "options": "-c lock_timeout=5s",
}
# Each open connection of SQLite keeps two megabytes of pages, each statement known to SQLAlchemy some ten kilobytes.
_POOL: Final[Mapping[str, Any]] = {"pool_size": 2, "max_overflow": 13, "query_cache_size": 150}
_WRITES: Final = "toolvet_writes"
# The revision of the record of the first releases, which was not marked.
_FIRST: Final = "0001"
_LATEST_LOCK: Final = 0x746F6F6C


def open_engine(address: StoreAddress, *, sync: bool = False) -> Engine:
    """Return an engine for the database, whose tables are up to date.

    With `sync` a commit is on the disk when it returns; a PostgreSQL server decides that itself.

    Raises StoreError for a foreign or damaged database, and one of a later release; sqlalchemy.exc.DBAPIError where
    it cannot be reached or is locked.
    """
    if address.path is None:
        engine = _postgresql_engine(address)
    else:
        # Private from its first moment; SQLite gives its journals the permissions of the file.
        os.close(os.open(address.path, os.O_CREAT | os.O_RDWR, 0o600))
        for name in (address.path.name, f"{address.path.name}-wal", f"{address.path.name}-shm"):
            make_private(address.path.with_name(name))
        limits = {"timeout": _BUSY_SECONDS, "check_same_thread": False}
        engine = create_engine(address.url, connect_args=limits, **_POOL)
        _listen_to_sqlite(engine, sync=sync)
    try:
        _prepare(engine, address)
    except BaseException:
        engine.dispose()
        raise
    return engine


def memory_engine() -> Engine:
    """Return an engine for an empty database in memory."""
    engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
    _listen_to_sqlite(engine)
    with writing(engine) as connection:
        load_tables().create_all(connection)
    return engine


def writing(engine: Engine) -> "_Writing":
    """Return a context manager: a connection in one transaction that writes, committed at the end of the block."""
    return _Writing(engine)


class _Writing:
    """A transaction that takes SQLite's lock at its beginning: one that reads first could not wait for it later."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._connection: Connection | None = None

    def __enter__(self) -> Connection:
        self._connection = self._engine.connect().execution_options(**{_WRITES: True})
        try:
            self._connection.begin()
        except BaseException:
            self._connection.close()
            raise
        return self._connection

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._connection is None:
            return
        try:
            if kind is None:
                self._connection.commit()
            else:
                self._connection.rollback()
        finally:
            self._connection.close()


def _listen_to_sqlite(engine: Engine, *, sync: bool = False) -> None:
    @event.listens_for(engine, "connect")
    def prepare(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:  # pyright: ignore[reportUnusedFunction]
        # The driver begins no transactions of its own: `begin` below does.
        connection.isolation_level = None
        cursor = connection.cursor()
        try:
            _switch_to_log(cursor)
            # NORMAL may lose the last commits in a power failure, and never damages the file.
            cursor.execute(f"PRAGMA synchronous={'FULL' if sync else 'NORMAL'}")
            cursor.execute("PRAGMA foreign_keys=ON")
        finally:
            cursor.close()

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:  # pyright: ignore[reportUnusedFunction]
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _switch_to_log(cursor: DBAPICursor) -> None:
    """Readers are not blocked then. SQLite does not wait for another process that does the same, so retry."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.02)
        else:
            return


def _postgresql_engine(address: StoreAddress) -> Engine:
    if find_spec("psycopg") is None:
        raise StoreError(f'{address.shown} needs psycopg: pip install "{requirement("postgres")}"')
    try:
        url = make_url(address.url)
        given = {**_CONNECT, **{name: value for name, value in url.query.items() if name in _CONNECT}}
        return create_engine(
            url.difference_update_query(list(_CONNECT)),
            connect_args=given,
            pool_pre_ping=True,
            pool_recycle=1800,
            **_POOL,
        )
    except (ArgumentError, ValueError):
        # The exception quotes the URL, and with it the password.
        raise StoreError(
            f"{address.shown} is not the URL of a database: write it as postgresql+psycopg://user:password@host:5432/database"
        ) from None


def _prepare(engine: Engine, address: StoreAddress) -> None:
    """Make the tables, or bring them up to date. Several processes may do so at once: one of them does it."""
    deadline = time.monotonic() + _OTHERS_SECONDS
    while True:
        revision = None
        try:
            with engine.connect() as connection:
                revision = _read_revision(connection, address)
            if revision != newest_revision():
                _make_tables(engine, address)
        except DBAPIError as error:
            words = str(error.orig)
            if "not a database" in words or "malformed" in words:
                raise StoreError(
                    f"{address.shown} is damaged, or is not a database ({words}); toolvet leaves it alone. New"
                    f" records wait in {address.spool}: move the damaged file away, and the next start imports them"
                ) from error
            # An old store that is locked is probably brought up to date by another process, which can take a while.
            is_busy = engine.dialect.name == "sqlite" and revision is not None and "locked" in words
            if not is_busy or time.monotonic() > deadline:
                raise
            time.sleep(_WAIT_SECONDS)
        else:
            return


def _make_tables(engine: Engine, address: StoreAddress) -> None:
    with writing(engine) as connection:
        if engine.dialect.name == "postgresql":
            connection.execute(text(f"SET LOCAL lock_timeout = '{_OTHERS_SECONDS}s'"))
            connection.execute(text(f"SELECT pg_advisory_xact_lock({_LATEST_LOCK})"))
        revision = _read_revision(connection, address)
        if revision is None:
            load_tables().create_all(connection)
            mark_revision(connection, newest_revision())
        elif revision != newest_revision():
            from toolvet.store.migrations.upgrade import upgrade  # noqa: PLC0415 - for old stores only

            upgrade(connection, revision)


def _read_revision(connection: Connection, address: StoreAddress) -> str | None:
    names = set(inspect(connection).get_table_names())
    if "alembic_version" in names:
        found = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        if found is not None:
            revision = str(found)
            if revision > newest_revision():
                raise StoreError(
                    f"{address.shown} was written by a later release of toolvet (revision {revision}, and this one"
                    f" knows {newest_revision()}): upgrade toolvet"
                )
            return revision
    if {"calls", "events"} <= names and "verdicts" not in names:
        return _FIRST
    if address.kind == "sqlite" and names:
        raise StoreError(f"{address.shown} is not a store of toolvet: it is the database of another program")
    if "verdicts" in names:
        raise StoreError(f"{address.shown} has a table 'verdicts' that is not toolvet's; give it a database of its own")
    return None
