"""`DatabaseWriter`: writes what is in the spool into the database, in a thread of its own.

    segment → lines → records → one transaction → the segment's place moves on → an empty segment is deleted

A transaction that fails is tried again, after a pause that grows; its lines stay in the spool meanwhile.
"""

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from toolvet.errors import StoreError
from toolvet.store.records import StoreRecord, decode_lines, encode_lines
from toolvet.store.spool import Segment, Spool

if TYPE_CHECKING:
    from sqlalchemy import Engine

# How long records gather after the first of them: one transaction for all. They are safe in the spool meanwhile, and a
# transaction costs as much as 60 rows.
_GATHER_SECONDS: Final = 0.5
# The tables are made as soon as the store is opened: a process that is killed early leaves them.
_FIRST_SECONDS: Final = 0.1
_PAUSES: Final = (0.2, 0.5, 1.0, 2.0, 5.0)
_MOST_COMPLAINTS: Final = 20
# Records in one transaction: readers and other writers wait for milliseconds at most.
_BATCH: Final = 1000
# This many bytes of lines are decoded at once, about 500 calls: a record takes several times its line until it is
# inserted, and a thread mostly keeps the memory that it once took.
_PIECE: Final = 384 << 10
# In PostgreSQL no reader waits for a transaction, and each costs a write of the disk and an update of the sums.
_LARGE_BATCH: Final = 5000
_LARGE_PIECE: Final = 1 << 20
_MOST_HELD_SECONDS: Final = 5.0


