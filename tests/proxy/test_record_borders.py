"""The queue before a sink at its borders: the sizes of batches, how long it waits, and what is counted."""

import os
import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from tests.proxy.gates import Clock, Gate, nothing

from toolvet.proxy.record import background
from toolvet.proxy.record.background import BackgroundQueue
from toolvet.proxy.record.recorder import Recorder, RecordSource

Work = Callable[[Sequence[Any]], None]


def queue_of(work: Work, *, end: Callable[[], None] = nothing, **more: Any) -> BackgroundQueue[Any]:
    options: dict[str, Any] = {"limit": 1 << 20, "name": "test", "complain": nothing}
    return BackgroundQueue[Any](work, end, **{**options, **more})


# ── the queue ──


def test_items_are_handed_over_in_batches_of_250() -> None:
    gate = Gate()
    queue = queue_of(gate.write)
    queue.put("first")
    assert gate.entered.wait(60)
    for number in range(600):
        queue.put(number)
    assert queue.waiting == 600
    gate.let.set()
    assert queue.close(60)
    assert gate.batches == [["first"], [*range(250)], [*range(250, 500)], [*range(500, 600)]]
    assert (queue.waiting, queue.dropped, queue.failed) == (0, 0, 0)


def test_work_that_takes_more_loses_that_too_where_it_fails_and_only_once() -> None:
    taken: list[list[object]] = []
    entered, let, told = threading.Event(), threading.Event(), list[str]()

    def fail(items: Sequence[object]) -> None:
        entered.set()
        assert let.wait(60)
        taken.append([*items, "|", *queue.take_more()])
        raise ValueError(f"no room for {len(items)}")

    queue = queue_of(fail, limit=4, complain=told.append)
    queue.put("a", 2)
    assert entered.wait(60)
    queue.put("b", 1)
    let.set()
    assert queue.flush(60)
    assert queue.failed == 2
    # Taken items make room: two further items of two bytes, and no third.
    let.clear()
    entered.clear()
    queue.put("c", 2)
    assert entered.wait(60)
    queue.put("d", 2)
    queue.put("e", 2)
    let.set()
    assert queue.close(60)
    assert taken == [["a", "|", "b"], ["c", "|", "d"]]
    assert (queue.failed, queue.dropped) == (4, 1)
    assert told == ["ValueError: no room for 1"]


def test_what_work_took_and_did_is_not_counted_with_a_later_failure() -> None:
    entered, let = threading.Event(), threading.Event()

    def work(items: Sequence[object]) -> None:
        entered.set()
        assert let.wait(60)
        queue.take_more()
        if "bad" in items:
            raise ValueError("bad")

    queue = queue_of(work)
    queue.put("good")
    assert entered.wait(60)
    queue.put("more")
    let.set()
    assert queue.flush(60)
    assert queue.failed == 0
    queue.put("bad")
    assert queue.close(60)
    assert queue.failed == 1


def test_an_end_that_fails_is_told_and_its_thread_ends() -> None:
    told: list[str] = []

    def fail() -> None:
        raise KeyError("end")

    queue = queue_of(nothing, end=fail, complain=told.append)
    assert queue.close(60)
    assert told == ["KeyError: 'end'"]
    assert (queue._thread.name, queue._thread.daemon, queue._thread.is_alive()) == ("toolvet-test", True, False)


class LateIdle(threading.Event):
    """An item comes just before the thread says that it is idle: its `put` sees a busy thread."""

    def __init__(self, queue: BackgroundQueue[Any]) -> None:
        super().__init__()
        self._late: list[tuple[object, int]] = [("late", 1)]
        self._into = queue
        super().set()

    def set(self) -> None:
        if self._late:
            self._into._queue.append(self._late.pop())
        super().set()


def test_an_item_that_comes_between_the_last_look_and_the_idle_is_worked_on() -> None:
    seen: list[object] = []
    late, let = threading.Event(), threading.Event()

    def work(items: Sequence[object]) -> None:
        seen.extend(items)
        if "late" in items:
            late.set()
            assert let.wait(60)

    queue = queue_of(work)
    queue._idle = LateIdle(queue)
    queue.put("first")
    assert late.wait(60)
    # The thread is at work again, and says so.
    assert not queue.flush(0)
    let.set()
    assert queue.flush(60)
    assert seen == ["first", "late"]
    assert queue.close(60)


def hanging() -> tuple[BackgroundQueue[Any], Gate]:
    """A queue whose thread hangs at its first item."""
    gate = Gate()
    queue = queue_of(gate.write)
    queue.put("first")
    assert gate.entered.wait(60)
    return queue, gate


@pytest.mark.parametrize(("progress", "looks", "slices"), [(0, 12, 9), (1, 51, 24)], ids=["hangs", "is slow"])
def test_a_close_waits_so_long_without_progress_and_five_times_as_long_in_all(
    monkeypatch: pytest.MonkeyPatch, progress: int, looks: int, slices: int
) -> None:
    queue, gate = hanging()

    def work() -> None:
        queue._taken_bytes += progress

    clock = Clock(work)
    monkeypatch.setattr(background, "time", clock)
    joins: list[float] = []
    monkeypatch.setattr(queue._thread, "join", joins.append)
    assert not queue.close(10)
    monkeypatch.undo()
    assert joins == [0.05] * slices
    # Two looks at the start, then one for each slice; where something was done meanwhile, one for the new deadline.
    assert clock.looks == looks
    gate.let.set()
    assert queue.close(60)


