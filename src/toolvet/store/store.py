"""`Store`: verdicts, events and assessments in one database, written without waiting for it.

    add → a line in the spool (acknowledged) → a thread moves it into the database → reading

See `docs/store.md`.
"""

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, Self

from toolvet.errors import MissingExtraError, StoreError, UsageError
from toolvet.store.address import StoreAddress
from toolvet.store.database_writer import DatabaseWriter, brief
from toolvet.store.private_file import make_private
from toolvet.store.records import (
    EVERYTHING,
    AssessmentRecord,
    EventRecord,
    RecordedTurn,
    StoreRecord,
    VerdictFilter,
    VerdictRecord,
    encode_lines,
)
from toolvet.store.spool import Spool

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

    from toolvet.store.health import StoreHealth
    from toolvet.store.judged import AnyVerdict
    from toolvet.store.overview import FigureFilter, GroupFigures, GroupKey, Overview, TrendPoint
    from toolvet.store.reading import VerdictOrder
    from toolvet.store.retention import Pruned, Retention
    from toolvet.store.verdict_page import VerdictPage

_FLUSH_SECONDS: Final = 10.0
_MOST_NAMED: Final = 5
_MOST_OF_TURN: Final = 1_000
_MOST_LINES: Final = 64 * 2**20  # Bytes of a file without an index, which is read for each answer.
_TIDY_SECONDS: Final = 3600.0


