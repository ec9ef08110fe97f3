"""The queue before a sink, step by step: how long an item waits for room, and what becomes of it."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.proxy.notes import ORIGIN

from toolvet.proxy.record import background, store_exporter
from toolvet.proxy.record.background import BackgroundQueue, WhenFull
from toolvet.proxy.record.calls import FinishedCall, OpenCalls
from toolvet.proxy.record.recorder import Recorder, StampedNote
from toolvet.proxy.record.store_exporter import StoreExporter
from toolvet.proxy.session import CallEnded, CallStarted
from toolvet.store import Store


class Held:
    """Work that waits until it is let, and remembers what came."""

    def __init__(self) -> None:
        self.seen: list[object] = []
        self.entered = threading.Event()
        self.let = threading.Event()

    def write(self, items: Sequence[object]) -> None:
        self.entered.set()
        self.let.wait(60)
        self.seen += items

    def close(self) -> None:
        pass


@pytest.fixture
def held() -> Iterator[Held]:
    found = Held()
    yield found
    found.let.set()


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses that items made, which take no time."""
    found: list[float] = []
    monkeypatch.setattr(background, "time", SimpleNamespace(sleep=found.append, monotonic=time.monotonic))
    return found


def queue_of(held: Held, *, limit: int, when_full: WhenFull = "drop") -> BackgroundQueue[str]:
    """A queue whose thread is at its first item, which has one byte."""
    queue = BackgroundQueue[str](
        held.write, held.close, limit=limit, name="test", complain=lambda _: None, when_full=when_full
    )
    queue.put("first")
    assert held.entered.wait(60)
    return queue


def test_an_item_counts_for_its_bytes_until_it_was_worked_on(held: Held) -> None:
    queue = queue_of(held, limit=3)
    for item in ("second", "third", "fourth"):
        queue.put(item)
    assert queue.dropped == 1
    held.let.set()
    assert queue.flush(60)
    assert held.seen == ["first", "second", "third"]
    for item in ("fifth", "sixth", "seventh"):
        queue.put(item)
    assert queue.flush(60)
    assert queue.dropped == 1
    assert queue.close(60)


def test_an_item_that_finds_no_room_pauses_fifty_times_and_the_next_ones_once(held: Held, pauses: list[float]) -> None:
    queue = queue_of(held, limit=1)
    queue.put("second")
    assert len(pauses) == 50
    queue.put("third")
    assert len(pauses) == 51
    assert queue.dropped == 2
    held.let.set()
    assert queue.flush(60)
    # There was room: the next full queue gets all its pauses again.
    held.let.clear()
    held.entered.clear()
    queue.put("fourth")
    assert held.entered.wait(60)
    queue._is_stuck = False
    queue.put("fifth")
    assert len(pauses) == 101


