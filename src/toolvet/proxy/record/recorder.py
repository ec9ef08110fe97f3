"""Records what passes the proxy without slowing it: `Recorder.take(origin, note)` is all that a driver calls.

    session notes → take (stamped) → metrics, counted at once
                                   → a queue → one thread per exporter → spans, or the record on disk

`take` never raises. What takes microseconds is done at once, in the caller's thread: two threads that want Python's
lock for each call take ten times as long as the work itself. What may wait for anything is left to a thread. A disk
that is slow, full or gone costs memory up to a limit, then records, which are counted and reported, and never a call;
unless the user requires the record.
"""

import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, Self, runtime_checkable

import msgspec

from toolvet.proxy.record.background import BackgroundQueue, NewComplaints, WhenFull

if TYPE_CHECKING:
    from toolvet.store.store import Store

# Bytes of the notes that wait for one exporter: 100,000 calls under the default policy.
_LIMIT: Final = 256 << 20
# About what a note takes in memory, and what the value of some bytes of JSON takes.
_NOTE_BYTES: Final = 1024
_BYTES_PER_BYTE: Final = 4
_FLUSH_SECONDS: Final = 2.0
_LAST_SECONDS: Final = 0.5


class RecordSource(msgspec.Struct, frozen=True):
    """The origin of notes, made once for a connection (stdio) or a session (HTTP).

    `server` is safe to print (`Target.describe()`, or the name that a configuration file has for it), `connection`
    distinguishes connections of one process, `transport` is the one between client and proxy.
    """

    server: str
    connection: str = ""
    transport: Literal["pipe", "tcp"] = "pipe"


class StampedNote(NamedTuple):
    """A note with its time: `at` in nanoseconds since the epoch, `clock` in nanoseconds of a clock that never jumps."""

    origin: RecordSource
    note: object
    at: int
    clock: int


class Exporter(Protocol):
    """Takes notes, in a thread of the recorder. Its exceptions are reported and counted, never passed on."""

    def write(self, notes: Sequence[Any]) -> None:
        """Take notes in the order in which they happened, or what `prepare` made of them."""
        ...

    def close(self) -> None:
        """Finish: no more notes will come."""
        ...


@runtime_checkable
class InstantExporter(Protocol):
    """An exporter that takes each note at once, in microseconds, and waits for nothing. Its `write` is not called."""

    def take(self, note: StampedNote) -> None:
        """Take a note. An exception is reported and counted."""
        ...

    def close(self) -> None:
        """Finish: no more notes will come."""
        ...


@runtime_checkable
class PreparingExporter(Protocol):
    """An exporter that does the quick part of its work at once, so that its thread has little to do."""

    def prepare(self, note: StampedNote) -> object | None:
        """Return what `write` is to get for this note, as the bytes of a line; None for nothing."""
        ...


@runtime_checkable
class RenderingExporter(Protocol):
    """An exporter that can show what it has counted."""

    def render(self) -> str:
        """Return the counts in the text format of Prometheus."""
        ...


@runtime_checkable
class EndingExporter(Protocol):
    """An exporter that tries again and again, until it learns that the end is near."""

    def end(self) -> None:
        """Try everything only once from now on."""
        ...


class _ExporterQueue:
    """A queue in front of an exporter, with what is done before it."""

    def __init__(self, exporter: Exporter, queue: BackgroundQueue[object]) -> None:
        self.queue = queue
        self._prepare = exporter.prepare if isinstance(exporter, PreparingExporter) else None

    def put(self, note: StampedNote) -> None:
        item: object | None = note if self._prepare is None else self._prepare(note)
        if type(item) is bytes:
            self.queue.put(item, len(item))
        elif item is not None:
            size = _NOTE_BYTES
            # Only a policy that wants arguments and results recorded leaves them in the note.
            if getattr(note.note, "result", None) is not None:
                size += _BYTES_PER_BYTE * int(getattr(note.note, "size", 0))
            self.queue.put(item, size)


