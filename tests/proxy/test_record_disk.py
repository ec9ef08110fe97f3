"""The recorder and the sink of a store at their borders: what they keep in memory, and a disk that takes nothing."""

import threading
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.proxy.gates import Clock, Gate, nothing, queues_of
from tests.proxy.notes import ORIGIN, prepared

from toolvet.errors import StoreError
from toolvet.proxy.record import store_exporter
from toolvet.proxy.record.background import BackgroundQueue
from toolvet.proxy.record.recorder import Recorder, StampedNote
from toolvet.proxy.record.store_exporter import Backlog, StoreExporter
from toolvet.proxy.session import CallEnded
from toolvet.store import Store

# ── the recorder ──


class Ending(Gate):
    """A sink that is warned before the end."""

    def __init__(self) -> None:
        super().__init__()
        self.ended = 0

    def end(self) -> None:
        self.ended += 1


@pytest.mark.parametrize(("size", "lost"), [(67_108_607, 0), (67_108_608, 1)])
def test_256_mib_may_wait_for_one_sink(size: int, lost: int) -> None:
    gate = Gate()
    recorder = Recorder([gate])
    recorder.take(ORIGIN, SimpleNamespace(result={}, size=size))
    assert gate.entered.wait(60)
    recorder.take(ORIGIN, "another")
    assert recorder.lost == lost
    gate.let.set()
    recorder.close(60)


def test_a_result_of_no_known_size_takes_no_room() -> None:
    gate = Gate()
    recorder = Recorder([gate], limit=1025)
    recorder.take(ORIGIN, SimpleNamespace(result={}))
    assert gate.entered.wait(60)
    recorder.take(ORIGIN, "another")
    assert recorder.lost == 0
    gate.let.set()
    recorder.close(60)


def test_only_a_sink_that_can_be_ended_makes_calls_wait() -> None:
    sinks = (Ending(), Gate())
    for when_full, found in (("wait", ["wait", "drop"]), ("drop", ["drop", "drop"])):
        recorder = Recorder(sinks, when_full=when_full)  # type: ignore[arg-type]
        assert [queue.when_full for queue in queues_of(recorder)] == found
        recorder.close()
    assert [queue.when_full for queue in queues_of(Recorder(sinks))] == ["drop", "drop"]


@pytest.mark.parametrize(
    ("hangs", "given", "waits"),
    [(0, None, [2.0]), (1, None, [2.0, 0.5]), (2, None, [2.0, 0.5, 0.5]), (3, 7.0, [7.0, 0.5, 0.5])],
)
def test_a_sink_that_hangs_is_given_three_chances(
    monkeypatch: pytest.MonkeyPatch, hangs: int, given: float | None, waits: list[float]
) -> None:
    seen: list[float] = []
    abandoned: list[object] = []

    others: list[float] = []

    def close(queue: BackgroundQueue[Any], timeout: float) -> bool:
        if queue is queues_of(recorder)[1]:
            others.append(timeout)
            return True
        seen.append(timeout)
        return len(seen) > hangs

    monkeypatch.setattr(BackgroundQueue, "close", close)
    monkeypatch.setattr(BackgroundQueue, "abandon", lambda queue: abandoned.append(queue))  # noqa: PLW0108 - a method of the queue
    told: list[str] = []
    sink = Ending()
    recorder = Recorder([sink, other := Gate()], complain=told.append)
    recorder.close() if given is None else recorder.close(given)
    assert (seen, others) == (waits, waits[:1])
    assert (sink.ended, len(abandoned)) == (int(hangs > 0), int(hangs > 1))
    slow = ["the record: its last notes may be lost, because writing them takes too long"]
    assert told == (slow if hangs == 3 else [])
    monkeypatch.undo()
    for gate in (sink, other):
        gate.let.set()
    assert all(queue.close(60) for queue in queues_of(recorder))


def test_the_second_sink_is_closed_where_the_first_one_hangs_or_not() -> None:
    first, second = Gate(), Gate()
    first.let.set()
    second.let.set()
    with Recorder([first, second]) as recorder:
        assert recorder.has_sinks
        recorder.take(ORIGIN, "note")
    assert not any(queue._thread.is_alive() for queue in queues_of(recorder))
    assert [len(sink.batches) for sink in (first, second)] == [1, 1]
    assert not Recorder().has_sinks


def test_what_was_lost_is_counted_by_sink_and_in_all() -> None:
    class Failing(Gate):
        def write(self, items: Sequence[object]) -> None:
            super().write(items)
            raise OSError("full")

    good, bad = Gate(), Failing()
    good.let.set()
    told: list[str] = []
    recorder = Recorder([good, bad], limit=2 * 1024, complain=told.append)
    recorder.take(ORIGIN, 0)
    assert good.entered.wait(60)
    assert bad.entered.wait(60)
    assert queues_of(recorder)[0].flush(60)
    # A flush is not done before every sink has everything.
    assert not recorder.flush(0)
    recorder.take(ORIGIN, 1)
    assert queues_of(recorder)[0].flush(60)
    recorder.take(ORIGIN, 2)
    assert queues_of(recorder)[0].flush(60)
    assert [recorder.waiting_for(sink) for sink in (good, bad)] == [0, 1]
    assert [recorder.lost_by(sink) for sink in (good, bad)] == [0, 1]
    more: Any = recorder.take_more_for(bad)
    assert [stamped.note for stamped in more] == [1]
    bad.let.set()
    assert recorder.flush(60)
    assert [recorder.lost_by(sink) for sink in (good, bad)] == [0, 3]
    assert recorder.lost == 3
    recorder.close(60)
    assert told == ["the record: OSError: full", "the record lost 3 notes"]


