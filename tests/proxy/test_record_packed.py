"""Records that the disk does not take wait in memory, packed; those of plain calls are made once: counted, not timed"""

import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.proxy.notes import ORIGIN, TOOL, Conversation, prepared, text

from toolvet.core.causes import ErrorKind, Retry, State
from toolvet.core.checks.result import Factor, Leak, LeakKind, ResultMetadata
from toolvet.core.redact import SecretMask
from toolvet.errors import StoreError
from toolvet.proxy.record import store_exporter
from toolvet.proxy.record.call_lines import CallLines
from toolvet.proxy.record.calls import FinishedCall
from toolvet.proxy.record.recorder import Recorder, RecordSource, StampedNote
from toolvet.proxy.record.store_exporter import Backlog, StoreExporter
from toolvet.proxy.session import CallEnded, ProxySettings
from toolvet.store import Store
from toolvet.store.records import VerdictRecord, decode_lines, encode_lines

CALLS = 2_000


def line(number: int) -> bytes:
    return b'{"type":"verdict","id":"%032x","kind":"call","server":"books","tool":"find_book"}\n' % number


def drained(backlog: Backlog) -> bytes:
    found = b""
    while lines := backlog.first():
        found += lines
        backlog.drop_first()
    return found


def test_a_backlog_keeps_lines_in_order_in_a_fraction_of_their_bytes() -> None:
    backlog = Backlog()
    lines = [line(number) for number in range(20_000)]
    for each in lines:
        backlog.add(each)
    assert backlog.size < sum(map(len, lines)) / 4
    backlog.add(b"")
    assert drained(backlog) == b"".join(lines)
    assert (backlog.size, backlog.first()) == (0, b"")
    backlog.add(b"one\n")
    assert (backlog.size, drained(backlog)) == (4, b"one\n")


def test_packing_and_unpacking_take_little_more_than_a_piece() -> None:
    lines = [line(number) * 100 for number in range(0, 40_000, 100)]
    backlog = Backlog()
    tracemalloc.start()
    try:
        for each in lines:
            backlog.add(each)
        drained_bytes = 0
        while found := backlog.first():
            drained_bytes += len(found)
            backlog.drop_first()
        kept, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert drained_bytes == sum(map(len, lines))
    # zlib itself takes 270 KB.
    assert peak < 600_000
    assert kept < 20_000


class FullDisk:
    """A store that takes nothing before some number of tries."""

    def __init__(self, store: Store, monkeypatch: pytest.MonkeyPatch, refusals: int) -> None:
        self.left = refusals
        self._keep = store.add_lines
        monkeypatch.setattr(store, "add_lines", self.add_lines)
        monkeypatch.setattr(store_exporter, "_RETRY_SECONDS", 0.001)

    def add_lines(self, lines: bytes) -> None:
        self.left -= 1
        if self.left >= 0:
            raise StoreError("No space left on device")
        self._keep(lines)


def notes(calls: int) -> list[StampedNote]:
    talk = Conversation()
    for number in range(calls):
        talk.call({"title": "Emma"}, id=number)
    return [StampedNote(ORIGIN, note, number, number) for number, note in enumerate(talk.notes)]


def test_notes_leave_the_queue_while_the_disk_is_full_and_come_into_the_store_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    add = Backlog.add

    def added(backlog: Backlog, lines: bytes) -> None:
        add(backlog, lines)
        sizes.append(backlog.size)

    monkeypatch.setattr(Backlog, "add", added)
    with Store(tmp_path / "calls.db") as store:
        sink = StoreExporter(store, complain=lambda _: None)
        taken = prepared(sink, notes(CALLS))
        first, *rest = [taken[start : start + 100] for start in range(0, CALLS, 100)]
        sink.watch(int, int, lambda: rest.pop(0) if rest else [])
        disk = FullDisk(store, monkeypatch, 3)
        sink.write(first)
        # All of them were taken while the second try was waited for.
        assert disk.left < 0
        assert rest == []
        assert max(sizes) < CALLS * 300
        assert store.flush(60)
        found = store.verdicts(limit=CALLS + 1, order="oldest")
        assert [verdict.request_id for verdict in found] == [str(number) for number in range(CALLS)]


def test_no_more_is_packed_than_a_limit_allows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_exporter, "_MOST_PACKED", 1)
    with Store(tmp_path / "calls.db") as store:
        sink = StoreExporter(store, complain=lambda _: None)
        taken: list[str] = []

        def take_more() -> list[object]:
            taken.append("a batch")
            return []

        sink.watch(int, int, take_more)
        FullDisk(store, monkeypatch, 2)
        sink.write(prepared(sink, notes(2)))
        assert not taken