def test_a_flush_waits_for_the_rest_of_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    queue, gate = hanging()
    queue.put("second")
    waits: list[float] = []
    monkeypatch.setattr(background, "time", clock := Clock())

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        return True

    monkeypatch.setattr(queue._idle, "wait", wait)
    # Each round looks twice: the time is over where the clock is past the deadline, and not on it.
    assert not queue.flush(4)
    assert (waits, clock.looks) == ([3.0, 1.0, 0.0], 7)
    waits.clear()
    assert not queue.flush(-5)
    assert waits == [0.0]
    monkeypatch.undo()
    gate.let.set()
    assert queue.flush(60)
    assert queue.close(60)


def test_what_is_abandoned_counts_as_dropped() -> None:
    queue, gate = hanging()
    for number in range(3):
        queue.put(number)
    queue.abandon()
    assert (queue.dropped, queue.waiting) == (3, 0)
    assert queue.take_more() == []
    gate.let.set()
    assert queue.close(60)
    assert gate.batches == [["first"]]


class OneLess(deque[Any]):
    """A queue from which another thread takes an item after its length was read."""

    def __len__(self) -> int:
        return super().__len__() + 1


def test_an_item_that_somebody_else_took_meanwhile_is_no_item() -> None:
    queue = queue_of(nothing)
    assert queue.flush(60)
    queue._queue = OneLess([("a", 1)])
    assert queue.take_more() == ["a"]
    assert queue.take_more() == []
    queue._queue = deque()
    assert queue.close(60)


def test_a_thread_without_work_sleeps() -> None:
    queue = queue_of(nothing)
    queue.put("first")
    assert queue.flush(60)
    assert not queue._wake.is_set()
    assert queue.close(60)


def test_an_item_pauses_for_a_fifth_of_a_millisecond(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = Gate()
    queue = queue_of(gate.write, limit=1)
    queue.put("first")
    assert gate.entered.wait(60)
    pauses: list[float] = []
    monkeypatch.setattr(background, "time", SimpleNamespace(sleep=pauses.append, monotonic=time.monotonic))
    queue.put("second")
    queue.put("third")
    monkeypatch.undo()
    assert pauses == [0.0002] * 51
    gate.let.set()
    assert queue.close(60)
    # Nothing empties a queue whose thread has ended: an item that finds it full does not wait.
    queue._put_bytes += 5
    queue.put("late")
    assert (queue.dropped, queue.waiting) == (3, 0)


def test_where_an_item_may_wait_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for when_full in ("drop", "wait"):
        gate = Gate()
        queue = queue_of(gate.write, limit=1, when_full=when_full)
        queue.put("first")
        assert gate.entered.wait(60)
        waited: list[str] = []

        def waits(queue: BackgroundQueue[Any], waited: list[str] = waited) -> bool:
            waited.append(queue._thread.name)
            return False

        monkeypatch.setattr(BackgroundQueue, "_waits_for_room", waits)
        queue.put("second")
        assert waited == (["toolvet-test"] if when_full == "wait" else [])
        assert queue.dropped == 1
        gate.let.set()
        assert queue.close(60)


# ── signals ──

needs_signals = pytest.mark.skipif(os.name == "nt", reason="needs signals between threads")


class Stuck:
    """A sink whose disk hangs until it is let."""

    def __init__(self) -> None:
        self.let = threading.Event()

    def write(self, _: Sequence[object]) -> None:
        self.let.wait(60)

    def end(self) -> None:
        self.let.set()

    def close(self) -> None:
        pass


@needs_signals
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("when", ["before the wait", "during it"])
def test_a_signal_ends_the_wait_for_a_hanging_disk_and_is_handled_as_before(number: signal.Signals, when: str) -> None:
    got: list[tuple[int, bool]] = []
    before = signal.signal(number, lambda number, frame: got.append((number, frame is not None)))
    recorder = Recorder([Stuck()], when_full="wait", complain=lambda _: None)
    try:
        recorder.watch_signals()
        recorder.take(RecordSource("s"), "note")
        if when == "before the wait":
            os.kill(os.getpid(), number)
        else:
            threading.Timer(0.05, os.kill, (os.getpid(), number)).start()
        recorder.settle()
        recorder.settle()
        assert got == [(number, True)]
    finally:
        signal.signal(number, before)
        recorder.close(0.01)


@needs_signals
def test_a_signal_that_is_ignored_stays_ignored() -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    recorder = Recorder([Stuck()], when_full="wait")
    try:
        recorder.watch_signals()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
        recorder.close()


def test_a_record_that_is_not_required_leaves_the_signals_alone_and_waits_for_nothing() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with Recorder([sink := Stuck()]) as recorder:
        recorder.watch_signals()
        recorder.take(RecordSource("s"), "note")
        recorder.settle()
        sink.let.set()
    assert signal.getsignal(signal.SIGTERM) is before