class Store:
    """A store of verdicts. Use it as a context manager, or `close()` it. All methods may be called from any thread.

    Args:
        url: A path or `sqlite:///path` for a SQLite file, `postgresql+psycopg://user@host/database`, or a path that
            ends in `.jsonl` for lines of JSON without a database.
        missing: What to do with a file that is not there: `create` it with the first record, or `refuse`.
        older_than: Verdicts of this age (`90d`, `12h`) are deleted, once an hour while something is added.
        max_size: Beyond this size of the database (`2GiB`) its oldest verdicts are deleted, as often.
        sync: Write each record through to the disk before it is acknowledged, so that it outlives a power failure;
            without it, only the process may be killed. It costs what the disk takes for that, often milliseconds.
        complain: Gets sentences on what went wrong in the background; None writes them to stderr.

    Raises:
        UsageError: The URL is that of another kind of database, or `missing` refuses.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from toolvet import check_answer
        >>> said = "I cannot help with that request."
        >>> with TemporaryDirectory() as folder, Store(f"{folder}/verdicts.db") as store:
        ...     id = store.add(check_answer(said, trace="turn-1"), text=said)
        ...     print(store.turn("turn-1").answers[0].score)
        0.25
    """

    def __init__(
        self,
        url: "str | os.PathLike[str]",
        *,
        missing: Literal["create", "refuse"] = "create",
        older_than: str | None = None,
        max_size: str | None = None,
        sync: bool = False,
        complain: Callable[[str], None] | None = None,
    ) -> None:
        self.address = StoreAddress.read(url)
        self._complain = complain if complain is not None else _to_stderr
        if missing == "refuse" and not (
            self.address.path is None or self.address.path.exists() or self.address.spool.is_dir()
        ):
            raise UsageError(f"{self.address.shown}: there is no such store; check the path or URL")
        if self.address.kind != "lines" and find_spec("sqlalchemy") is None:
            # Not first in the thread that writes, when records already wait for it.
            raise MissingExtraError("sqlalchemy")
        self._sync = sync
        self._spool = Spool(self.address.spool, sync=sync)
        self._engine: Engine | None = None
        self._opening = threading.RLock()
        self._writer = DatabaseWriter(self._spool, self._open_engine, self._complain, self._tidy)
        self._kept = (older_than, max_size)
        self._tidied = 0.0

    # Writing.

    def add(
        self,
        verdict: "AnyVerdict | object",
        *,
        trace: str | None = None,
        conversation: str | None = None,
        server: str = "",
        tool: str | None = None,
        model: str | None = None,
        variant: str | None = None,
        text: str | None = None,
        question: str | None = None,
        calls: Sequence[object] | None = None,
        at: float | None = None,
        duration: float | None = None,
    ) -> str:
        """Keep a verdict, and return its id once it is safe on disk.

        Args:
            verdict: What `check_arguments`, `check_result`, `check_envelope`, `check_answer` or `assess` returned.
            trace: The id of its turn; None takes the verdict's own.
            conversation: The id of the conversation that the turn is part of.
            server: The name of the MCP server that was called.
            tool: The name of the tool that was called.
            model: The model that wrote the answer.
            variant: The prompt or configuration, to compare it with others.
            text: The answer that was judged; None keeps only the verdict. Secrets are replaced.
            question: The user's question. Secrets are replaced.
            calls: The tool calls of an answer's turn with their results, in any form that `check_answer` reads. They
                are kept without secrets and cut if they are long, for the people who review the answer.
            at: When it happened, in seconds since the epoch; None is now.
            duration: How long it took, in seconds.

        Raises:
            TypeError: `verdict` is something else.
            StoreError: The disk does not take it.
        """
        from toolvet.store.judged import VerdictContext, assessment_record, verdict_record  # noqa: PLC0415 - the checks

        record: StoreRecord | None = assessment_record(verdict, at=at)
        if record is None:
            context = VerdictContext(
                trace=trace,
                conversation=conversation,
                server=server,
                tool=tool,
                model=model,
                variant=variant,
                text=text,
                question=question,
                calls=calls,
                at=at,
                duration=duration,
            )
            record = verdict_record(verdict, context)  # type: ignore[arg-type]
        self.add_records([record])
        return record.id

    def add_records(self, records: Sequence[StoreRecord]) -> None:
        """Keep records, which must be free of secrets: they are safe on disk when this returns.

        Raises StoreError if the disk does not take them; then none of them is kept.
        """
        if records:
            self.add_lines(encode_lines(records))

    def add_lines(self, lines: bytes) -> None:
        """Keep records that `encode_lines` wrote. Raises StoreError as `add_records` does."""
        try:
            if self.address.kind == "lines":
                self._append_lines(lines)
            else:
                self._spool.append(lines)
        except OSError as error:
            raise StoreError(f"{self.address.shown}: {error.strerror or error}") from error
        if self.address.kind != "lines":
            self._writer.wake()

    def open(self) -> None:
        """Make the place for records now, so that what cannot be written is known at once. Raises StoreError."""
        try:
            if self.address.kind == "lines":
                self._append_lines(b"")
            else:
                self._spool.open()
                self._writer.wake()
        except OSError as error:
            raise StoreError(f"{self.address.shown}: {error.strerror or error}") from error

    def hold(self, seconds: float) -> None:
        """Let the database wait for `seconds`, because the processor is needed to make more records."""
        self._writer.hold(seconds)

    def flush(self, timeout: float = _FLUSH_SECONDS) -> bool:
        """Wait until the database has all additions. Returns False after `timeout` seconds: they are in the spool."""
        return self.address.kind == "lines" or self._writer.flush(timeout)

    def close(self, timeout: float = _FLUSH_SECONDS) -> bool:
        """Move what was added into the database, for at most `timeout` seconds, and close it.

        Returns False if something stays in the spool: the next process that opens the store takes it in.
        """
        moved = self._writer.close(timeout)
        # A thread that hangs in the database still has the files of the spool.
        if not self._writer.is_running:
            self._spool.close()
            if self._engine is not None:
                self._engine.dispose()
        return moved

    @property
    def problem(self) -> Exception | None:
        """Why the database did not take the last records; None if it did."""
        return self._writer.problem

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    # Reading.

    def verdict(self, id_: str) -> VerdictRecord | None:
        """Return the verdict with this id, None if there is none."""
        from toolvet.store.reading import read_verdict  # noqa: PLC0415 - SQLAlchemy costs a third of a second

        with self.reading() as connection:
            return read_verdict(connection, id_)

    def verdicts(
        self,
        wanted: VerdictFilter = EVERYTHING,
        *,
        limit: int = 100,
        order: "VerdictOrder" = "newest",
        after: int | None = None,
        before: int | None = None,
        offset: int = 0,
    ) -> list[VerdictRecord]:
        """Return at most `limit` of the verdicts that a filter finds.

        `after` and `before` are the `seq` of a verdict, for the next page. `order` is `newest`, `oldest`,
        `lowest_score` or `slowest`; the last two are paged with `offset`.
        """
        from toolvet.store.reading import read_verdicts  # noqa: PLC0415 - as above

        with self.reading() as connection:
            return read_verdicts(
                connection, wanted, limit=limit, order=order, after=after, before=before, offset=offset
            )

    def page(
        self,
        wanted: VerdictFilter = EVERYTHING,
        *,
        limit: int = 50,
        order: "VerdictOrder" = "newest",
        after: int | None = None,
        before: int | None = None,
        offset: int = 0,
    ) -> "VerdictPage":
        """Return what `verdicts` does and how many there are, in bounded time: it looks at some thousands at most.

        The page reports what it could not look at (`is_whole`, `stopped`).
        """
        from toolvet.store.verdict_page import find_page  # noqa: PLC0415 - as above

        with self.reading() as connection:
            return find_page(connection, wanted, limit=limit, order=order, after=after, before=before, offset=offset)

    def count(self, wanted: VerdictFilter = EVERYTHING) -> int:
        """Return how many verdicts a filter finds."""
        from toolvet.store.reading import count_verdicts  # noqa: PLC0415 - as above

        with self.reading() as connection:
            return count_verdicts(connection, wanted)

    def turn(self, trace: str, *, limit: int | None = None) -> RecordedTurn:
        """Return the turn whose trace id is, or alone begins with, `trace`; `limit` is for its verdicts.

        Raises UsageError if none or several do.
        """
        from toolvet.store.reading import read_trace, traces_beginning  # noqa: PLC0415 - as above

        with self.reading() as connection:
            found = read_trace(connection, trace, limit) if trace else []
            if not found:
                ids = traces_beginning(connection, trace, _MOST_NAMED + 1) if trace else []
                if not ids:
                    raise UsageError(f"{self.address.shown} has no turn whose id is or begins with {trace!r}")
                if len(ids) > 1:
                    count = f"{len(ids)}" if len(ids) <= _MOST_NAMED else f"more than {_MOST_NAMED}"
                    shown = ", ".join(ids[:_MOST_NAMED]) + (" …" if len(ids) > _MOST_NAMED else "")
                    raise UsageError(f"{count} turns begin with {trace!r}: {shown}")
                trace = ids[0]
                found = read_trace(connection, trace, limit)
        return RecordedTurn(trace=trace, verdicts=tuple(found))

    def tool_calls(self, trace: str | None) -> "list[Any] | None":
        """Return the calls with this trace id as `check_answer` takes them; None if there are none, or very many.

        What was left out of a record is not known: `record = "calls"` in `[proxy]` keeps arguments and results.
        """
        if not trace:
            return None
        if self.address.kind == "lines":
            from toolvet.store.lines import read_line_records  # noqa: PLC0415 - as above

            path = self.address.path or Path()
            if not path.is_file() or path.stat().st_size > _MOST_LINES:
                return None
            records = (each for batch in read_line_records(path) for each in batch)
            found = [each for each in records if isinstance(each, VerdictRecord) and each.trace == trace]
        else:
            from toolvet.store.reading import read_trace  # noqa: PLC0415 - as above

            with self.reading() as connection:
                found = read_trace(connection, trace, _MOST_OF_TURN)
        if len(found) >= _MOST_OF_TURN:
            # There may be more, and any of them may support an answer.
            return None
        return list(RecordedTurn(trace=trace, verdicts=tuple(found)).tool_calls) or None

    def latest_turns(self, limit: int = 20) -> list[RecordedTurn]:
        """Return the turns that something was added to last, those that began last first."""
        from toolvet.store.reading import latest_traces, read_trace  # noqa: PLC0415 - as above

        with self.reading() as connection:
            turns = [
                RecordedTurn(trace=trace, verdicts=tuple(read_trace(connection, trace)))
                for trace in latest_traces(connection, limit)
            ]
        return sorted(turns, key=lambda turn: turn.began, reverse=True)

    def events(self, limit: int = 100) -> list[EventRecord]:
        """Return the latest events, the newest first."""
        from toolvet.store.reading import read_events  # noqa: PLC0415 - as above

        with self.reading() as connection:
            return read_events(connection, limit)

    def assessments(self, server: str | None = None, limit: int = 100) -> list[AssessmentRecord]:
        """Return the latest assessments of a server, or of all, the newest first."""
        from toolvet.store.reading import read_assessments  # noqa: PLC0415 - as above

        with self.reading() as connection:
            return read_assessments(connection, server, limit)

    def overview(self, wanted: "FigureFilter | None" = None, *, most: int = 50) -> "Overview":
        """Return the sums over the verdicts that a `FigureFilter` finds: in all, by kind, by tool, by issue.

        It is read from sums of minutes and hours, so that it takes no longer for millions of verdicts.
        """
        from toolvet.store.overview import FigureFilter, read_overview  # noqa: PLC0415 - as above

        with self.reading() as connection:
            return read_overview(connection, wanted or FigureFilter(), most=most)

    def groups(
        self, by: "Sequence[GroupKey]", wanted: "FigureFilter | None" = None, *, most: int | None = None
    ) -> "list[GroupFigures]":
        """Return the sums for each server, tool, model, variant or kind (or several of these), the largest first."""
        from toolvet.store.overview import FigureFilter, read_groups  # noqa: PLC0415 - as above

        with self.reading() as connection:
            return read_groups(connection, wanted or FigureFilter(), by, most=most)

    def trend(self, wanted: "FigureFilter | None" = None, *, seconds: int | None = None) -> "tuple[TrendPoint, ...]":
        """Return the sums over time, in steps of `seconds` (60, 3600, 86400), or of a fitting length."""
        from toolvet.store.overview import FigureFilter, read_trend  # noqa: PLC0415 - as above

        with self.reading() as connection:
            return read_trend(connection, wanted or FigureFilter(), seconds=seconds)

    def search(self, words: str, *, limit: int = 100) -> list[VerdictRecord]:
        """Return the verdicts whose tool, reason or text has all these words, the newest first."""
        return self.verdicts(VerdictFilter(text=words), limit=limit)

    # Keeping house.

    def export(self, path: "str | os.PathLike[str]", wanted: VerdictFilter = EVERYTHING) -> Iterator[int]:
        """Write the verdicts that a filter finds to a `.jsonl` or `.parquet` file; yield their number on the way.

        Without a filter, lines of JSON hold events and assessments as well.
        """
        from toolvet.store.export import read_everything, write_file  # noqa: PLC0415 - as above

        with self.reading() as connection:
            yield from write_file(Path(path), read_everything(connection, wanted))

    def take_in(self, path: "str | os.PathLike[str]") -> Iterator[int]:
        """Add the records of a file that `export` wrote, and yield their number on the way; known ids are left out."""
        from toolvet.store.export import read_file  # noqa: PLC0415 - as above

        count = 0
        for records in read_file(Path(path)):
            self.add_records(records)
            count += len(records)
            self.flush()
            yield count

    def prune(self, retention: "Retention", *, progress: Callable[[int], None] | None = None) -> "Pruned":
        """Delete what is not to be kept. The sums of hours stay. `progress` gets the number of verdicts so far."""
        from toolvet.store.retention import prune  # noqa: PLC0415 - as above

        with self._translated():
            return prune(self._open_engine(), retention, progress=progress)

    def _tidy(self) -> None:
        if self._kept == (None, None) or (self._tidied and time.monotonic() < self._tidied + _TIDY_SECONDS):
            return
        self._tidied = time.monotonic()
        from toolvet.store.retention import parse_retention, prune  # noqa: PLC0415 - as above

        pruned = prune(self._open_engine(), parse_retention(*self._kept))
        if pruned.verdicts or pruned.events or pruned.assessments:
            from toolvet.store.inserting import insert_entry  # noqa: PLC0415 - as above

            gone = f"{pruned.verdicts} verdicts, {pruned.events} events, {pruned.assessments} assessments"
            with self.connect() as connection:
                insert_entry(connection, "", "delete", f"{gone}: past what the settings keep")

    def health(self) -> "StoreHealth":
        """Take in what ended processes left in the spool, check the database, and count what it has."""
        from toolvet.store.health import read_health  # noqa: PLC0415 - as above

        with self._translated():
            engine, problems = self._open_engine(), list[str]()
            if self.address.kind != "lines":
                try:
                    self._writer.move_now()
                except Exception as error:  # noqa: BLE001 - whatever it is, the check goes on and says it
                    problems.append(f"what waits in the spool cannot be taken in: {brief(error)}")
            return read_health(engine, self._spool.waiting, self.address.spool, problems)

    @contextmanager
    def connect(self) -> "Generator[Connection]":
        """Yield a connection in a transaction that writes, for modules that have tables of their own in the store."""
        from toolvet.store.database import writing  # noqa: PLC0415 - as above

        with self._translated(), writing(self._open_engine()) as connection:
            yield connection

    @contextmanager
    def reading(self) -> "Generator[Connection]":
        """Yield a connection that sees all that this process added, and what ended processes left in the spool."""
        with self._translated():
            engine = self._open_engine()
            if self.address.kind != "lines":
                self._writer.try_now()
            with engine.connect() as connection:
                yield connection

    @contextmanager
    def _translated(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(f"{self.address.shown}: {error.strerror or error}") from error
        except Exception as error:
            original = getattr(error, "orig", None)
            if original is None:
                raise
            raise StoreError(f"{self.address.shown}: {str(original).strip()}") from error

    def _open_engine(self) -> "Engine":
        with self._opening:
            if self.address.kind == "lines":
                # A database in memory with the records of the file.
                from toolvet.store.database import memory_engine, writing  # noqa: PLC0415 - as above
                from toolvet.store.inserting import insert_records  # noqa: PLC0415 - as above
                from toolvet.store.lines import read_line_records  # noqa: PLC0415 - as above

                engine = memory_engine()
                with writing(engine) as connection:
                    for records in read_line_records(self.address.path or Path()):
                        insert_records(connection, records)
                return engine
            if self._engine is None:
                from toolvet.store.database import open_engine  # noqa: PLC0415 - as above

                self._engine = open_engine(self.address, sync=self._sync)
            return self._engine

    def _append_lines(self, lines: bytes) -> None:
        # Unbuffered and appending: several processes may write to one file, each batch in one piece.
        path = self.address.path or Path()
        make_private(path)
        fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            written = os.write(fd, lines)
            if written != len(lines):
                # The next line must not continue half a line.
                with contextlib.suppress(OSError):
                    os.write(fd, b"\n")
                raise OSError(f"the disk took {written} of {len(lines)} bytes")
            if self._sync and lines:
                os.fsync(fd)
        finally:
            os.close(fd)


def _to_stderr(words: str) -> None:
    sys.stderr.write(f"toolvet: the store: {words}\n")
