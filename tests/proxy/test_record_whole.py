"""The contents of the store, the page of metrics and the sinks, compared as a whole."""

import http.client
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.proxy.gates import queues_of
from tests.proxy.notes import prepared

from toolvet.core.causes import ErrorKind, Retry, State
from toolvet.core.checks.arguments import Issue
from toolvet.core.checks.result import Classification, Factor, Leak, LeakKind, ResultMetadata, ResultVerdict
from toolvet.core.redact import SecretMask
from toolvet.proxy.record.call_lines import CallLines, CallRenderer
from toolvet.proxy.record.calls import FinishedCall
from toolvet.proxy.record.metrics import Metrics
from toolvet.proxy.record.metrics_server import MetricsServer
from toolvet.proxy.record.recorder import RecordSource, StampedNote
from toolvet.proxy.record.recording import Recording, recorder_of
from toolvet.proxy.record.store_exporter import StoreExporter
from toolvet.proxy.session import CallEnded, PolicyFault
from toolvet.proxy.session.trace import TraceSource
from toolvet.store import EventRecord, Store, VerdictRecord
from toolvet.store.records import SignalRecord, StoreRecord, decode_lines
from toolvet.version import __version__

ORIGIN = RecordSource("mcp-server-books", "c-1")
NAMED = RecordSource("mcp-server-books", "c-2", "tcp")
KNOWN = SecretMask(["hunter2hunter"])
BEGAN = 1_795_357_000_500_000_000
TRACE = TraceSource("seed").id_of({}, 5)


def verdict(**more: Any) -> ResultVerdict:
    given: dict[str, Any] = {
        "is_valid": True,
        "is_error": False,
        "classification": Classification.FULLY_WORKING,
        "confidence": 90,
        "evidence": ("it is good",),
    }
    return ResultVerdict(**{**given, **more})


def ended(**more: Any) -> CallEnded:
    given: dict[str, Any] = {"id": 5, "tool": "find", "era": "legacy", "outcome": "success", "size": 77}
    return CallEnded(call=3, **{**given, "traces": TraceSource("seed"), **more})


def finished(note: CallEnded, origin: RecordSource = ORIGIN) -> FinishedCall:
    return FinishedCall(origin, note, None, BEGAN, BEGAN + 1, 0.125)


def recorded(note: CallEnded, name: str = "", known: SecretMask | None = None) -> VerdictRecord:
    """The record as the store reads it, without what is random."""
    (found,) = decode_lines(CallLines(name, known or SecretMask()).line_of(finished(note)))
    assert isinstance(found, VerdictRecord)
    assert len(found.id) == 32
    return msgspec.structs.replace(found, id="", document=msgspec.Raw())


def expected(**more: Any) -> VerdictRecord:
    given: dict[str, Any] = {
        "trace": TRACE,
        "server": "mcp-server-books",
        "connection": "c-1",
        "request_id": "5",
        "tool": "find",
        "era": "legacy",
        "outcome": "success",
        "duration": 0.125,
        "size": 77,
        "version": __version__,
        "document": msgspec.Raw(),
    }
    return VerdictRecord(id="", at=BEGAN / 1e9, kind="call", **{**given, **more})


