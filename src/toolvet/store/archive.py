"""`SQLiteArchive`: an archive in a SQLite file, shared by the threads and processes of a server."""

import logging
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from toolvet.core.envelope import (
    Eviction,
    check_hash,
    check_limits,
    decode_content,
    encode_content,
    hash_of,
    size_error,
)
from toolvet.errors import ArchiveError, ContentMissingError

_LOG: Final = logging.getLogger("toolvet.store")
# "tvar" in ASCII: marks a SQLite file as an archive of toolvet.
_APPLICATION: Final = 0x74766172
_VERSION: Final = 1
_TABLE: Final = """
CREATE TABLE content (
    hash TEXT PRIMARY KEY,
    body BLOB NOT NULL,
    size INTEGER NOT NULL,
    kept_at REAL NOT NULL
) WITHOUT ROWID;
CREATE INDEX content_by_age ON content (kept_at);
"""
# Seconds to wait for another process that is writing.
_PATIENCE: Final = 10.0


class SQLiteArchive:
    """A `ContentArchive` that outlives the process, for `fit_response(..., archive=...)` and the retrieval tool.

    Several threads and processes may use one file at once. Damaged content raises ContentDamagedError and stays in the
    file for inspection; putting it again repairs it.

    Args:
        path: the file. A missing one is created, readable by its owner alone (0600), with a write-ahead log.
        name: the key of this archive in `meta.content_archive_hashes`.
        max_bytes: beyond this size of content the oldest is deleted; None for no limit.
        ttl: the age in seconds at which content is deleted; None keeps it. Putting content again renews it.
        clock: the seconds that `ttl` counts. All processes have to share it, so it is the wall clock by default.
        on_evict: called with an Eviction for everything that was deleted; deletions are logged, too.

    Raises:
        ArchiveError: for a file that is damaged, or that another program or a newer toolvet wrote; it is not changed.
        EnvelopeError: for limits that make no sense; it names the argument.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     archive = SQLiteArchive(f"{folder}/left-out.sqlite")
        ...     content_hash = archive.put({"ships": ["Aurora"]})
        ...     print(archive.get(content_hash))
        ...     archive.close()
        {'ships': ['Aurora']}
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
        with self._open("open"):
            pass

    def put(self, content: object) -> str:
        """Keep JSON content, and return its hash: `sha256:` and 64 digits.

        The same content with its members in the same order has the same hash, and is kept once. Raises EnvelopeError
        for content that JSON cannot hold, ArchiveError for content that is larger than the whole archive may be, and
        where the file cannot be written.
        """
        encoded = encode_content(content)
        content_hash = hash_of(encoded)
        if self._max_bytes is not None and len(encoded) > self._max_bytes:
            raise size_error(len(encoded), self._max_bytes)
        with self._open("write to") as connection, _transaction(connection):
            now = self._clock()
            evictions = self._delete_expired(connection, now)
            connection.execute(
                "INSERT INTO content VALUES (?, ?, ?, ?) ON CONFLICT (hash) "
                "DO UPDATE SET body = excluded.body, size = excluded.size, kept_at = excluded.kept_at",
                (content_hash, encoded, len(encoded), now),
            )
            evictions += self._make_room(connection, content_hash)
        self._report(evictions)
        return content_hash

    def get(self, content_hash: str) -> Any:
        """The content with that hash, after the hash was verified.

        Raises ContentMissingError for content that is not there or no longer, ContentDamagedError for content that was
        changed, EnvelopeError for a `content_hash` that is not a hash, ArchiveError where the file cannot be read.
        """
        wanted = check_hash(content_hash)
        with self._open("read") as connection:
            row = connection.execute("SELECT body, kept_at FROM content WHERE hash = ?", (wanted,)).fetchone()
        if row is None or self._is_old(row[1]):
            raise ContentMissingError(wanted)
        return decode_content(_body(row[0]), wanted)

    def sweep(self) -> tuple[Eviction, ...]:
        """Delete what is too old, and return what was deleted. Every `put` does so, too."""
        with self._open("write to") as connection, _transaction(connection):
            evictions = self._delete_expired(connection, self._clock())
        self._report(evictions)
        return tuple(evictions)

    def verify(self) -> tuple[str, ...]:
        """The hashes whose content has changed. Raises ArchiveError if the file itself is damaged."""
        with self._open("read") as connection:
            for (problem,) in connection.execute("PRAGMA quick_check(1)"):
                if problem != "ok":
                    raise ArchiveError(f"cannot read the archive {self.path}: {problem}")
            rows = connection.execute("SELECT hash, body FROM content ORDER BY hash")
            return tuple(str(content_hash) for content_hash, body in rows if hash_of(_body(body)) != content_hash)

    @property
    def size(self) -> int:
        """The bytes of content that the archive holds; the file is somewhat larger."""
        with self._open("read") as connection:
            return int(connection.execute("SELECT coalesce(sum(size), 0) FROM content").fetchone()[0])

    def __len__(self) -> int:
        with self._open("read") as connection:
            return int(connection.execute("SELECT count(*) FROM content").fetchone()[0])

    def __contains__(self, content_hash: object) -> bool:
        if not isinstance(content_hash, str):
            return False
        with self._open("read") as connection:
            row = connection.execute("SELECT kept_at FROM content WHERE hash = ?", (content_hash,)).fetchone()
        return row is not None and not self._is_old(row[0])

    def _is_old(self, since: float) -> bool:
        return self._ttl is not None and self._clock() - since >= self._ttl

    def close(self) -> None:
        """Close the file. The next use opens it again."""
        with self._link.lock:
            if self._link.connection is not None and self._link.process == os.getpid():
                self._link.connection.close()
                self._link.connection = None

    @contextmanager
    def _open(self, purpose: str) -> Generator[sqlite3.Connection]:
        """The connection, for one thread at a time. After a fork, the child process opens its own."""
        if self._link.process != os.getpid():
            # Closing a connection of the parent process would release the parent's locks: it stays open, unused.
            self._inherited.append(self._link)
            self._link = _Link()
        with self._link.lock:
            try:
                if self._link.connection is None:
                    self._link.connection = self._connect()
                yield self._link.connection
            except (OSError, sqlite3.Error, sqlite3.Warning) as problem:
                raise ArchiveError(f"cannot {purpose} the archive {self.path}: {problem}") from problem

    def _connect(self) -> sqlite3.Connection:
        # SQLite gives the log and its index the permissions of the file.
        os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        connection = sqlite3.connect(self.path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        # With a write-ahead log, a power failure loses at most the last moments, and never damages the file.
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Create the table in a new file. Two processes may do this at once: the second waits, and looks again."""
        # One transaction, so that the half-made table of another process is not seen.
        connection.execute("BEGIN")
        try:
            found = self._read_version(connection)
        finally:
            connection.rollback()
        if found == _VERSION:
            return
        # SQLite does not wait for another process that switches to a write-ahead log as well, so retry.
        for _ in range(100):
            try:
                connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError:
                time.sleep(0.02)
            else:
                break
        else:
            connection.execute("PRAGMA journal_mode = WAL")
        with _transaction(connection):
            if self._read_version(connection) is None:
                for statement in _TABLE.strip().split(";\n"):
                    connection.execute(statement.rstrip(";"))
                connection.execute(f"PRAGMA application_id = {_APPLICATION}")
                connection.execute(f"PRAGMA user_version = {_VERSION}")

    def _read_version(self, connection: sqlite3.Connection) -> int | None:
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

    def _delete_expired(self, connection: sqlite3.Connection, now: float) -> list[Eviction]:
        if self._ttl is None:
            return []
        rows = connection.execute("DELETE FROM content WHERE kept_at <= ? RETURNING hash, size", (now - self._ttl,))
        return [Eviction(content_hash, size, "expired") for content_hash, size in rows.fetchall()]

    def _make_room(self, connection: sqlite3.Connection, newest: str) -> list[Eviction]:
        if self._max_bytes is None:
            return []
        excess = connection.execute("SELECT sum(size) FROM content").fetchone()[0] - self._max_bytes
        evictions: list[Eviction] = []
        if excess > 0:
            rows = connection.execute("SELECT hash, size FROM content WHERE hash != ? ORDER BY kept_at", (newest,))
            for content_hash, size in rows:
                evictions.append(Eviction(content_hash, size, "full"))
                excess -= size
                if excess <= 0:
                    break
            connection.executemany("DELETE FROM content WHERE hash = ?", [(each.content_hash,) for each in evictions])
        return evictions

    def _report(self, evictions: list[Eviction]) -> None:
        for eviction in evictions:
            _LOG.info("%s was evicted (%s, %d bytes)", eviction.content_hash, eviction.reason, eviction.size)
            if self._on_evict is not None:
                self._on_evict(eviction)


class _Link:
    """The connection of one process, with its lock."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.lock = threading.RLock()
        self.connection: sqlite3.Connection | None = None


def _body(stored: object) -> bytes:
    # A damaged row may hold text or a number instead of bytes.
    return stored if isinstance(stored, bytes) else repr(stored).encode()


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None]:
    """All or nothing; other connections cannot write meanwhile."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()