def test_a_flush_shares_its_time_among_the_sinks(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []

    def flush(_: BackgroundQueue[Any], timeout: float) -> bool:
        given.append(timeout)
        return True

    monkeypatch.setattr(BackgroundQueue, "flush", flush)
    monkeypatch.setattr("toolvet.proxy.record.recorder.time", clock := Clock())
    gates = [Gate(), Gate(), Gate()]
    recorder = Recorder(gates)
    assert recorder.flush()
    assert (given, clock.looks) == ([1.0, 0.0, 0.0], 4)
    for gate in gates:
        gate.let.set()
    monkeypatch.undo()
    recorder.close(60)


@pytest.mark.parametrize("moved", [True, False])
def test_a_recorder_closes_its_store_within_half_of_its_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, moved: bool
) -> None:
    store = Store(tmp_path / "calls.db")
    given: list[float] = []
    close = store.close

    def noted(timeout: float) -> bool:
        given.append(timeout)
        return close(60) and moved

    monkeypatch.setattr(store, "close", noted)
    with Recorder(store=store):
        pass
    assert given == [1.0]
    # That there was only no time is nothing to complain of.
    assert capsys.readouterr().err == ""


def test_complaints_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    class Full(Gate):
        def write(self, items: Sequence[object]) -> None:
            raise OSError(f"full at {len(items)}")

    with Recorder([Full()]) as recorder:
        recorder.take(ORIGIN, 1)
    assert capsys.readouterr().err == "toolvet: the record: OSError: full at 1\ntoolvet: the record lost 1 notes\n"


# ── giving way ──


def ended(number: int) -> StampedNote:
    note = CallEnded(call=number, id=number, tool="find", era="legacy", outcome="success")
    return StampedNote(ORIGIN, note, 9, 2_000_000_000)


@pytest.mark.parametrize(("count", "ways"), [(0, 0), (1, 1), (16, 1), (17, 2), (64, 4), (65, 5)])
def test_the_store_gives_way_every_so_many_calls_that_are_not_plain(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int, ways: int
) -> None:
    given: list[str] = []
    monkeypatch.setattr(store_exporter, "give_way", lambda: given.append("store"))
    notes = [ended(number) for number in range(count)]
    with Store(tmp_path / "calls.jsonl") as store:
        sink = StoreExporter(store, complain=nothing)
        sink.write([item for each in [b"", *prepared(sink, notes)] for item in (each, b"")])
    assert len(given) == ways


# ── a disk that takes nothing ──


class Refusing:
    """A store whose disk refuses so often, and that then takes what comes."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals
        self.taken: list[bytes] = []

    def add_lines(self, lines: bytes) -> None:
        self.refusals -= 1
        if self.refusals >= 0:
            raise StoreError("full" if self.refusals else "still full")
        self.taken.append(lines)


class Waits(threading.Event):
    """An event that remembers how long it was waited for, and takes no time."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[float | None] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.seconds.append(timeout)
        return self.is_set()


def sink_of(store: Any, told: list[str]) -> StoreExporter:
    return StoreExporter(store, complain=told.append)


def test_a_full_disk_is_asked_four_times_a_second_and_each_reason_is_told_once() -> None:
    disk, told = Refusing(4), list[str]()
    sink = sink_of(disk, told)
    sink._ending = Waits()
    sink.write(prepared(sink, [ended(1)]))
    assert sink._ending.seconds == [0.25] * 4
    waits = "; what is recorded waits in memory"
    assert told == [f"full{waits}", f"still full{waits}"]
    assert len(disk.taken) == 1


@pytest.mark.parametrize(("size", "takes"), [((64 << 20) - 1, 2), (64 << 20, 0)])
def test_64_mib_of_records_are_packed(monkeypatch: pytest.MonkeyPatch, size: int, takes: int) -> None:
    monkeypatch.setattr(Backlog, "size", property(lambda _: size))
    disk = Refusing(1)
    sink = sink_of(disk, [])
    more = [prepared(sink, [ended(2)]), list[object]()]
    sink._ending = Waits()
    sink.watch(int, int, lambda: more.pop(0))
    sink.write(prepared(sink, [ended(1)]))
    assert 2 - len(more) == takes
    assert b"".join(disk.taken).count(b"\n") == (2 if takes else 1)


def test_at_the_end_no_more_is_taken_and_what_was_lost_is_told_when_it_can_be() -> None:
    disk, told, taken = Refusing(2), list[str](), list[str]()
    sink = sink_of(disk, told)

    def take_more() -> list[StampedNote]:
        taken.append("more")
        return []

    sink.watch(lambda: 3, int, take_more)
    waits = Waits()
    sink._ending = waits
    wait = waits.wait

    def ends(timeout: float | None = None) -> bool:
        sink.end()
        return wait(timeout)

    waits.wait = ends  # type: ignore[method-assign]
    # The second refusal finds the end near, and is raised.
    with pytest.raises(StoreError, match=r"^still full$"):
        sink.write(prepared(sink, [ended(1)]))
    assert (taken, told) == ([], ["full; what is recorded waits in memory"])
    sink.close()
    (line,) = disk.taken
    assert b"3 notes of calls were dropped" in line
    sink.close()
    assert len(disk.taken) == 1
