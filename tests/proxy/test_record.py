"""The record: complete when it can be, honest when it cannot, and never in the way."""

import json
import os
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest
from tests.proxy.notes import ORIGIN, Conversation, prepared, text

from toolvet import fit_response
from toolvet.proxy.record.background import BackgroundQueue
from toolvet.proxy.record.calls import FinishedCall, OpenCalls
from toolvet.proxy.record.recorder import Recorder, StampedNote
from toolvet.proxy.record.recording import Recording, recorder_of
from toolvet.proxy.record.store_exporter import StoreExporter
from toolvet.proxy.session import PolicyFault, ProxySettings
from toolvet.store import Store, VerdictFilter, VerdictRecord

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class Collecting:
    """A sink that remembers."""

    def __init__(self) -> None:
        self.seen: list[StampedNote] = []
        self.closed_in: str | None = None

    def write(self, seen: Sequence[StampedNote]) -> None:
        self.seen += seen

    def close(self) -> None:
        self.closed_in = threading.current_thread().name


class Hanging:
    """A disk that does not answer until it is let."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.let = threading.Event()

    def write(self, seen: Sequence[StampedNote]) -> None:  # noqa: ARG002 - it takes nothing in
        self.entered.set()
        self.let.wait(60)

    def close(self) -> None:
        pass


class Failing:
    """A disk that is full."""

    def write(self, seen: Sequence[StampedNote]) -> None:  # noqa: ARG002 - as above
        raise OSError(28, "No space left on device")

    def close(self) -> None:
        raise OSError(28, "No space left on device")


def kept(path: Path) -> list[VerdictRecord]:
    with Store(path, missing="refuse") as store:
        return store.verdicts(VerdictFilter(kind="call"), order="oldest", limit=100_000)


def record(path: Path, conversation: Conversation, name: str | None = None) -> None:
    with recorder_of(Recording(store=path, name=name)) as recorder:
        for note in conversation.notes:
            recorder.take(ORIGIN, note)


def take_many(recorder: Recorder) -> None:
    for number in range(1000):
        recorder.take(ORIGIN, number)


# ── the queue ──


def test_every_note_arrives_in_order_and_with_rising_clocks() -> None:
    sink = Collecting()
    with Recorder([sink]) as recorder:
        for number in range(5000):
            recorder.take(ORIGIN, number)
    assert [seen.note for seen in sink.seen] == list(range(5000))
    clocks = [seen.clock for seen in sink.seen]
    assert clocks == sorted(clocks)
    assert recorder.lost == 0


def test_notes_of_several_threads_all_arrive() -> None:
    sink = Collecting()
    with Recorder([sink]) as recorder:
        threads = [threading.Thread(target=take_many, args=(recorder,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(sink.seen) == 4000


def test_flush_waits_until_what_was_taken_has_arrived() -> None:
    sink = Collecting()
    with Recorder([sink]) as recorder:
        for number in range(300):
            recorder.take(ORIGIN, number)
            if number % 100 == 0:
                assert recorder.flush(30)
                assert sink.seen[-1].note == number


def test_a_sink_is_closed_in_the_thread_that_wrote_to_it() -> None:
    sink = Collecting()
    Recorder([sink]).close()
    assert sink.closed_in == "toolvet-record"


def test_a_hanging_disk_costs_records_which_are_counted_and_delays_nobody() -> None:
    disk, other = Hanging(), Collecting()
    told: list[str] = []
    recorder = Recorder([disk, other], limit=10 * 1024, complain=told.append)
    recorder.take(ORIGIN, 0)
    assert disk.entered.wait(30)
    for number in range(1, 31):
        recorder.take(ORIGIN, number)
        # The other sink keeps up: it has its own thread.
        assert not other.seen or other.seen[0].note == 0
        recorder.flush(0)
    assert recorder.lost >= 20
    recorder.close(timeout=0.2)
    assert any("takes too long" in words for words in told)
    assert any("lost" in words for words in told)
    disk.let.set()


def test_a_full_disk_is_told_once_and_counted_each_time() -> None:
    told: list[str] = []
    recorder = Recorder([Failing()], complain=told.append)
    for number in range(3):
        recorder.take(ORIGIN, number)
        assert recorder.flush(30)
    recorder.close()
    assert told == ["the record: OSError: [Errno 28] No space left on device", "the record lost 3 notes"]


class Faulty:
    """A sink that takes notes at once, and cannot."""

    def __init__(self) -> None:
        self.is_closed = False

    def take(self, note: StampedNote) -> None:
        raise ValueError(f"no room for {note.note}")

    def close(self) -> None:
        self.is_closed = True


def test_a_fault_of_a_sink_that_takes_notes_at_once_reaches_no_call_and_no_other_sink() -> None:
    faulty, other, told = Faulty(), Collecting(), list[str]()
    recorder = Recorder([faulty, other], complain=told.append)
    for number in (1, 1, 2, *range(2, 40)):
        recorder.take(ORIGIN, number)
    assert recorder.lost == 41
    recorder.close()
    assert faulty.is_closed
    assert [each.note for each in other.seen] == [1, 1, 2, *range(2, 40)]
    assert told[:2] == ["the record: ValueError: no room for 1", "the record: ValueError: no room for 2"]
    # Twenty wordings, and the sum at the end.
    assert told[20:] == ["the record lost 41 notes"]


def test_a_plain_call_is_written_down_at_once_and_any_other_by_the_thread(tmp_path: Path) -> None:
    with Store(tmp_path / "a.db") as store:
        sink = StoreExporter(store, complain=lambda _: None)
        talk = Conversation().call({"title": "Emma"}, id=1).call({"titel": "Emma"}, id=2)
        talk.call({"title": "x"}, text("Error: no", isError=True), id=3)
        stamped = [StampedNote(ORIGIN, note, 7, 7) for note in talk.notes]
        fault = StampedNote(ORIGIN, PolicyFault("list_failed", "why"), 8, 8)
        plain, refused, failed, last = prepared(sink, [*stamped, fault, StampedNote(ORIGIN, "else", 9, 9)])
        assert isinstance(plain, bytes)
        assert [each.ended.id for each in (refused, failed) if isinstance(each, FinishedCall)] == [2, 3]
        assert last == fault
        sink.write([plain, refused, failed, last])
        assert store.flush(60)
        assert [call.request_id for call in store.verdicts(order="oldest")] == ["1", "2", "3"]
        assert [event.message for event in store.events()] == ["why"]


def test_a_queue_without_work_ends_at_once() -> None:
    queue = BackgroundQueue[int](lambda _: None, lambda: None, limit=1, name="test", complain=lambda _: None)
    assert queue.close(30)


# ── what is kept ──


def test_a_call_is_kept_with_its_verdict_and_how_long_it_took(tmp_path: Path) -> None:
    record(tmp_path / "calls.db", Conversation().call({"title": "Emma"}, meta={"traceparent": TRACE}), name="books")
    (call,) = kept(tmp_path / "calls.db")
    assert (call.server, call.connection, call.tool, call.request_id) == ("books", "stdio-1", "find_book", "1")
    assert (call.outcome, call.classification, call.blocked) == ("success", "fully_working", None)
    assert call.duration is not None
    assert call.duration > 0
    assert call.trace == "0af7651916cd43dd8448eb211c80319c"


def test_what_a_result_says_that_it_leaves_out_is_kept_and_the_counts_of_its_parts_are_not(tmp_path: Path) -> None:
    cut = fit_response({"books": [{"id": f"b{number}", "title": "Emma"} for number in range(200)]}, 900)
    book = tmp_path / "calls.db"
    record(book, Conversation().call({"title": "Emma"}, text(cut.to_json())).call({"title": "Ivanhoe"}))
    first, second = (call.detail["verdict"] for call in kept(book))
    assert isinstance(first, dict)
    assert isinstance(second, dict)
    assert set(first["metadata"]) == {"content_fidelity", "warnings"}
    assert first["metadata"]["content_fidelity"] == "partial"
    assert "metadata" not in second


def test_a_refused_call_is_kept_with_what_was_wrong(tmp_path: Path) -> None:
    record(tmp_path / "calls.db", Conversation().call({"titel": "Emma"}))
    (call,) = kept(tmp_path / "calls.db")
    assert (call.server, call.outcome, call.blocked) == ("mcp-server-books", "refused", "arguments")
    assert call.duration is None
    issues = call.detail["issues"]
    assert isinstance(issues, list)
    assert issues[0]["field"] == "title"


def test_a_schema_that_does_not_compile_is_kept_as_an_event(tmp_path: Path) -> None:
    record(tmp_path / "calls.db", Conversation().call({}, tool="odd"))
    with Store(tmp_path / "calls.db") as store:
        (event,) = store.events()
    assert (event.kind, event.tool) == ("schema_unusable", "odd")


@pytest.mark.parametrize(
    "settings", [None, ProxySettings(record="calls", redact=("title",))], ids=["verdicts", "calls"]
)
@pytest.mark.parametrize("name", ["calls.db", "calls.jsonl"])
def test_no_secret_reaches_the_disk(tmp_path: Path, name: str, settings: ProxySettings | None) -> None:
    conversation = Conversation(settings)
    conversation.call({"title": "Sense and Sensibility", "password": "hunter2-in-clear"})
    conversation.call({"title": 1, "password": "hunter2-in-clear"}, id=2)
    failure = text(
        "Login failed: password=hunter2-in-clear token=ghp_0123456789abcdefghijklmnopqrstuvwxyz", isError=True
    )
    conversation.call({"title": "x"}, failure, id=3)
    record(tmp_path / name, conversation)
    written = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"find_book" in written
    assert b"hunter2" not in written
    assert b"ghp_" not in written
    assert b"Sensibility" not in written


def test_arguments_and_results_are_kept_only_where_the_policy_says_so(tmp_path: Path) -> None:
    record(tmp_path / "few.db", Conversation().call({"title": "Persuasion"}))
    record(tmp_path / "all.db", Conversation(ProxySettings(record="calls")).call({"title": "Persuasion"}))
    (few,), (everything,) = kept(tmp_path / "few.db"), kept(tmp_path / "all.db")
    assert "arguments" not in few.detail
    assert everything.detail["arguments"] == {"title": "Persuasion"}
    assert "result" in everything.detail


def test_lines_of_json_hold_the_same(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    record(path, Conversation().call({"title": "Emma"}))
    record(path, Conversation().call({"title": 1}))
    first, second = (json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    assert (first["tool"], first["outcome"]) == ("find_book", "success")
    assert second["blocked"] == "arguments"


def test_the_file_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    for name in ("calls.db", "calls.jsonl"):
        record(tmp_path / name, Conversation().call({"title": "Emma"}))
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o600


def test_two_proxies_write_into_one_file(tmp_path: Path) -> None:
    path = tmp_path / "calls.db"
    recorders = [recorder_of(Recording(store=path, name=name)) for name in ("one", "two")]
    for _ in range(50):
        for recorder in recorders:
            for note in Conversation().call({"title": "Emma"}).notes:
                recorder.take(ORIGIN, note)
    for recorder in recorders:
        recorder.close(timeout=30)
        assert recorder.lost == 0
    assert len(kept(path)) == 100


def test_a_file_that_is_no_database_costs_the_record_and_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "calls.db"
    path.write_bytes(b"not a database, and long enough to be read as one" * 100)
    record(path, Conversation().call({"title": "Emma"}))
    assert "file is not a database" in capsys.readouterr().err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_device_costs_the_record_and_nothing_else(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    link = tmp_path / "full.jsonl"
    link.symlink_to("/dev/full")
    record(link, Conversation().call({"title": "Emma"}))
    told = capsys.readouterr().err
    assert os.strerror(28) in told
    assert "lost" in told


def test_a_store_that_another_program_locks_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "calls.db"
    with Store(path) as store:
        store.count()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    recorder = recorder_of(Recording(store=path))
    for note in Conversation().call({"title": "Emma"}).notes:
        recorder.take(ORIGIN, note)
    other.execute("COMMIT")
    other.close()
    recorder.close(timeout=30)
    assert len(kept(path)) == 1


def test_a_call_that_never_ends_is_open_and_is_kept_nowhere(tmp_path: Path) -> None:
    conversation = Conversation()
    conversation.client({"id": 9, "method": "tools/call", "params": {"name": "find_book", "arguments": {"title": "x"}}})
    calls = OpenCalls()
    assert list(calls.pair([StampedNote(ORIGIN, note, 0, 0) for note in conversation.notes])) == []
    assert len(calls) == 1
    record(tmp_path / "calls.db", conversation)
    assert kept(tmp_path / "calls.db") == []