GOOD = {"classification": "fully_working", "score": 0.9}
BAD = {"is_error": True, "classification": Classification.ERROR, "issues": ("one", "two")}
ISSUE = Issue(
    field="title",
    pointer="/title",
    keyword="required",
    kind="required",
    problem="Required",
    received="(missing)",
    received_text="(missing)",
    expected="a string",
    fix="Add it.",
)
RECORDS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    ({"verdict": verdict()}, GOOD),
    ({"verdict": verdict(), "why": "because"}, {**GOOD, "reason": "because"}),
    ({"verdict": verdict(), "id": "five", "traces": TraceSource("", None)}, {**GOOD, "request_id": "five"}),
    ({"verdict": verdict(certainty=0.75)}, {**GOOD, "confidence": 0.75}),
    (
        {"verdict": verdict(**BAD, state=State.NOT_FOUND, certainty=0.5), "outcome": "tool_error"},
        {
            "outcome": "tool_error",
            "failed": True,
            "classification": "error",
            "state": "not_found",
            "score": 0.9,
            "confidence": 0.5,
            "reason": "one; two",
            "signals": (SignalRecord("not_found", "error", 0.5),),
        },
    ),
    (
        {"verdict": verdict(error_without_flag=True, error_kind=ErrorKind.BUSINESS)},
        {**GOOD, "failed": True, "reason": "it is good", "signals": (SignalRecord("error_without_flag", "warning"),)},
    ),
    (
        {"verdict": verdict(is_valid=False, leaks=(Leak(LeakKind.CRASH_TEXT, "Traceback", 0, 9),))},
        {**GOOD, "signals": (SignalRecord("fully_working", "error"), SignalRecord("leak", "warning"))},
    ),
    # The evidence is the reason only where something went wrong.
    ({"verdict": verdict(retry=Retry.FIX_ARGUMENTS)}, GOOD),
    ({"verdict": verdict(retry=Retry.FIX_ARGUMENTS, issues=("blank",))}, {**GOOD, "reason": "blank"}),
    ({"outcome": "tool_error", "verdict": verdict(evidence=())}, {**GOOD, "outcome": "tool_error", "failed": True}),
    (
        {"outcome": "refused", "blocked": "arguments", "issues": (ISSUE, ISSUE)},
        {
            "outcome": "refused",
            "failed": True,
            "blocked": "arguments",
            "signals": (SignalRecord("required", "error"),) * 2,
        },
    ),
    *(
        ({"outcome": outcome}, {"outcome": outcome, "failed": failed})
        for outcome, failed in [
            ("protocol_error", True),
            ("input_required", False),
            ("task", False),
            ("validated", False),
            ("retrieved", False),
            ("cancelled", True),
            ("unreadable", True),
            ("lost", True),
        ]
    ),
]


@pytest.mark.parametrize(("given", "more"), RECORDS)
def test_a_call_is_recorded_to_the_letter(given: dict[str, Any], more: dict[str, Any]) -> None:
    note = ended(**given)
    wanted = expected(**{**more, "trace": note.trace_id})
    assert recorded(note) == wanted
    assert recorded(note, "books") == msgspec.structs.replace(wanted, server="books")


def test_a_record_is_without_the_secrets_that_the_user_gave() -> None:
    own = "hunter2hunter"
    note = ended(
        id=f"a {own}", tool=f"find {own}", outcome="lost", why=f"of {own}", meta={"dev.toolvet/trace": f"t-{own}"}
    )
    wanted = expected(
        trace="t-[redacted]",
        request_id="a [redacted]",
        tool="find [redacted]",
        outcome="lost",
        failed=True,
        reason="of [redacted]",
    )
    assert recorded(note, known=KNOWN) == wanted
    shown = CallRenderer(KNOWN).render(note)
    assert own.encode() not in bytes(shown.document)
    # Its own mask does for the trace what it does for the rest.
    assert recorded(msgspec.structs.replace(note, mask=KNOWN)).trace == "t-[redacted]"


def detail(note: CallEnded) -> dict[str, Any]:
    return msgspec.json.decode(bytes(CallRenderer(SecretMask()).render(note).document), type=dict[str, Any])


FACTOR = Factor("http_status", 1, present=True, evidence="404")
ABSENT = Factor("trace", 1, present=False, evidence="")


def test_the_document_of_a_call_has_what_has_no_column() -> None:
    note = ended(
        verdict=verdict(factors=(ABSENT, FACTOR), metadata=ResultMetadata(warnings=("old",), content_fidelity="full")),
        unjudged="too large",
        blocked="result",
        would_block="limits",
        why="because",
        changed=("content",),
        code=-5,
        repaired={"title": 1},
        arguments={"title": "Emma", "nothing": None},
        result={"factors": [], "empty": {}},
    )
    found = detail(note)
    shown = found.pop("verdict")
    assert found == {
        "call": 3,
        "unjudged": "too large",
        "would_block": "limits",
        "why": "because",
        "changed": ["content"],
        "code": -5,
        "repaired": {"title": 1},
        "arguments": {"title": "Emma", "nothing": None},
        # A result with such a member is shortened as a verdict is.
        "result": {},
    }
    assert [factor["present"] for factor in shown["factors"]] == [True]
    assert shown["metadata"] == {"content_fidelity": "full", "warnings": ["old"]}
    assert shown["trace_id"] == TRACE
    assert not [key for key, value in shown.items() if value in (None, [], {})]


