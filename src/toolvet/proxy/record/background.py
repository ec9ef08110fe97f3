"""Work done behind the back of the calls: a bounded queue and one thread that empties it, in batches."""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")

# So many items are handed over at once: one transaction of a disk, one wake-up of a thread.
_BATCH = 500
# How long the thread lets items gather after the first of them. Waking it for each call would cost the call more than
# all the rest of the record.
_GATHER_SECONDS = 0.05
_MOST_COMPLAINTS = 20


class Background(Generic[T]):
    """`put` never blocks and never raises; what finds the queue full is counted in `dropped` and forgotten.

    `work` gets the items in their order, in a daemon thread, and `end` is called there after the last. What they raise
    is told to `complain`, once for each new wording; what `work` raises costs the batch, which is counted in `failed`.
    A thread that hangs delays nobody: `close` gives up on it.
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
        self._told: set[str] = set()
        self.dropped = 0
        self.failed = 0
        self._idle.set()
        self._thread = threading.Thread(target=self._run, name=f"toolvet-{name}", daemon=True)
        self._thread.start()

    def put(self, item: T) -> None:
        """Queue an item; about a third of a microsecond."""
        if len(self._queue) >= self._capacity:
            self.dropped += 1
            return
        self._queue.append(item)
        if self._idle.is_set():
            self._idle.clear()
            self._wake.set()

    def flush(self, timeout: float) -> bool:
        """Wait until all that was put has been worked on; False when that took longer than `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while True:
            if not self._idle.wait(max(0.0, deadline - time.monotonic())):
                return False
            # The thread says idle before its last look at the queue.
            if not self._queue:
                return True
            if time.monotonic() > deadline:
                return False

    def close(self, timeout: float) -> bool:
        """Work on what is queued, and end. False when the thread had to be left behind, with what it still held."""
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
                self._do([self._queue.popleft() for _ in range(min(len(self._queue), _BATCH))])
            self._idle.set()
            # Put between the last look and the set: its `put` saw a busy thread and did not wake it.
            if self._queue:
                self._idle.clear()
                self._wake.set()
            elif self._closing.is_set():
                self._finish()
                return

    def _do(self, batch: Sequence[T]) -> None:
        try:
            self._work(batch)
        except Exception as error:  # noqa: BLE001 - whatever a sink raises, the calls go on and the loss is told
            self.failed += len(batch)
            self._tell(error)

    def _finish(self) -> None:
        try:
            self._end()
        except Exception as error:  # noqa: BLE001 - as above
            self._tell(error)

    def _tell(self, error: Exception) -> None:
        words = f"{type(error).__name__}: {error}"
        if words not in self._told and len(self._told) < _MOST_COMPLAINTS:
            self._told.add(words)
            self._complain(words)


def give_way() -> None:
    """Let the thread of the calls go first: Python would otherwise switch only every five milliseconds."""
    time.sleep(0)
