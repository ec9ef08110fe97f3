"""The row of a call in the store: its columns, its reasons, and what happens where the disk does not take it."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.proxy.notes import ORIGIN, Conversation, prepared, text

from toolvet.core.json_value import elements, members
from toolvet.errors import StoreError
from toolvet.proxy.record.recorder import StampedNote
from toolvet.proxy.record.recording import Recording, recorder_of
from toolvet.proxy.record.store_exporter import StoreExporter
from toolvet.proxy.session import CallEnded, ProxySettings
from toolvet.store import EventRecord, VerdictRecord
from toolvet.store.records import StoreRecord, decode_lines, encode_lines

AT = 2_000_000_000_000_000_000


class Disk:
    """A store that refuses so often, and remembers what it took."""

    def __init__(self, refusals: int = 0) -> None:
        self.refusals = refusals
        self.records: list[StoreRecord] = []
        self.held: list[float] = []

    def add_records(self, records: Sequence[StoreRecord]) -> None:
        self.add_lines(encode_lines(records))

    def add_lines(self, lines: bytes) -> None:
        if self.refusals:
            self.refusals -= 1
            raise StoreError("the disk is full")
        self.records += [record for record in decode_lines(lines) if record is not None]

    def hold(self, seconds: float) -> None:
        self.held.append(seconds)


def sink_of(disk: Disk, told: list[str] | None = None) -> StoreExporter:
    store: Any = disk
    complaints = list[str]() if told is None else told
    return StoreExporter(store, complain=complaints.append)


def recorded(conversation: Conversation) -> list[VerdictRecord]:
    """The rows of a conversation's notes, all at one moment."""
    disk = Disk()
    sink = sink_of(disk)
    sink.write(prepared(sink, [StampedNote(ORIGIN, note, AT, 0) for note in conversation.notes]))
    return [each for each in disk.records if isinstance(each, VerdictRecord)]


def test_a_call_that_went_well_has_its_columns_and_no_reason() -> None:
    (call,) = recorded(Conversation().call({"title": "Emma"}))
    assert call.at == 2e9
    assert (call.outcome, call.failed, call.state, call.reason, call.signals) == ("success", False, None, None, ())
    assert (call.score, call.confidence) == (1.0, None)


def test_a_refused_call_says_why_and_names_its_issues() -> None:
    (call,) = recorded(Conversation().call({"titel": "Emma"}))
    assert call.failed
    assert call.reason == "Tool 'find_book' received invalid arguments. 1 validation error(s) found."
    assert (call.signals[0].type, call.signals[0].level) == ("required", "error")


def test_a_failed_call_says_what_the_server_said_and_has_its_state() -> None:
    failed = text("Error: connection to the database timed out", isError=True)
    (call,) = recorded(Conversation().call({"title": "x"}, failed))
    assert (call.outcome, call.failed) == ("tool_error", True)
    assert call.state is not None
    assert [signal.type for signal in call.signals][:1] == [call.state]
    assert call.reason is not None


def test_an_error_without_its_flag_has_failed() -> None:
    (call,) = recorded(Conversation().call({"title": "x"}, text("Database error: no such table: books")))
    assert (call.outcome, call.failed) == ("success", True)
    assert call.signals
    issues = members(call.detail["verdict"])["issues"]
    assert issues
    assert call.reason == "; ".join(map(str, elements(issues)))
    assert call.score is not None
    assert 0 <= call.score <= 1


def test_a_result_that_nobody_judged_has_no_figures() -> None:
    (call,) = recorded(Conversation(ProxySettings(results="off")).call({"title": "Emma"}))
    figures = (call.classification, call.state, call.score, call.confidence, call.reason)
    assert (call.failed, figures, call.signals) == (False, (None,) * 5, ())


def test_a_disk_that_refuses_is_told_once_and_gets_everything_when_it_takes_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("toolvet.proxy.record.store_exporter._RETRY_SECONDS", 0.001)
    disk, told = Disk(refusals=3), list[str]()
    notes = [StampedNote(ORIGIN, note, AT, 0) for note in Conversation().call({"title": "Emma"}).notes]
    sink = sink_of(disk, told)
    sink.write(prepared(sink, notes))
    assert told == ["the disk is full; what is recorded waits in memory"]
    assert len(disk.records) == 1


def test_after_the_end_a_disk_is_tried_once() -> None:
    disk = Disk(refusals=2)
    sink = sink_of(disk)
    sink.end()
    with pytest.raises(StoreError):
        sink.write(
            prepared(sink, [StampedNote(ORIGIN, note, AT, 0) for note in Conversation().call({"title": "Emma"}).notes])
        )
    assert disk.refusals == 1


def test_what_was_lost_is_recorded_once_it_can_be() -> None:
    disk, lost = Disk(), [0]
    sink = sink_of(disk)
    sink.watch(lambda: lost[0])
    sink.write([])
    assert disk.records == []
    for count in (3, 3, 5):
        lost[0] = count
        sink.close()
    events = [each for each in disk.records if isinstance(each, EventRecord)]
    assert [(each.kind, each.message.split()[0]) for each in events] == [("dropped", "3"), ("dropped", "2")]


@pytest.mark.parametrize(("count", "held"), [(124, []), (125, [0.5])])
def test_many_calls_at_once_let_the_database_wait(count: int, held: list[float]) -> None:
    disk = Disk()
    note = CallEnded(call=1, id=1, tool="find", era="legacy", outcome="success")
    sink = sink_of(disk)
    sink.write(prepared(sink, [StampedNote(ORIGIN, note, AT, 0)] * count))
    assert (disk.held, len(disk.records)) == (held, count)


def test_metrics_are_counted_only_where_they_are_wanted() -> None:
    for wanted, is_there in (("on", True), ("off", False)):
        with recorder_of(Recording(metrics=wanted)) as recorder:  # type: ignore[arg-type]
            assert ("toolvet_calls_total" in recorder.render_metrics()) is is_there


def test_a_place_that_cannot_be_written_is_told_at_the_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    with recorder_of(Recording(store=tmp_path / "file" / "calls.db")):
        assert "the calls pass, and what is recorded waits in memory" in capsys.readouterr().err


def test_where_the_database_does_not_take_it_the_end_says_where_it_waits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, content, waits in (("bad.db", b"not a database" * 1000, True), ("good.db", b"", False)):
        path = tmp_path / name
        path.write_bytes(content)
        with recorder_of(Recording(store=path)) as recorder:
            for note in Conversation().call({"title": "Emma"}).notes:
                recorder.take(ORIGIN, note)
            store = recorder._store
            assert store is not None
            for _ in range(6000):
                if waits is (store.problem is not None):
                    break
                time.sleep(0.01)
        assert ("the next process that opens the store takes it in" in capsys.readouterr().err) is waits
