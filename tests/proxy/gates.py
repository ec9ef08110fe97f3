"""Sinks that wait until they are let, and a clock that goes on when somebody looks."""

import threading
from collections.abc import Callable, Sequence

from toolvet.proxy.record.background import BackgroundQueue
from toolvet.proxy.record.recorder import Recorder


def queues_of(recorder: Recorder) -> list[BackgroundQueue[object]]:
    """The queues in front of the sinks that have one, in order."""
    return [queued.queue for queued in recorder._queued.values()]


def nothing(_: object = None) -> None:
    """A sink that takes what comes, and a complaint that nobody hears."""


class Gate:
    """Work that waits at its first batch until it is let, and remembers its batches."""

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
    """A clock that goes on by a second each time somebody looks, and calls `tick` then."""

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
        """Nobody sleeps here."""