class Recorder:
    """A queue before each exporter. Use it as a context manager, or `close()` it: that writes what is still queued.

    `store` is the one that an exporter writes into; it is closed, too. `limit` is how many bytes the notes of a queue
    may have, `when_full` what happens beyond it. `complain` gets sentences on what was lost, by default on stderr.
    """

    def __init__(
        self,
        exporters: "Sequence[Exporter | InstantExporter]" = (),
        *,
        store: "Store | None" = None,
        limit: int = _LIMIT,
        when_full: WhenFull = "drop",
        complain: Callable[[str], None] | None = None,
    ) -> None:
        self._complain = complain if complain is not None else to_stderr
        self._sinks = tuple(exporters)
        self._is_closed = False
        self._store = store
        self._failed = 0
        self._complaints = NewComplaints(self._complain_of_exporter)
        self._instant = [exporter for exporter in exporters if isinstance(exporter, InstantExporter)]
        # Set by a signal that asks the process to end.
        self._asked = threading.Event()
        # Each other exporter has its own queue and thread: a hanging disk must not make the spans stale.
        self._queued: dict[Exporter, _ExporterQueue] = {}
        for exporter in exporters:
            if not isinstance(exporter, InstantExporter):
                queue = BackgroundQueue[object](
                    exporter.write,
                    exporter.close,
                    limit=limit,
                    name="record",
                    complain=self._complain_of_exporter,
                    when_full=when_full if isinstance(exporter, EndingExporter) else "drop",
                    asked=self._asked,
                )
                self._queued[exporter] = _ExporterQueue(exporter, queue)
        self._required = [queued.queue for queued in self._queued.values() if queued.queue.when_full == "wait"]
        # Whether an answer has to wait for `settle` before the client gets it.
        self.is_required = bool(self._required)
        self._takers = [
            *(exporter.take for exporter in self._instant),
            *(queued.put for queued in self._queued.values()),
        ]

    def _complain_of_exporter(self, words: str) -> None:
        self._complain(f"the record: {words}")

    @property
    def has_sinks(self) -> bool:
        """Whether anything takes notes."""
        return bool(self._sinks)

    def take(self, origin: RecordSource, note: object) -> None:
        """Give a note of a session to the exporters, stamped with the current time."""
        if not self._takers:
            return
        stamped = StampedNote(origin, note, time.time_ns(), time.perf_counter_ns())
        for take in self._takers:
            try:
                take(stamped)
            except Exception as error:  # noqa: BLE001 - whatever an exporter raises, the calls go on and the loss is reported
                self._failed += 1
                self._complaints.tell(error)

    def watch_signals(self) -> None:
        """From now on SIGTERM and SIGINT end every wait of this recorder, and are then handled as before.

        Call it in the main thread, once the handlers of the program are set. Without it a program that waits for a
        hanging disk would see its signal only after the wait.
        """
        if not self.is_required:
            return
        for number in (signal.SIGTERM, signal.SIGINT):
            before = signal.getsignal(number)
            if callable(before):
                signal.signal(number, partial(self._take_signal, before))

    def _take_signal(
        self, before: Callable[[int, FrameType | None], object], number: int, frame: FrameType | None
    ) -> None:
        self._asked.set()
        before(number, frame)

    def settle(self) -> None:
        """Wait until an exporter whose record is required has written all notes taken so far.

        A client that was answered can then rely on the record, even if this process is killed the moment after. It
        waits as long as the disk takes nothing, until a signal asks the process to end.
        """
        for queue in self._required:
            queue.settle()

    @property
    def lost(self) -> int:
        """How many notes did not reach an exporter, because its queue was full or it failed."""
        return self._failed + sum(self.lost_by(exporter) for exporter in self._queued)

    def lost_by(self, exporter: Exporter) -> int:
        """Return how many notes did not reach this exporter."""
        queue = self._queued[exporter].queue
        return queue.dropped + queue.failed

    def take_more_for(self, exporter: Exporter) -> Sequence[object]:
        """Take notes off the queue of this exporter, which calls this while it works on others."""
        return self._queued[exporter].queue.take_more()

    def waiting_for(self, exporter: Exporter) -> int:
        """Return how many notes wait for this exporter."""
        return self._queued[exporter].queue.waiting

    def render_metrics(self) -> str:
        """Return the text for `/metrics` (`metrics.CONTENT_TYPE`): all that happened until a moment ago."""
        rendered = [exporter.render() for exporter in self._sinks if isinstance(exporter, RenderingExporter)]
        lost = f"# TYPE toolvet_record_lost_total counter\ntoolvet_record_lost_total {self.lost}\n"
        return "".join([*rendered, lost])

    def flush(self, timeout: float = _FLUSH_SECONDS) -> bool:
        """Wait until all notes taken so far reached the exporters. Returns False after `timeout` seconds."""
        deadline = time.monotonic() + timeout
        return all(each.queue.flush(max(0.0, deadline - time.monotonic())) for each in self._queued.values())

    def close(self, timeout: float = _FLUSH_SECONDS) -> None:
        """Write what is queued and close the exporters; give up on one that takes nothing for `timeout` seconds.

        What was lost is reported. Closing twice is allowed.
        """
        if self._is_closed:
            return
        self._is_closed = True
        for instant in self._instant:
            instant.close()
        for exporter, queued in self._queued.items():
            queue = queued.queue
            if queue.close(timeout):
                continue
            # A disk that is full may have room again in the meantime; now it is tried once more.
            if isinstance(exporter, EndingExporter):
                exporter.end()
            if queue.close(_LAST_SECONDS):
                continue
            # One that is only slow writes down how many it did not come to.
            queue.abandon()
            if not queue.close(_LAST_SECONDS):
                self._complain("the record: its last notes may be lost, because writing them takes too long")
        if self.lost:
            self._complain(f"the record lost {self.lost} notes")
        if self._store is not None:
            moved = self._store.close(timeout / 2)
            # Without a problem there was only no time: the next process that opens the store takes the rest in.
            if not moved and self._store.problem is not None:
                self._complain(
                    f"the record: what the database did not take waits in {self._store.address.spool},"
                    " and the next process that opens the store takes it in"
                )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def to_stderr(words: str) -> None:
    """Write a sentence to stderr."""
    sys.stderr.write(f"toolvet: {words}\n")
