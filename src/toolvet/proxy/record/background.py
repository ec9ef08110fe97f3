"""Work in the background of the calls: a bounded queue and one thread that empties it, in batches."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Generic, Literal, TypeAlias, TypeVar

T = TypeVar("T")

WhenFull: TypeAlias = Literal["drop", "wait"]
"""What to do with an item that finds the queue full: drop it, or wait for room."""

# This many items are handed over at once: one write to a disk, one wake-up of a thread.
_BATCH: Final = 250
# How long the thread lets items gather after the first of them. Waking it for each call would cost the call more than
# all the rest of the record.
_GATHER_SECONDS: Final = 0.05
# A full queue mostly means that the calls leave the thread no time: an item lets it run for this many short pauses.
_PAUSES: Final = 50
_PAUSE_SECONDS: Final = 0.0002
_MOST_PATIENCE: Final = 5
_SLICE_SECONDS: Final = 0.05
_ROOM_SECONDS: Final = 0.01
_MOST_COMPLAINTS: Final = 20


class NewComplaints:
    """Passes on what went wrong, once for each wording, and twenty wordings at most."""

    def __init__(self, complain: Callable[[str], None]) -> None:
        self._complain = complain
        self._reported: set[str] = set()

    def tell(self, error: Exception) -> None:
        """Report this error, unless its message was reported before."""
        words = f"{type(error).__name__}: {error}"
        if words not in self._reported and len(self._reported) < _MOST_COMPLAINTS:
            self._reported.add(words)
            self._complain(words)


class BackgroundQueue(Generic[T]):
    """A bounded queue in front of a daemon thread.

    `put` never raises. An item that finds the queue full gives the thread ten milliseconds at most, is then dropped and
    counted in `dropped`; with `when_full="wait"` it waits until there is room, or the queue is closed. When `work`
    raises, its batch is lost and counted in `failed`. A hanging thread delays nothing: `close` gives up on it.

    Args:
        work: Called in the thread with the items, in order.
        end: Called in the thread after the last item.
        limit: How many bytes the items in the queue may have.
        name: Names the thread.
        complain: Called with what `work` or `end` raised, once for each wording.
        when_full: What to do with an item that finds the queue full.
        asked: Set once the process is asked to end: then nothing waits any more.
    """

    def __init__(
        self,
        work: Callable[[Sequence[T]], None],
        end: Callable[[], None],
        *,
        limit: int,
        name: str,
        complain: Callable[[str], None],
        when_full: WhenFull = "drop",
        asked: threading.Event | None = None,
    ) -> None:
        self._work = work
        self._end = end
        self._complaints = NewComplaints(complain)
        self._limit = limit
        self.when_full: WhenFull = when_full
        self._queue: deque[tuple[T, int]] = deque()
        self._put_bytes = 0
        self._taken_bytes = 0
        self._is_stuck = False
        # How many items of the present work were taken while it went on.
        self._more = 0
        self._wake = threading.Event()
        self._idle = threading.Event()
        self._asked = threading.Event() if asked is None else asked
        self._closing = threading.Event()
        # Set while a caller waits: then the thread lets no further items gather.
        self._hurry = threading.Event()
        self.dropped = 0
        self.failed = 0
        self._idle.set()
        self._thread = threading.Thread(target=self._run, name=f"toolvet-{name}", daemon=True)
        self._thread.start()

    def put(self, item: T, size: int = 1) -> None:
        """Queue an item of this many bytes; takes about a third of a microsecond while there is room."""
        if self._put_bytes - self._taken_bytes >= self._limit and not self._makes_room():
            self.dropped += 1
            return
        # Only the putting threads write this sum, the working thread writes the other: where two of the former meet,
        # it is a little wrong.
        self._put_bytes += size
        self._queue.append((item, size))
        if self._idle.is_set():
            self._idle.clear()
            self._wake.set()

    def _makes_room(self) -> bool:
        """Let the thread run until there is room. Returns False for an item that is to be dropped."""
        pauses = 0
        while self._put_bytes - self._taken_bytes >= self._limit:
            if self._closing.is_set() or not self._thread.is_alive():
                return False
            if pauses >= _PAUSES or (self._is_stuck and pauses):
                # It had its time before, and took nothing since: its disk hangs.
                self._is_stuck = True
                return self.when_full == "wait" and self._waits_for_room()
            pauses += 1
            time.sleep(_PAUSE_SECONDS)
        self._is_stuck = False
        return True

    def _waits_for_room(self) -> bool:
        return self._waits(lambda: self._put_bytes - self._taken_bytes < self._limit)

    def _waits(self, happens: Callable[[], bool]) -> bool:
        """Wait until this happens, however long. Returns False if the process is asked to end meanwhile."""
        while not happens():
            if self._asked.is_set() or self._closing.is_set() or not self._thread.is_alive():
                return False
            self._asked.wait(_ROOM_SECONDS)
        return True

    @property
    def waiting(self) -> int:
        """How many items are in the queue; those that are being worked on are not."""
        return len(self._queue)

    def flush(self, timeout: float) -> bool:
        """Wait until all queued items were worked on. Returns False when that takes longer than `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while True:
            if not self._idle.wait(max(0.0, deadline - time.monotonic())):
                return False
            # The thread reports idle before its last look at the queue.
            if not self._queue:
                return True
            if time.monotonic() > deadline:
                return False

    def settle(self) -> None:
        """Wait as long as it takes until all queued items were worked on, or the process is asked to end."""
        self._hurry.set()
        if not self.flush(_ROOM_SECONDS):
            self._waits(lambda: self.flush(0))

    def close(self, timeout: float) -> bool:
        """Work on the queued items, and end. Returns False when the thread hangs: its items are lost.

        It may take `timeout` seconds without a batch that is done, and five times as long in all.
        """
        self._closing.set()
        self._hurry.set()
        self._wake.set()
        latest = time.monotonic() + _MOST_PATIENCE * timeout
        deadline, done = time.monotonic() + timeout, self._taken_bytes
        while self._thread.is_alive() and time.monotonic() < min(deadline, latest):
            self._thread.join(_SLICE_SECONDS)
            if self._taken_bytes != done:
                deadline, done = time.monotonic() + timeout, self._taken_bytes
        return not self._thread.is_alive()

    def abandon(self) -> None:
        """Drop what is queued, and count it: a thread that is only slow comes to its end then."""
        while self._take():
            self.dropped += 1

    def _take(self) -> tuple[tuple[T, int], ...]:
        """Take the first item with its size off the queue; nothing if it is empty: `abandon` takes items, too."""
        try:
            return (self._queue.popleft(),)
        except IndexError:
            return ()

    def take_more(self) -> list[T]:
        """Take a further batch off the queue, for the `work` that calls this. If that fails, it is lost as well."""
        batch = self._take_batch()
        self._more += len(batch)
        self._taken_bytes += sum(size for _, size in batch)
        return [item for item, _ in batch]

    def _take_batch(self) -> list[tuple[T, int]]:
        return [each for _ in range(min(len(self._queue), _BATCH)) for each in self._take()]

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            self._hurry.wait(_GATHER_SECONDS)
            if not self._closing.is_set():
                self._hurry.clear()
            while batch := self._take_batch():
                try:
                    self._work([item for item, _ in batch])
                except Exception as error:  # noqa: BLE001 - whatever an exporter raises, the calls go on, the loss is reported
                    self.failed += len(batch) + self._more
                    self._complaints.tell(error)
                finally:
                    self._more = 0
                self._taken_bytes += sum(size for _, size in batch)
            self._idle.set()
            # An item came between the last look and the set: its `put` saw a busy thread and did not wake it.
            if self._queue:
                self._idle.clear()
                self._wake.set()
            elif self._closing.is_set():
                try:
                    self._end()
                except Exception as error:  # noqa: BLE001 - as above
                    self._complaints.tell(error)
                return


def give_way() -> None:
    """Let the thread of the calls run: Python would otherwise switch only every five milliseconds."""
    time.sleep(0)