def test_what_was_packed_when_the_disk_stays_full_is_lost_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    store = Store(tmp_path / "calls.db")
    sink = StoreExporter(store, complain=told.append)
    recorder = Recorder([sink], store=store, complain=told.append)
    sink.watch(lambda: recorder.lost_by(sink), int, lambda: recorder.take_more_for(sink))
    FullDisk(store, monkeypatch, 1 << 40)
    for number in range(700):
        recorder.take(ORIGIN, CallEnded(call=number, id=number, tool="find", era="legacy", outcome="success"))
    recorder.close(timeout=0.5)
    assert recorder.lost == 700
    assert "the record lost 700 notes" in told


# ── plain calls ──


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[CallEnded]:
    """The calls that were redacted one by one."""
    found: list[CallEnded] = []
    to_dict = CallEnded.to_dict

    def noted(note: CallEnded) -> dict[str, object]:
        found.append(note)
        return to_dict(note)

    monkeypatch.setattr(CallEnded, "to_dict", noted)
    return found


def finished(note: CallEnded, *, duration: float | None = 0.25) -> FinishedCall:
    origin = RecordSource("books 100% of \ud800 them", "c 1")
    return FinishedCall(origin, note, None, began=1_795_357_000_123_456_789, finished=0, duration=duration)


def read(line: bytes) -> VerdictRecord:
    """The record in a line, without the id of its own."""
    (found,) = decode_lines(line)
    assert isinstance(found, VerdictRecord)
    return msgspec.structs.replace(found, id="", document=msgspec.Raw())


def slowly(call: FinishedCall, name: str, known: SecretMask) -> bytes:
    return encode_lines([CallLines(name, known).record_of(call)])


TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.parametrize("known", [SecretMask(), SecretMask(["secretname", "17"])])
@pytest.mark.parametrize("meta", [{}, {"traceparent": TRACE}, {"progressToken": 5}])
@pytest.mark.parametrize("name", ["", "books"])
def test_plain_calls_are_redacted_once_and_filled_in(
    made: list[CallEnded], known: SecretMask, meta: dict[str, Any], name: str
) -> None:
    talk = Conversation()
    for number in range(15, 30):
        talk.call({"title": "Emma"}, id=number, meta=meta)
    ends = [note for note in talk.notes if isinstance(note, CallEnded)]
    calls = [finished(note, duration=None if note.id == 20 else 0.25) for note in ends]
    lines = CallLines(name, known)
    written = [lines.line_of(call) for call in calls]
    assert len(made) == 1
    records = [read(line) for line in written]
    slow = [slowly(call, name, known) for call in calls]
    assert records == [read(line) for line in slow]
    details = [[each.detail for each in decode_lines(line) if isinstance(each, VerdictRecord)] for line in written]
    assert details == [[each.detail for each in decode_lines(line) if isinstance(each, VerdictRecord)] for line in slow]
    assert {each.request_id for each in records} >= {"16", "18"}
    assert {each.duration for each in records} == {None, 0.25}


def odd_calls() -> Sequence[Conversation]:
    return (
        Conversation().call({"title": "Emma"}, id="token=abcdefghijkl"),
        Conversation().call({"title": "Emma"}, meta={"dev.toolvet/trace": "password=abcdefgh"}),
        Conversation().call({"title": "Emma"}, meta={"dev.toolvet/trace": "turn-1"}),
        Conversation().call({"title": "Emma"}, text("No such book", isError=True)),
        Conversation().call({"title": 5}),
        Conversation().call({"title": "Emma"}, error={"code": -32603, "message": "token=abcdefghijkl"}),
        Conversation(ProxySettings(record="calls")).call({"title": "Emma", "password": "hunter2hunter"}),
        Conversation(ProxySettings(redact=("verdict",))).call({"title": "Emma"}),
        Conversation(ProxySettings(results="off", output_schema="off")).call({"title": "Emma"}),
    )


def test_a_call_in_which_something_stands_out_is_redacted_each_time(made: list[CallEnded]) -> None:
    for talk in odd_calls():
        (note,) = (note for note in talk.notes if isinstance(note, CallEnded))
        call = finished(note)
        lines = CallLines("", SecretMask())
        made.clear()
        first, second = lines.line_of(call), lines.line_of(call)
        assert len(made) == 2
        assert read(first) == read(second) == read(slowly(call, "", SecretMask()))


