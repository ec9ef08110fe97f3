"""Content by its SHA-256 in a SQLite file, shared by the threads and processes of a server."""

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from toolvet.envelope import Eviction
from toolvet.envelope.archive.archive import (
    check_hash,
    check_limits,
    decode_content,
    encode_content,
    hash_of,
    size_error,
)
from toolvet.errors import ArchiveError, ContentMissingError

_LOG = logging.getLogger("toolvet.store")
# "tvar" in ASCII: says that a SQLite file is one of ours.
_APPLICATION = 0x74766172
_VERSION = 1
_TABLE = """
CREATE TABLE content (
    hash TEXT PRIMARY KEY,
    body BLOB NOT NULL,
    size INTEGER NOT NULL,
    kept_at REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX content_by_age ON content (kept_at);
"""
# Seconds to wait for another process that is writing.
_PATIENCE = 10.0


class SQLiteArchive:
    """A `ContentArchive` that outlives the process, for `fit_response(..., archive=...)` and the retrieval tool.

    The file is made if it is not there, readable by its owner alone (0600), with a write-ahead log; several threads and
    processes may use it at once. With `ttl` (seconds) content is forgotten when it is that old by `clock`, which all
    processes have to share, so by default the wall clock; putting it again makes it young. Beyond `max_bytes` of
    content the oldest goes first. What goes is logged, and told to `on_evict`.

    A file that is damaged, that some other program wrote or that a newer toolvet wrote raises ArchiveError and is left
    as it is; damaged content raises ContentDamagedError, stays for a look at it, and is mended by putting it again.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        name: str = "archive",
        max_bytes: int | None = 1024**3,
        ttl: float | None = None,
        clock: Callable[[], float] = time.time,
        on_evict: Callable[[Eviction], object] | None = None,
    ) -> None:
        check_limits(name, max_bytes, ttl)
        self.name = name
        self.path = Path(path)
        self._max_bytes = max_bytes
        self._ttl = ttl
        self._clock = clock
        self._on_evict = on_evict
        self._link = _Link()
        self._inherited: list[_Link] = []
        with self._opened("open"):
            pass

    def put(self, content: object) -> str:
        """Keep JSON content; its hash. The same content in the same order has the same hash, and is kept once.

        Raises EnvelopeError for what JSON cannot hold, ArchiveError for what is larger than the whole archive may be,
        and when the file cannot be written.
        """
        encoded = encode_content(content)
        content_hash = hash_of(encoded)
        if self._max_bytes is not None and len(encoded) > self._max_bytes:
            raise size_error(len(encoded), self._max_bytes)
        with self._opened("write to") as connection, _transaction(connection):
            now = self._clock()
            gone = self._expired(connection, now)
            connection.execute(
                "INSERT INTO content VALUES (?, ?, ?, ?) ON CONFLICT (hash) "
                "DO UPDATE SET body = excluded.body, size = excluded.size, kept_at = excluded.kept_at",
                (content_hash, encoded, len(encoded), now),
            )
            gone += self._made_room(connection, content_hash)
        self._tell(gone)
        return content_hash

    def get(self, content_hash: str) -> Any:
        """The content, after its hash was verified.

        Raises ContentMissingError for what was never there or has gone, ContentDamagedError for what is not what it
        was, EnvelopeError for what is no hash, ArchiveError when the file cannot be read.
        """
        wanted = check_hash(content_hash)
        with self._opened("read") as connection:
            row = connection.execute("SELECT body, kept_at FROM content WHERE hash = ?", (wanted,)).fetchone()
        if row is None or self._is_old(row[1]):
            raise ContentMissingError(wanted)
        return decode_content(_body(row[0]), wanted)

    def sweep(self) -> tuple[Eviction, ...]:
        """Let go of what is too old, and say what that was; happens by itself with each `put`."""
        with self._opened("write to") as connection, _transaction(connection):
            gone = self._expired(connection, self._clock())
        self._tell(gone)
        return tuple(gone)

    def verify(self) -> tuple[str, ...]:
        """The hashes whose content is no longer what it was. Raises ArchiveError when the file itself is damaged."""
        with self._opened("read") as connection:
            for (problem,) in connection.execute("PRAGMA quick_check(1)"):
                if problem != "ok":
                    raise ArchiveError(f"cannot read the archive {self.path}: {problem}")
            rows = connection.execute("SELECT hash, body FROM content ORDER BY hash")
            return tuple(str(content_hash) for content_hash, body in rows if hash_of(_body(body)) != content_hash)

    @property
    def size(self) -> int:
        """The bytes of content that it holds; the file is somewhat larger."""
        with self._opened("read") as connection:
            return int(connection.execute("SELECT coalesce(sum(size), 0) FROM content").fetchone()[0])

    def __len__(self) -> int:
        with self._opened("read") as connection:
            return int(connection.execute("SELECT count(*) FROM content").fetchone()[0])

    def __contains__(self, content_hash: object) -> bool:
        if not isinstance(content_hash, str):
            return False
        with self._opened("read") as connection:
            row = connection.execute("SELECT kept_at FROM content WHERE hash = ?", (content_hash,)).fetchone()
        return row is not None and not self._is_old(row[0])

    def _is_old(self, since: float) -> bool:
        return self._ttl is not None and self._clock() - since >= self._ttl

    def close(self) -> None:
        """Let go of the file. It is opened again when it is needed."""
        with self._link.lock:
            if self._link.connection is not None and self._link.process == os.getpid():
                self._link.connection.close()
                self._link.connection = None

    @contextmanager
    def _opened(self, purpose: str) -> Generator[sqlite3.Connection]:
        """The connection, for one thread at a time. After a fork the child makes its own, and leaves this one alone."""
        if self._link.process != os.getpid():
            # Closing what came through a fork would release the locks of the parent: it is kept, and left alone.
            self._inherited.append(self._link)
            self._link = _Link()
        with self._link.lock:
            try:
                if self._link.connection is None:
                    self._link.connection = self._connected()
                yield self._link.connection
            except (OSError, sqlite3.Error, sqlite3.Warning) as problem:
                raise ArchiveError(f"cannot {purpose} the archive {self.path}: {problem}") from problem

    def _connected(self) -> sqlite3.Connection:
        # SQLite gives the log and the index of it the rights of the file.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            self._prepared(connection)
        except BaseException:
            connection.close()
            raise
        # With a write-ahead log this loses at most the last moments when the power goes, and never damages the file.
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    def _prepared(self, connection: sqlite3.Connection) -> None:
        """The table, made if the file is new. Two processes may do this at once: the second waits, and looks again."""
        # One transaction, so that what another process is just making is not seen by halves.
        connection.execute("BEGIN")
        try:
            found = self._found(connection)
        finally:
            connection.rollback()
        if found == _VERSION:
            return
        _log_ahead(connection)
        with _transaction(connection):
            if self._found(connection) is None:
                for statement in _TABLE.strip().split(";\n"):
                    connection.execute(statement.rstrip(";"))
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {_VERSION}")

    def _found(self, connection: sqlite3.Connection) -> int | None:
        """The version of the archive in the file, None for a new file. Raises ArchiveError for anything else."""
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if application == _APPLICATION:
            if version > _VERSION:
                raise ArchiveError(f"the archive {self.path} has version {version}, and this toolvet reads {_VERSION}")
            return version
        if application or version or connection.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise ArchiveError(f"{self.path} is a database of some other program, and is left alone")
        return None

    def _expired(self, connection: sqlite3.Connection, now: float) -> list[Eviction]:
        if self._ttl is None:
            return []
        rows = connection.execute("DELETE FROM content WHERE kept_at <= ? RETURNING hash, size", (now - self._ttl,))
        return [Eviction(content_hash, size, "expired") for content_hash, size in rows.fetchall()]

    def _made_room(self, connection: sqlite3.Connection, newest: str) -> list[Eviction]:
        if self._max_bytes is None:
            return []
        excess = connection.execute("SELECT sum(size) FROM content").fetchone()[0] - self._max_bytes
        gone: list[Eviction] = []
        if excess > 0:
            rows = connection.execute("SELECT hash, size FROM content WHERE hash != ? ORDER BY kept_at", (newest,))
            for content_hash, size in rows:
                gone.append(Eviction(content_hash, size, "full"))
                excess -= size
                if excess <= 0:
                    break
            connection.executemany("DELETE FROM content WHERE hash = ?", [(each.content_hash,) for each in gone])
        return gone

    def _tell(self, gone: list[Eviction]) -> None:
        for eviction in gone:
            _LOG.info("%s was evicted (%s, %d bytes)", eviction.content_hash, eviction.reason, eviction.size)
            if self._on_evict is not None:
                self._on_evict(eviction)


class _Link:
    """A connection of one process."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.lock = threading.RLock()
        self.connection: sqlite3.Connection | None = None


def _body(stored: object) -> bytes:
    # A damaged row may hold text or a number where bytes stood.
    return stored if isinstance(stored, bytes) else repr(stored).encode()


def _log_ahead(connection: sqlite3.Connection) -> None:
    """Switch to a write-ahead log. Where another process does too, SQLite does not wait: it is asked again."""
    for _ in range(100):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError:
            time.sleep(0.02)
        else:
            return
    connection.execute("PRAGMA journal_mode = WAL")


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None]:
    """All or nothing, and nobody else writes meanwhile."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()
