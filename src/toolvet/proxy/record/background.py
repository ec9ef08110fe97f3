"""Work in the background of the calls: a bounded queue and one thread that empties it, in batches."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

T = TypeVar("T")

# So many items are handed over at once: one transaction of a disk, one wake-up of a thread.
_BATCH: Final = 500
# How long the thread lets items gather after the first of them. Waking it for each call would cost the call more than
# all the rest of the record.
_GATHER_SECONDS: Final = 0.05
_MOST_COMPLAINTS: Final = 20


class BackgroundQueue(Generic[T]):
    """A bounded queue in front of a daemon thread.

    `put` never blocks and never raises; an item that finds the queue full is dropped and counted in `dropped`. When
    `work` raises, its batch is lost and counted in `failed`. A hanging thread delays nothing: `close` gives up on it.

    Args:
        work: Called in the thread with the items, in order.
        end: Called in the thread after the last item.
        capacity: How many items the queue holds.
        name: Names the thread.
        complain: Called with what `work` or `end` raised, once for each wording.
    """

    def __init__(
        self,
        work: Callable[[Sequence[T]], None],
        end: Callable[[], None],
        *,
        capacity: int,
        name: str,
        complain: Callable[[str], None],
    ) -> None:
        self._work = work
        self._end = end
        self._complain = complain
        self._capacity = capacity
        self._queue: deque[T] = deque()
        self._wake = threading.Event()
        self._idle = threading.Event()
        self._closing = threading.Event()
        self._complained: set[str] = set()
        self.dropped = 0
        self.failed = 0
        self._idle.set()
        self._thread = threading.Thread(target=self._run, name=f"toolvet-{name}", daemon=True)
        self._thread.start()

    def put(self, item: T) -> None:
        """Queue an item; takes about a third of a microsecond."""
        if len(self._queue) >= self._capacity:
            self.dropped += 1
            return
        self._queue.append(item)
        if self._idle.is_set():
            self._idle.clear()
            self._wake.set()

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

    def close(self, timeout: float) -> bool:
        """Work on the queued items, and end. Returns False when the thread hangs: its items are lost."""
        self._closing.set()
        self._wake.set()
        self._thread.join(timeout)
        return not self._thread.is_alive()

    def _run(self) -> None:
        while True:
            self._wake.wait()
            self._wake.clear()
            self._closing.wait(_GATHER_SECONDS)
            while self._queue:
                self._work_on([self._queue.popleft() for _ in range(min(len(self._queue), _BATCH))])
            self._idle.set()
            # An item came between the last look and the set: its `put` saw a busy thread and did not wake it.
            if self._queue:
                self._idle.clear()
                self._wake.set()
            elif self._closing.is_set():
                self._finish()
                return

    def _work_on(self, batch: Sequence[T]) -> None:
        try:
            self._work(batch)
        except Exception as error:  # noqa: BLE001 - whatever a sink raises, the calls go on and the loss is reported
            self.failed += len(batch)
            self._report(error)

    def _finish(self) -> None:
        try:
            self._end()
        except Exception as error:  # noqa: BLE001 - as above
            self._report(error)

    def _report(self, error: Exception) -> None:
        words = f"{type(error).__name__}: {error}"
        if words not in self._complained and len(self._complained) < _MOST_COMPLAINTS:
            self._complained.add(words)
            self._complain(words)


def give_way() -> None:
    """Let the thread of the calls run: Python would otherwise switch only every five milliseconds."""
    time.sleep(0)