def plain() -> CallEnded:
    (note,) = (note for note in Conversation().call({"title": "Emma"}).notes if isinstance(note, CallEnded))
    return note


ISSUE = next(note for note in Conversation().call({"title": 5}).notes if isinstance(note, CallEnded)).issues[0]
OWN: list[dict[str, Any]] = [
    {"unjudged": "it is too large"},
    {"issues": (ISSUE,)},
    {"repaired": {"title": "Emma"}},
    {"blocked": "arguments"},
    {"would_block": "arguments"},
    {"why": "too many"},
    {"changed": ("is_error",)},
    {"code": -32603},
    {"arguments": {"title": "Emma"}},
    {"result": {"content": []}},
    {"hidden": ("verdict",)},
    {"mask": SecretMask(["Tool responded successfully"])},
    {"outcome": "tool_error"},
    {"verdict": None},
]
OF_VERDICT: list[dict[str, Any]] = [
    {"is_valid": False},
    {"is_error": True},
    {"error_without_flag": True},
    {"error_kind": ErrorKind.BUSINESS},
    {"error_code": "NOT_FOUND"},
    {"issues": ("it is blank",)},
    {"state": State.NOT_FOUND},
    {"retry": Retry.FIX_ARGUMENTS},
    {"factors": (Factor("http_status", 1, present=True, evidence="404"),)},
    {"leaks": (Leak(LeakKind.CRASH_TEXT, "Traceback", 0, 9),)},
    {"framework": "pydantic"},
    {"certainty": 0.5},
    {"metadata": ResultMetadata(warnings=("old",))},
    {"metadata": ResultMetadata(pagination={"has_more": True})},
    {"metadata": ResultMetadata(content_fidelity="partial")},
]


@pytest.mark.parametrize("own", [*OWN, *({"verdict": each} for each in OF_VERDICT)], ids="-".join)
def test_what_stands_out_in_a_call_is_in_its_record_also_behind_plain_calls(own: dict[str, Any]) -> None:
    note = plain()
    lines = CallLines("", SecretMask())
    lines.line_of(finished(note))
    given = dict(own)
    if isinstance(given.get("verdict"), dict):
        assert note.verdict is not None
        given["verdict"] = msgspec.structs.replace(note.verdict, **given["verdict"])
    call = finished(msgspec.structs.replace(note, **given))
    first, second, slow = lines.line_of(call), lines.line_of(call), slowly(call, "", SecretMask())
    assert [read(line) for line in (first, second)] == [read(slow)] * 2
    details = [
        [each.detail for each in decode_lines(line) if isinstance(each, VerdictRecord)] for line in (first, slow)
    ]
    assert details[0] == details[1]


def test_lines_are_packed_from_64_kib_on() -> None:
    backlog = Backlog()
    backlog.add(b"x" * ((1 << 16) - 1))
    assert backlog.size == (1 << 16) - 1
    backlog.add(b"x")
    assert 0 < backlog.size < 5_000
    packed = backlog.size
    backlog.add(b"y")
    assert backlog.size == packed + 1
    assert (len(backlog.first()), backlog.first()[-1:]) == (1 << 16, b"x")
    backlog.drop_first()
    assert (backlog.size, backlog.first()) == (1, b"y")
    backlog.drop_first()
    assert (backlog.size, backlog.first()) == (0, b"")


def test_a_tool_may_have_any_name() -> None:
    talk = Conversation().call({"title": "Emma"})
    (note,) = (note for note in talk.notes if isinstance(note, CallEnded))
    for name in ("100%", "%b%d", '"', "\ud800", '{"call":0,'):
        named = msgspec.structs.replace(note, tool=name)
        lines = CallLines("%s", SecretMask())
        assert read(lines.line_of(finished(named))) == read(slowly(finished(named), "%s", SecretMask()))


def test_kinds_of_plain_calls_are_kept_in_bounds(made: list[CallEnded]) -> None:
    lines = CallLines("", SecretMask())
    talk = Conversation().call({"title": "Emma"})
    (note,) = (note for note in talk.notes if isinstance(note, CallEnded))
    for number in range(3_000):
        named = CallEnded(
            call=1, id=1, tool=f"{TOOL['name']}_{number}", era="legacy", outcome="success", verdict=note.verdict
        )
        assert read(lines.line_of(finished(named))).tool == f"find_book_{number}"
    assert len(made) == 3_000
    assert len(lines._renderer._kinds) <= 1024
    assert len(lines._forms) <= 1024