@pytest.mark.parametrize(
    ("about", "kept"),
    [
        (ResultMetadata(), None),
        (ResultMetadata(warnings=("old",)), {"warnings": ["old"]}),
        (ResultMetadata(pagination={"has_more": True}), {"pagination": {"has_more": True}}),
        (ResultMetadata(content_fidelity="partial"), {"content_fidelity": "partial"}),
    ],
)
def test_what_is_left_of_a_verdict_is_no_count(about: ResultMetadata, kept: dict[str, object] | None) -> None:
    shown = detail(ended(verdict=verdict(metadata=about)))["verdict"]
    assert shown.get("metadata") == kept
    assert "factors" not in shown


def test_only_ids_that_nobody_chose_are_filled_in() -> None:
    renderer = CallRenderer(SecretMask())
    plain = ended(verdict=verdict())
    found = renderer.plain(plain)
    assert found is not None
    kind, trace, request_id = found
    assert (kind.tool, kind.reason, trace, request_id) == ("find", None, TRACE, "5")
    own = msgspec.structs.replace(plain, meta={"dev.toolvet/trace": "a" * 33})
    for other in (
        own,
        msgspec.structs.replace(own, meta={"dev.toolvet/trace": "a" * 31}),
        msgspec.structs.replace(own, meta={"dev.toolvet/trace": "A" * 32}),
        msgspec.structs.replace(plain, id="5"),
        msgspec.structs.replace(plain, verdict=None),
    ):
        assert renderer.plain(other) is None
    hexadecimal = msgspec.structs.replace(own, meta={"dev.toolvet/trace": "a" * 32})
    assert renderer.plain(hexadecimal) == (kind, "a" * 32, "5")
    assert len(renderer._kinds) == 1


KINDS: list[dict[str, Any]] = [
    {},
    {"tool": "other"},
    {"era": "modern"},
    {"outcome": "task"},
    {"verdict": verdict(confidence=80)},
    {"verdict": verdict(evidence=("other",))},
    {"verdict": verdict(classification=Classification.ERROR)},
]


def test_kinds_differ_in_what_their_lines_show() -> None:
    renderer = CallRenderer(SecretMask())
    for _ in range(2):
        kinds = [renderer.plain(ended(**{"verdict": verdict(), **more})) for more in KINDS]
    assert len({id(kind[0]) for kind in kinds if kind is not None}) == len(renderer._kinds) == len(KINDS)


def test_a_call_whose_words_look_like_the_gap_of_a_trace_is_not_filled_in() -> None:
    nobody = TraceSource().id_of({}, 0)
    assert CallRenderer(SecretMask()).plain(ended(verdict=verdict(evidence=(nobody,)))) is None


def test_1024_kinds_of_calls_are_kept() -> None:
    lines, sizes = CallLines("", SecretMask()), list[tuple[int, int]]()
    for number in range(1_025):
        lines.line_of(finished(ended(tool=f"tool {number}", verdict=verdict())))
        sizes.append((len(lines._renderer._kinds), len(lines._forms)))
    assert sizes == [*((number, number) for number in range(1, 1_025)), (1, 1)]


def test_calls_that_differ_in_the_flag_of_their_error_alone_are_counted_apart() -> None:
    sink = Metrics()
    for flag in (False, True, True):
        sink.take(StampedNote(ORIGIN, ended(verdict=verdict(error_without_flag=flag)), BEGAN, 1))
    page = sink.render()
    labels = 'server="mcp-server-books",tool="find"'
    assert f'toolvet_verdicts_total{{class="fully_working",{labels}}} 3.0\n' in page
    assert f"toolvet_errors_without_flag_total{{{labels}}} 2.0\n" in page


# ── the store ──


class Kept:
    """A store in memory."""

    def __init__(self) -> None:
        self.records: list[StoreRecord] = []

    def add_lines(self, lines: bytes) -> None:
        self.records += [msgspec.structs.replace(each, id="") for each in decode_lines(lines) if each is not None]


@pytest.mark.parametrize("name", ["", "books"])
def test_a_fault_is_an_event_to_the_letter(name: str) -> None:
    kept: Any = Kept()
    sink = StoreExporter(kept, name, KNOWN, complain=print)
    note = PolicyFault("list_failed", "no list for hunter2hunter", "find")
    sink.write([StampedNote(NAMED, note, BEGAN, 1), StampedNote(NAMED, "another", BEGAN, 1)])
    sink.write([StampedNote(ORIGIN, PolicyFault("name_taken", "taken"), BEGAN, 1)])
    server = name or "mcp-server-books"
    at = BEGAN / 1e9
    words = "no list for [redacted]"
    assert kept.records == [
        EventRecord(id="", at=at, kind="list_failed", message=words, server=server, connection="c-2", tool="find"),
        EventRecord(id="", at=at, kind="name_taken", message="taken", server=server, connection="c-1"),
    ]