class DatabaseWriter:
    """The thread, which begins with the first `wake`.

    `open_engine` is called in the thread, and again after it failed. `complain` gets a sentence for each new wording
    of what went wrong. `tidy` is called after what waited was moved.
    """

    def __init__(
        self,
        spool: Spool,
        open_engine: "Callable[[], Engine]",
        complain: Callable[[str], None],
        tidy: Callable[[], None],
    ) -> None:
        self._spool = spool
        self._tidy = tidy
        self._open_engine = open_engine
        self._complain = complain
        self._complained: set[str] = set()
        self._wake = threading.Event()
        self._closing = threading.Event()
        self._hurry = threading.Event()
        self._changed = threading.Condition()
        self._turn = threading.Lock()
        self._wanted = 0
        self._moved = 0
        self._thread: threading.Thread | None = None
        self._adopted = False
        self.problem: StoreError | None = None
        self.unreadable = 0
        self._held_until = 0.0

    def wake(self) -> None:
        """Move soon what was appended."""
        if not self._wake.is_set():
            self._wake.set()
        if self._thread is None:
            with self._changed:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="toolvet-store", daemon=True)
                    self._thread.start()

    def flush(self, timeout: float) -> bool:
        """Wait until the database has what was appended so far. Returns False after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        with self._changed:
            self._wanted += 1
            wanted = self._wanted
        self._hurry.set()
        self.wake()
        with self._changed:
            while self._moved < wanted:
                left = deadline - time.monotonic()
                if left <= 0 or self._thread is None:
                    return False
                self._changed.wait(left)
        return True

    def close(self, timeout: float) -> bool:
        """Move what is left, and end. Returns False if that takes longer: the rest waits in the spool."""
        self._closing.set()
        self._hurry.set()
        self._wake.set()
        if self._thread is None:
            return True
        self._thread.join(timeout)
        return not self._thread.is_alive() and self.problem is None

    @property
    def is_running(self) -> bool:
        """Whether the thread is still at work, as where the database hangs."""
        return self._thread is not None and self._thread.is_alive()

    def hold(self, seconds: float) -> None:
        """Leave the processor to others for `seconds`: the records in the spool are safe, and can wait."""
        self._held_until = time.monotonic() + seconds

    def _wait_while_held(self) -> None:
        latest = time.monotonic() + _MOST_HELD_SECONDS
        while (left := min(self._held_until, latest) - time.monotonic()) > 0 and not self._closing.is_set():
            self._closing.wait(left)

    def move_now(self, *, adopt: bool = True) -> None:
        """Move everything in the caller's thread. Raises what fails.

        `adopt` includes the segments of ended processes.
        """
        with self._turn:
            engine = self._open_engine()
            for segment in self._spool.segments():
                self._move(engine, segment)
                self._spool.finish(segment)
            if not adopt:
                return
            for segment in self._spool.adopt():
                try:
                    self._move(engine, segment)
                except BaseException:
                    segment.close()
                    raise
                segment.remove()
            self._adopted = True

    def try_now(self) -> None:
        """Move everything in the caller's thread, unless the spool is empty or another thread is at it.

        What fails is reported and stays in the spool.
        """
        if not self._spool.waiting:
            return
        try:
            self.move_now()
        except Exception as error:  # noqa: BLE001 - who reads gets what the database has
            self._report(error)

    def _run(self) -> None:
        failures = 0
        while True:
            self._wake.wait()
            self._hurry.wait(_GATHER_SECONDS if self._adopted else _FIRST_SECONDS)
            self._wake.clear()
            self._hurry.clear()
            with self._changed:
                wanted = self._wanted
            self._wait_while_held()
            closing = self._closing.is_set()
            try:
                self.move_now(adopt=not self._adopted)
                failures = 0
            except Exception as error:  # noqa: BLE001 - whatever a database raises, the lines stay and are tried again
                self._report(error)
                failures += 1
            # The pause is outside of `except`: nothing of what failed is kept meanwhile.
            if failures:
                if closing:
                    return
                self._closing.wait(_PAUSES[min(failures, len(_PAUSES)) - 1])
                self._wake.set()
                continue
            self.problem = None
            if not closing:
                try:
                    self._tidy()
                except Exception as error:  # noqa: BLE001 - as above: what could not be deleted now can be later
                    self._complain(f"old verdicts could not be deleted: {brief(error)}")
            with self._changed:
                self._moved = wanted
                self._changed.notify_all()
            if closing:
                return

    def _move(self, engine: "Engine", segment: Segment) -> None:
        is_large = engine.dialect.name == "postgresql"
        piece, batch = (_LARGE_PIECE, _LARGE_BATCH) if is_large else (_PIECE, _BATCH)
        while length := self._move_piece(engine, segment, piece, batch):
            segment.done += length
            if threading.current_thread() is self._thread:
                self._wait_while_held()

    def _move_piece(self, engine: "Engine", segment: Segment, length: int, batch: int) -> int:
        """Move about `length` bytes of lines. Returns how many were moved; none of them is in memory any more then."""
        lines = segment.read(length)
        done = len(lines)
        records: list[StoreRecord] = []
        for record in decode_lines(lines):
            if record is None:
                self.unreadable += 1
            else:
                records.append(record)
        del lines
        for start in range(0, len(records), batch):
            self._insert(engine, records[start : start + batch])
        return done

    def _insert(self, engine: "Engine", records: list[StoreRecord], attempts: int = 2) -> None:
        """Insert a batch. A record that the database refuses is put aside, so that it does not hold up the others."""
        from sqlalchemy.exc import DataError, IntegrityError, StatementError  # noqa: PLC0415 - a third of a second

        from toolvet.store.database import writing  # noqa: PLC0415 - as above
        from toolvet.store.inserting import insert_records  # noqa: PLC0415 - as above

        try:
            with writing(engine) as connection:
                insert_records(connection, records)
        except (DataError, IntegrityError, StatementError, OverflowError) as error:
            if getattr(error, "orig", None) is not None and not isinstance(error, DataError | IntegrityError):
                raise
            if len(records) > 1:
                half = len(records) // 2
                self._insert(engine, records[:half])
                self._insert(engine, records[half:])
            elif attempts > 1:
                # Another process may have inserted it in this moment.
                self._insert(engine, records, attempts - 1)
            else:
                self._spool.put_aside(encode_lines(records))
                self._complain(f"the database refuses a record, which is now in {self._spool.refused}: {brief(error)}")

    def _report(self, error: Exception) -> None:
        from traceback import clear_frames  # noqa: PLC0415 - only where something failed

        words = str(error) if isinstance(error, StoreError) else f"{type(error).__name__}: {brief(error)}"
        self.problem = StoreError(words)
        # The frames that it came through refer to it in turn, and would keep the rows that were to be inserted.
        before: BaseException | None = error
        while before is not None:
            clear_frames(before.__traceback__)
            before = before.__context__
        if words not in self._complained and len(self._complained) < _MOST_COMPLAINTS:
            self._complained.add(words)
            self._complain(words)


def brief(error: Exception) -> str:
    """Return what the database said, without the statement and its values, which are private."""
    return str(getattr(error, "orig", None) or error).strip()