def test_room_that_comes_during_the_pauses_is_taken(held: Held, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = queue_of(held, limit=1)

    def let(_: float) -> None:
        held.let.set()
        queue.flush(60)

    monkeypatch.setattr(background, "time", SimpleNamespace(sleep=let, monotonic=time.monotonic))
    queue._is_stuck = True
    queue.put("second")
    assert queue.dropped == 0
    assert not queue._is_stuck
    assert queue.close(60)
    assert held.seen == ["first", "second"]


def putting(queue: BackgroundQueue[str], item: str) -> threading.Thread:
    """A thread that puts an item, once it waits for room."""
    waits = threading.Event()
    thread = threading.Thread(target=queue.put, args=(item,), daemon=True)
    makes_room: Callable[[], bool] = queue._waits_for_room

    def noticed() -> bool:
        waits.set()
        return makes_room()

    queue._waits_for_room = noticed  # type: ignore[method-assign]
    thread.start()
    assert waits.wait(60)
    return thread


def test_an_item_that_is_required_waits_for_room(held: Held) -> None:
    queue = queue_of(held, limit=1, when_full="wait")
    thread = putting(queue, "second")
    assert thread.is_alive()
    held.let.set()
    thread.join(60)
    assert queue.close(60)
    assert (held.seen, queue.dropped) == (["first", "second"], 0)


def test_an_item_that_waits_is_dropped_at_the_end(held: Held) -> None:
    queue = queue_of(held, limit=1, when_full="wait")
    thread = putting(queue, "second")
    assert not queue.close(0.01)
    thread.join(60)
    assert not thread.is_alive()
    assert queue.dropped == 1


@pytest.mark.parametrize(("size", "lost"), [(511, 0), (512, 1)])
def test_a_note_with_a_result_takes_the_room_of_its_result(held: Held, size: int, lost: int) -> None:
    recorder = Recorder([held], limit=3 * 1024)
    recorder.take(ORIGIN, SimpleNamespace(result={}, size=size))
    assert held.entered.wait(60)
    recorder.take(ORIGIN, "another")
    assert recorder.lost == lost
    held.let.set()
    recorder.close(60)


def test_what_a_sink_did_not_take_at_the_end_is_told_with_its_number(
    held: Held, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolvet.proxy.record.recorder._LAST_SECONDS", 0.01)
    told: list[str] = []
    recorder = Recorder([held], complain=told.append)
    recorder.take(ORIGIN, "first")
    assert held.entered.wait(60)
    for number in range(7):
        recorder.take(ORIGIN, number)
    recorder.close(timeout=0.01)
    assert told == [
        "the record: its last notes may be lost, because writing them takes too long",
        "the record lost 7 notes",
    ]


def test_a_sink_that_is_slow_at_the_end_writes_down_what_it_did_not_come_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("toolvet.proxy.record.recorder._LAST_SECONDS", 0.01)
    entered, let = threading.Event(), threading.Event()
    store = Store(tmp_path / "a.db")
    sink = StoreExporter(store, complain=lambda _: None)

    class Slow:
        """The sink, which is let write when the recorder has given up the rest."""

        def write(self, notes: Sequence[object]) -> None:
            entered.set()
            assert let.wait(60)
            sink.write(notes)

        def close(self) -> None:
            sink.close()

    slow = Slow()
    recorder = Recorder([slow], store=store, complain=lambda _: None)
    sink.watch(lambda: recorder.lost_by(slow))
    recorder.take(ORIGIN, "first")
    assert entered.wait(60)
    for number in range(7):
        recorder.take(ORIGIN, number)
    abandon = BackgroundQueue.abandon

    def abandoned(queue: BackgroundQueue[object]) -> None:
        abandon(queue)
        let.set()
        assert queue.close(60)

    monkeypatch.setattr(BackgroundQueue, "abandon", abandoned)
    recorder.close(timeout=1)
    with Store(tmp_path / "a.db") as read:
        (event,) = read.events()
    assert (event.kind, event.message) == (
        "dropped",
        "7 notes of calls were dropped, because there was no room for them",
    )


def test_a_sink_that_is_far_behind_does_not_give_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[str] = []
    monkeypatch.setattr(store_exporter, "give_way", lambda: given.append("way"))
    with Store(tmp_path / "a.db") as store:
        for waiting, times in ((16_383, 1), (16_384, 0)):
            sink = StoreExporter(store, complain=lambda _: None)
            sink.watch(int, iter([waiting]).__next__)
            given.clear()
            call = FinishedCall(ORIGIN, ended(1).note, None, 1, 1, None)  # type: ignore[arg-type]
            sink.write([b"", call, b""])
            assert len(given) == times


def test_a_note_without_a_result_takes_a_kilobyte(held: Held) -> None:
    recorder = Recorder([held], limit=3 * 1024)
    recorder.take(ORIGIN, SimpleNamespace(result=None, size=10**9))
    assert held.entered.wait(60)
    for number in range(3):
        recorder.take(ORIGIN, number)
    assert recorder.lost == 1
    held.let.set()
    recorder.close(60)


def test_only_so_many_different_complaints_are_told() -> None:
    told: list[str] = []

    def fail(items: Sequence[int]) -> None:
        raise OSError(f"disk {items[0]}")

    queue = BackgroundQueue[int](fail, lambda: None, limit=100, name="test", complain=told.append)
    for number in range(25):
        queue.put(number)
        assert queue.flush(60)
    assert queue.close(60)
    assert queue.failed == 25
    assert told == [f"OSError: disk {number}" for number in range(20)]


def started(call: int) -> StampedNote:
    return StampedNote(ORIGIN, CallStarted(call=call, id=call, tool="find", era="legacy", size=1), 5, 0)


def ended(call: int) -> StampedNote:
    note = CallEnded(call=call, id=call, tool="find", era="legacy", outcome="success")
    return StampedNote(ORIGIN, note, 9, 2_000_000_000)


def test_the_oldest_of_too_many_open_calls_is_forgotten() -> None:
    calls = OpenCalls()
    assert list(calls.pair([started(number) for number in range(8193)])) == []
    assert len(calls) == 8192
    forgotten, known = calls.pair([ended(0), ended(1)])
    assert isinstance(forgotten, FinishedCall)
    assert isinstance(known, FinishedCall)
    assert (forgotten.started, forgotten.duration, forgotten.began) == (None, None, 9)
    assert (known.duration, known.began, known.finished) == (2.0, 5, 9)
