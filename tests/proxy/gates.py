"""For tests of the record: a sink that blocks until the test releases it, and a clock that the test drives."""

import threading
from collections.abc import Callable, Sequence

from toolvet.proxy.record.background import BackgroundQueue
from toolvet.proxy.record.recorder import Recorder


def queues_of(recorder: Recorder) -> list[BackgroundQueue[object]]:
    """The queues in front of the sinks that have one, in order."""
    return [queued.queue for queued in recorder._queued.values()]


def nothing(_: object = None) -> None:
    """Ignore a complaint."""


class Gate:
    """A sink that blocks in its first `write` until `let` is set, and keeps the batches that it got."""

    def __init__(self) -> None:
        self.batches: list[list[object]] = []
        self.entered = threading.Event()
        self.let = threading.Event()

    def write(self, items: Sequence[object]) -> None:
        self.entered.set()
        assert self.let.wait(60)
        self.batches.append(list(items))

    def close(self) -> None:
        """As any sink."""


class Clock:
    """A clock that advances by one second with each reading, and then calls `tick`."""

    def __init__(self, tick: Callable[[], None] = nothing) -> None:
        self.now = 100.0
        self.looks = 0
        self._tick = tick

    def monotonic(self) -> float:
        self.now += 1.0
        self.looks += 1
        self._tick()
        return self.now

    def sleep(self, seconds: float) -> None:
        """Nothing sleeps here."""