@pytest.mark.parametrize("name", ["", "books"])
def test_what_was_dropped_is_an_event_to_the_letter(name: str) -> None:
    kept: Any = Kept()
    sink = StoreExporter(kept, name, complain=print)
    sink.close()
    sink.watch(lambda: 2)
    sink.write(prepared(sink, [StampedNote(ORIGIN, ended(), BEGAN, 1)]))
    call, event = kept.records
    assert (call.kind, call.server) == ("call", name or "mcp-server-books")
    assert event.at > 1_700_000_000
    words = "2 notes of calls were dropped, because there was no room for them"
    assert msgspec.structs.replace(event, at=0.0) == EventRecord(
        id="", at=0.0, kind="dropped", message=words, server=name
    )


# ── the sinks ──


def test_nothing_is_recorded_unasked() -> None:
    with recorder_of(Recording()) as recorder:
        assert not recorder.has_sinks
        assert recorder._store is None
    assert Recording() == Recording(None, None, "off", "off", (), "drop", None, None, sync=False)


def test_the_store_gets_what_the_user_asked_for(tmp_path: Path) -> None:
    recording = Recording(
        store=tmp_path / "calls.db",
        name="books",
        secrets=("hunter2hunter",),
        metrics="on",
        when_full="wait",
        older_than="30d",
        max_size="10MB",
        sync=True,
    )
    given: list[dict[str, Any]] = []
    made = Store.__init__

    def noted(store: Store, url: object, **options: Any) -> None:
        given.append({key: value for key, value in options.items() if key != "complain"})
        made(store, url, **options)  # type: ignore[arg-type]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "__init__", noted)
        recorder = recorder_of(recording)
    assert given == [{"older_than": "30d", "max_size": "10MB", "sync": True}]
    with recorder:
        # The metrics are counted at once.
        assert [queue.when_full for queue in queues_of(recorder)] == ["wait"]
        recorder.take(ORIGIN, ended(tool="find hunter2hunter"))
        assert recorder.flush(60)
        page = recorder.render_metrics()
        assert 'toolvet_calls_total{outcome="success",server="books",tool="find [redacted]"} 1.0\n' in page
        assert recorder._store is not None
        assert recorder._store.flush(60)
    with Store(tmp_path / "calls.db") as store:
        (call,) = store.verdicts()
    assert (call.server, call.tool) == ("books", "find [redacted]")


# ── the server of the metrics ──


@pytest.mark.parametrize(
    ("path", "status", "kind", "body"),
    [
        ("/metrics", 200, "text/plain; version=0.0.4; charset=utf-8", "x 1\nä 2\n"),
        ("/healthz", 200, "text/plain; charset=utf-8", "ok\n"),
        ("/", 404, "text/plain; charset=utf-8", "only /metrics and /healthz are here\n"),
        ("/metrics/", 404, "text/plain; charset=utf-8", "only /metrics and /healthz are here\n"),
    ],
)
def test_a_page_is_served_with_its_length(
    path: str, status: int, kind: str, body: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with MetricsServer("127.0.0.1", 0, lambda: "x 1\nä 2\n") as server:
        assert server.address[0] == "127.0.0.1"
        assert server._thread.daemon
        connection = http.client.HTTPConnection(*server.address, timeout=60)
        connection.request("GET", path)
        answer = connection.getresponse()
        assert (answer.status, answer.getheader("Content-Type"), answer.read().decode()) == (status, kind, body)
        assert answer.getheader("Content-Length") == str(len(body.encode()))
        connection.close()
    assert capfd.readouterr().err == ""
    with pytest.raises(ConnectionRefusedError):
        connection.request("GET", path)


def test_a_reader_that_says_nothing_does_not_keep_the_server_from_ending() -> None:
    with MetricsServer("127.0.0.1", 0, lambda: "") as server:
        silent = http.client.HTTPConnection(*server.address, timeout=60)
        silent.connect()
        other = http.client.HTTPConnection(*server.address, timeout=60)
        other.request("GET", "/healthz")
        # The silent one has its thread already: connections are taken in order.
        assert other.getresponse().read() == b"ok\n"
        assert vars(server._server.RequestHandlerClass)["timeout"] == 5
    assert not server._thread.is_alive()
    other.close()
    silent.close()
