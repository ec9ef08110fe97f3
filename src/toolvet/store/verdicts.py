"""Records of calls: what was called, how long it took, its outcome, and why.

`VerdictStore` keeps them in SQLite, which several processes may share; `VerdictLog` writes lines of JSON. Records must
be redacted already: nothing here looks for secrets.
"""

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Final, Protocol, TypeAlias, cast

import msgspec

from toolvet.store.private_file import make_private

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS calls (
    at REAL NOT NULL, server TEXT NOT NULL, connection TEXT NOT NULL, id TEXT NOT NULL, tool TEXT NOT NULL,
    era TEXT NOT NULL, outcome TEXT NOT NULL, duration REAL, classification TEXT, state TEXT, blocked TEXT, trace TEXT,
    size INTEGER NOT NULL, detail TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS calls_by_time ON calls (at);
CREATE INDEX IF NOT EXISTS calls_by_tool ON calls (server, tool, at);
CREATE INDEX IF NOT EXISTS calls_by_trace ON calls (trace);
CREATE TABLE IF NOT EXISTS events (
    at REAL NOT NULL, server TEXT NOT NULL, connection TEXT NOT NULL, kind TEXT NOT NULL, message TEXT NOT NULL,
    tool TEXT
);
CREATE INDEX IF NOT EXISTS events_by_time ON events (at);
CREATE TABLE IF NOT EXISTS answers (
    at REAL NOT NULL, trace TEXT NOT NULL, score REAL NOT NULL, escalate INTEGER NOT NULL, text TEXT,
    detail TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS answers_by_trace ON answers (trace);
"""
# Other proxies write into the same file; each of their transactions takes milliseconds.
_BUSY_SECONDS: Final = 10.0


class CallRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One call. `at` is when it began, in seconds since the epoch; `duration` is in seconds, None where unknown.

    `server` and `connection` name what was asked, `id` is that of the JSON-RPC request, `trace` the id of the turn
    (`toolvet.session.trace`). `outcome`, `state`, `classification` and `blocked` are those of the session's verdict;
    `detail` holds the rest of the verdict, without secrets.
    """

    at: float
    server: str
    connection: str
    id: str
    tool: str
    era: str
    outcome: str
    duration: float | None = None
    classification: str | None = None
    state: str | None = None
    blocked: str | None = None
    trace: str | None = None
    size: int = 0
    detail: Mapping[str, object] = msgspec.field(default_factory=dict[str, object])


class EventRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Another event: a schema that does not compile, a list that could not be read. `at` is as in CallRecord."""

    at: float
    server: str
    connection: str
    kind: str
    message: str
    tool: str | None = None


class AnswerEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One answer with its verdict, under the trace id of its turn.

    `at` is when it was recorded, in seconds since the epoch. `text` is None where only the verdict was to be kept;
    `detail` is the rest of the verdict. Both are without secrets.
    """

    at: float
    trace: str
    score: float
    escalate: bool
    text: str | None = None
    detail: Mapping[str, object] = msgspec.field(default_factory=dict[str, object])


VerdictRecord: TypeAlias = CallRecord | EventRecord | AnswerEntry
"""What a record consists of."""


class VerdictBook(Protocol):
    """A place for records: `VerdictStore` or `VerdictLog`."""

    def add(self, records: Sequence[VerdictRecord]) -> None:
        """Keep all of these records, or none where it raises OSError or sqlite3.Error."""
        ...

    def close(self) -> None:
        """Close the file: no more records will be added."""
        ...


_CALL: Final = CallRecord.__struct_fields__
_EVENT: Final = EventRecord.__struct_fields__
_ANSWER: Final = AnswerEntry.__struct_fields__
_KINDS: Final = {CallRecord: "call", EventRecord: "event", AnswerEntry: "answer"}


class VerdictStore:
    """Records in a SQLite file, for use in the thread that opened it. Raises sqlite3.Error for a foreign file."""

    def __init__(self, path: Path) -> None:
        _make_private(path)
        self._connection = sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)
        try:
            # Readers are not blocked while we write; a crash of the machine may lose the last transactions.
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.executescript(_SCHEMA)
        except sqlite3.Error:
            self._connection.close()
            raise

    def add(self, records: Sequence[VerdictRecord]) -> None:
        """Keep the records in one transaction."""
        calls = [_row(record, _CALL) for record in records if isinstance(record, CallRecord)]
        events = [_row(record, _EVENT) for record in records if isinstance(record, EventRecord)]
        answers = [_row(record, _ANSWER) for record in records if isinstance(record, AnswerEntry)]
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._connection.executemany(_insert("calls", _CALL), calls)
            self._connection.executemany(_insert("events", _EVENT), events)
            self._connection.executemany(_insert("answers", _ANSWER), answers)
            self._connection.execute("COMMIT")
        except sqlite3.Error:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def calls(self, tool: str | None = None) -> Iterator[CallRecord]:
        """All calls (or those of one tool), oldest first."""
        where, given = ("", ()) if tool is None else (" WHERE tool = ?", (tool,))
        query = f"SELECT {', '.join(_CALL)} FROM calls{where} ORDER BY at"  # noqa: S608 - our own words
        with closing(self._connection.execute(query, given)) as rows:
            for row in cast("Iterator[Sequence[object]]", rows):
                fields = dict(zip(_CALL, row, strict=True))
                yield msgspec.convert({**fields, "detail": json.loads(str(fields["detail"]))}, CallRecord)

    def events(self) -> Iterator[EventRecord]:
        """All events, oldest first."""
        with closing(self._connection.execute(f"SELECT {', '.join(_EVENT)} FROM events ORDER BY at")) as rows:  # noqa: S608 - our own words
            for row in cast("Iterator[Sequence[object]]", rows):
                yield msgspec.convert(dict(zip(_EVENT, row, strict=True)), EventRecord)

    def close(self) -> None:
        """Close the file. SQLite deletes the journal beside it when no other connection is open."""
        self._connection.close()


class VerdictLog:
    """Records as lines of JSON at the end of a file: `{"call": {…}}`, `{"event": {…}}`, `{"answer": {…}}`.

    Raises OSError.
    """

    def __init__(self, path: Path) -> None:
        # Unbuffered and appending: several processes may write to one file, each batch in one piece.
        _make_private(path)
        self._file = path.open("ab", buffering=0)

    def add(self, records: Sequence[VerdictRecord]) -> None:
        """Write the records at once. Raises OSError where the disk took only a part; the rest is lost."""
        lines = b"".join(_line(record) + b"\n" for record in records)
        written = self._file.write(lines)
        if written != len(lines):
            # The next line must not continue half a line.
            self._file.write(b"\n")
            raise OSError(f"the disk took {written} of {len(lines)} bytes")

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def open_book(path: Path) -> VerdictBook:
    """A log for a name that ends in `.jsonl`, a store for any other."""
    return VerdictLog(path) if path.suffix == ".jsonl" else VerdictStore(path)


def _make_private(path: Path) -> None:
    """Make the file readable by its owner alone, also one that others could read: arguments of tools are private.

    The journal beside it, as SQLite left it, too. What belongs to somebody else stays as it is.
    """
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    for name in (path.name, f"{path.name}-wal", f"{path.name}-shm"):
        make_private(path.with_name(name))


def _insert(table: str, names: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"  # noqa: S608 - our own words


def _row(record: VerdictRecord, names: Sequence[str]) -> tuple[object, ...]:
    return tuple(_column(getattr(record, name)) for name in names)


def _column(value: object) -> object:
    if isinstance(value, str):
        # SQLite refuses lone surrogates.
        return value.encode("utf-8", "replace").decode("utf-8")
    return json.dumps(value, default=str) if isinstance(value, Mapping) else value


def _line(record: VerdictRecord) -> bytes:
    kind = _KINDS[type(record)]
    fields: object = msgspec.structs.asdict(record)
    return json.dumps({kind: fields}, default=str).encode()
