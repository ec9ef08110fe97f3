"""Spans, events and what a collector gets, compared as a whole and at the borders of texts."""

import gzip
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import msgspec
import pytest
from opentelemetry import _logs, metrics, trace
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.util._once import Once

from toolvet.core.checks.arguments import Issue
from toolvet.core.checks.result import Classification, ResultVerdict
from toolvet.core.redact import SecretMask
from toolvet.proxy.record.recorder import RecordSource, StampedNote
from toolvet.proxy.record.telemetry import Evaluation, OtlpTelemetry, Telemetry, evaluations
from toolvet.proxy.session import CallEnded, CallStarted
from toolvet.proxy.session.step import OWN_OUTCOMES
from toolvet.proxy.session.trace import TraceSource
from toolvet.version import __version__

ORIGIN = RecordSource("mcp-server-books", "c-1", "tcp")
TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"
BEGAN, FINISHED = 1_795_357_000_000_000_001, 1_795_357_000_250_000_002
LONG = "word " * 200
VERSION = "io.modelcontextprotocol/protocolVersion"


def issue(problem: str = "Required", field: str = "title") -> Issue:
    return Issue(
        field=field,
        pointer=f"/{field}",
        keyword="required",
        kind="required",
        problem=problem,
        received="(missing)",
        received_text="(missing)",
        expected="a string",
        fix="Add it.",
    )


def verdict(classification: Classification = Classification.FULLY_WORKING, **more: Any) -> ResultVerdict:
    given: dict[str, Any] = {"is_valid": True, "is_error": False, "confidence": 90, "evidence": ("it is good",)}
    return ResultVerdict(classification=classification, **{**given, **more})


def ended(**more: Any) -> CallEnded:
    given: dict[str, Any] = {"id": 5, "tool": "find", "era": "legacy", "outcome": "success"}
    return CallEnded(call=1, **{**given, **more})


# ── evaluations ──

SECRET = {"mask": SecretMask(["hunter2hunter"])}
GOOD = Evaluation("toolvet.arguments", 1.0, "pass", "")
EVALUATED: list[tuple[dict[str, Any], list[Evaluation]]] = [
    ({}, [GOOD]),
    ({"issues": (issue(),)}, [Evaluation("toolvet.arguments", 0.0, "fail", "title: Required")]),
    (
        {"issues": (issue(), issue("Too long", "name")), "repaired": {}},
        [Evaluation("toolvet.arguments", 0.0, "warn", "title: Required; name: Too long")],
    ),
    ({"issues": (issue(LONG),)}, [Evaluation("toolvet.arguments", 0.0, "fail", f"title: {LONG}"[:500])]),
    ({"outcome": "refused", "blocked": "repeated"}, [Evaluation("toolvet.repeated", 0.0, "fail", "")]),
    (
        {"outcome": "refused", "blocked": "limits", "why": LONG},
        [Evaluation("toolvet.limits", 0.0, "fail", LONG[:500])],
    ),
    ({"outcome": "refused"}, []),
    *(({"outcome": outcome, "verdict": verdict()}, []) for outcome in sorted(OWN_OUTCOMES)),
    ({"outcome": "lost", "blocked": "result"}, [GOOD]),
    ({"verdict": verdict()}, [GOOD, Evaluation("toolvet.result", 0.9, "pass", "it is good")]),
    (
        {"verdict": verdict(issues=("one", "two"), confidence=25)},
        [GOOD, Evaluation("toolvet.result", 0.25, "pass", "one; two")],
    ),
    ({"verdict": verdict(evidence=(LONG,))}, [GOOD, Evaluation("toolvet.result", 0.9, "pass", LONG[:500])]),
    (
        {"verdict": verdict(error_without_flag=True)},
        [GOOD, Evaluation("toolvet.result", 0.9, "fail", "it is good")],
    ),
    ({"verdict": verdict(is_valid=False)}, [GOOD, Evaluation("toolvet.result", 0.9, "warn", "it is good")]),
    *(
        ({"verdict": verdict(found)}, [GOOD, Evaluation("toolvet.result", 0.9, label, "it is good")])  # type: ignore[arg-type]
        for found in Classification
        for label in [{"fully_working": "pass", "broken": "fail", "error": "fail"}.get(found.value, "warn")]
    ),
    (
        {**SECRET, "issues": (issue("hunter2hunter is not a title"),), "verdict": verdict(evidence=("hunter2hunter",))},
        [
            Evaluation("toolvet.arguments", 0.0, "fail", "title: [redacted] is not a title"),
            Evaluation("toolvet.result", 0.9, "pass", "[redacted]"),
        ],
    ),
    (
        {**SECRET, "outcome": "refused", "blocked": "limits", "why": "no hunter2hunter here"},
        [Evaluation("toolvet.limits", 0.0, "fail", "no [redacted] here")],
    ),
]


@pytest.mark.parametrize(("given", "expected"), EVALUATED)
def test_a_call_is_evaluated_to_the_letter(given: dict[str, Any], expected: list[Evaluation]) -> None:
    assert list(evaluations(ended(**given))) == expected
    known = ended(**{**given, "mask": SecretMask()})
    assert list(evaluations(known, SecretMask(["hunter2hunter"]))) == expected


# ── spans ──


class Emitted:
    """What one call becomes, as OpenTelemetry keeps it."""

    def __init__(self, note: CallEnded, name: str = "books", known: SecretMask | None = None) -> None:
        spans, logs, reader = InMemorySpanExporter(), InMemoryLogRecordExporter(), InMemoryMetricReader()  # type: ignore[no-untyped-call]
        tracers, loggers = TracerProvider(), LoggerProvider()
        tracers.add_span_processor(SimpleSpanProcessor(spans))
        loggers.add_log_record_processor(SimpleLogRecordProcessor(logs))
        meters = MeterProvider(metric_readers=[reader])
        sink = Telemetry(name, known or SecretMask(), tracers=tracers, loggers=loggers, meters=meters)
        begun = CallStarted(call=1, id=5, tool="find", era="legacy", size=1)
        sink.write([StampedNote(ORIGIN, begun, BEGAN, 7), StampedNote(ORIGIN, "another note", 1, 1)])
        assert not spans.get_finished_spans()
        sink.write([StampedNote(ORIGIN, note, FINISHED, 250_000_007)])
        sink.close()
        (self.span,) = spans.get_finished_spans()
        self.logs = logs.get_finished_logs()
        measured = reader.get_metrics_data()
        assert measured is not None
        self.scope = measured.resource_metrics[0].scope_metrics[0]


PLAIN = {
    "mcp.method.name": "tools/call",
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "find",
    "jsonrpc.request.id": "5",
    "network.transport": "tcp",
    "toolvet.server": "books",
    "toolvet.outcome": "success",
    "toolvet.trace_id": TRACE,
}
TOLD: list[tuple[dict[str, Any], dict[str, object]]] = [
    ({}, {}),
    ({"meta": {VERSION: "2026-07-28"}}, {"mcp.protocol.version": "2026-07-28"}),
    ({"meta": {VERSION: 7}}, {}),
    (
        {"code": -32603, "outcome": "protocol_error"},
        {"toolvet.outcome": "protocol_error", "error.type": "-32603", "rpc.response.status_code": "-32603"},
    ),
    ({"code": 0, "outcome": "lost"}, {"toolvet.outcome": "lost", "error.type": "0", "rpc.response.status_code": "0"}),
    ({"outcome": "tool_error"}, {"toolvet.outcome": "tool_error", "error.type": "tool_error"}),
    ({"outcome": "refused"}, {"toolvet.outcome": "refused", "error.type": "tool_error"}),
    ({"outcome": "protocol_error"}, {"toolvet.outcome": "protocol_error"}),
    ({"outcome": "input_required"}, {"toolvet.outcome": "input_required"}),
    ({"outcome": "task"}, {"toolvet.outcome": "task"}),
    ({"outcome": "validated"}, {"toolvet.outcome": "validated"}),
    ({"outcome": "retrieved"}, {"toolvet.outcome": "retrieved"}),
    ({"outcome": "cancelled"}, {"toolvet.outcome": "cancelled", "error.type": "cancelled"}),
    ({"outcome": "unreadable"}, {"toolvet.outcome": "unreadable", "error.type": "unreadable"}),
    ({"outcome": "lost"}, {"toolvet.outcome": "lost", "error.type": "lost"}),
    ({"changed": ("is_error",)}, {"error.type": "tool_error"}),
    ({"changed": ("content",)}, {}),
    ({"blocked": "result"}, {"toolvet.blocked": "result"}),
    ({"would_block": "limits"}, {"toolvet.would_block": "limits"}),
    ({"repaired": {}}, {"toolvet.repaired": True}),
]


@pytest.mark.parametrize(("given", "more"), TOLD)
def test_a_span_tells_a_call_to_the_letter(given: dict[str, Any], more: dict[str, object]) -> None:
    note = ended(**{**given, "meta": {"traceparent": PARENT, **given.get("meta", {})}, "why": LONG})
    seen = Emitted(note)
    expected = {**PLAIN, **more}
    assert dict(seen.span.attributes or {}) == expected
    assert (seen.span.name, seen.span.kind.name) == ("tools/call find", "SERVER")
    assert (seen.span.start_time, seen.span.end_time) == (BEGAN, FINISHED)
    status = (seen.span.status.status_code.name, seen.span.status.description)
    assert status == (("ERROR", LONG[:500]) if "error.type" in expected else ("UNSET", None))
    (duration,) = seen.scope.metrics
    (point,) = duration.data.data_points
    measured = ("mcp.method.name", "gen_ai.tool.name", "error.type", "network.transport", "mcp.protocol.version")
    assert dict(point.attributes or {}) == {key: expected[key] for key in measured if key in expected}
    assert (duration.name, duration.unit, duration.description) == (
        "mcp.server.operation.duration",
        "s",
        "From the call to its answer.",
    )
    assert (point.sum, point.count) == (0.25, 1)  # type: ignore[union-attr]
    (exemplar,) = point.exemplars
    assert seen.span.context is not None
    assert (exemplar.span_id, exemplar.trace_id) == (seen.span.context.span_id, int(TRACE, 16))
    assert (seen.scope.scope.name, seen.scope.scope.version) == ("toolvet.proxy", __version__)


def test_a_failed_call_without_words_has_a_status_without_words() -> None:
    assert Emitted(ended(outcome="lost")).span.status.description is None


@pytest.mark.parametrize(("name", "server"), [("", "mcp-server-books"), ("books", "books")])
def test_a_server_goes_by_its_name_else_by_its_command(name: str, server: str) -> None:
    assert (Emitted(ended(), name).span.attributes or {})["toolvet.server"] == server


def test_each_evaluation_is_an_event_of_its_span() -> None:
    for label, level in (("pass", "INFO"), ("warn", "WARN"), ("fail", "ERROR")):
        kind = {"pass": "fully_working", "warn": None, "fail": "broken"}[label]
        judged = verdict(Classification(kind)) if kind else verdict(is_valid=False)
        seen = Emitted(ended(verdict=judged, meta={"traceparent": PARENT}))
        first, second = (each.log_record for each in seen.logs)
        assert dict(first.attributes or {}) == {
            "gen_ai.evaluation.name": "toolvet.arguments",
            "gen_ai.evaluation.score.value": 1.0,
            "gen_ai.evaluation.score.label": "pass",
        }
        assert dict(second.attributes or {}) == {
            "gen_ai.evaluation.name": "toolvet.result",
            "gen_ai.evaluation.score.value": 0.9,
            "gen_ai.evaluation.score.label": label,
            "gen_ai.evaluation.explanation": "it is good",
        }
        assert second.severity_number is not None
        assert (second.severity_number.name, second.timestamp) == (level, FINISHED)
        assert second.event_name == "gen_ai.evaluation.result"
        assert seen.span.context is not None
        assert (second.trace_id, second.span_id) == (int(TRACE, 16), seen.span.context.span_id)
        scope = seen.logs[0].instrumentation_scope
        assert scope is not None
        assert (scope.name, scope.version) == ("toolvet.proxy", __version__)


STATES: list[tuple[Mapping[str, object], str | None, dict[str, str] | None]] = [
    ({}, None, None),
    ({"traceparent": PARENT}, None, {}),
    ({"traceparent": PARENT, "tracestate": "a=b"}, None, {"a": "b"}),
    ({"traceparent": PARENT, "tracestate": "a=hunter2hunter"}, None, {}),
    ({"traceparent": PARENT, "tracestate": 7}, None, {}),
    ({"tracestate": "a=b"}, None, None),
    ({}, PARENT, {}),
    ({"dev.toolvet/trace": "turn-7"}, PARENT, None),
]


@pytest.mark.parametrize(("meta", "header", "state"), STATES)
def test_a_span_hangs_under_the_callers(
    meta: Mapping[str, object], header: str | None, state: dict[str, str] | None
) -> None:
    note = ended(meta=meta, traces=TraceSource("seed", header), **SECRET)
    with trace.use_span(trace.NonRecordingSpan(trace.SpanContext(1, 2, is_remote=False))):
        span = Emitted(note).span
    if state is None:
        # Not that of this thread either.
        assert span.parent is None
        return
    assert span.parent is not None
    assert (span.parent.trace_id, span.parent.span_id) == (int(TRACE, 16), 0xB7AD6B7169203331)
    assert dict(span.parent.trace_state) == state


def test_words_of_clients_are_masked_in_a_span() -> None:
    own = "hunter2hunter"
    note = ended(
        tool=f"find {own}",
        id=f"id {own}",
        outcome="lost",
        why=f"of {own}",
        meta={VERSION: own, "dev.toolvet/trace": f"turn-{own}"},
    )
    for seen in (Emitted(msgspec.structs.replace(note, **SECRET)), Emitted(note, known=SecretMask([own]))):
        attributes = seen.span.attributes or {}
        assert seen.span.name == "tools/call find [redacted]"
        assert seen.span.status.description == "of [redacted]"
        assert attributes["gen_ai.tool.name"] == "find [redacted]"
        assert attributes["jsonrpc.request.id"] == "id [redacted]"
        assert attributes["mcp.protocol.version"] == "[redacted]"
        assert own not in seen.span.to_json()


# ── a collector ──


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, list[bytes]]]:
    """The requests to a collector on this machine, by path; the process has no set-up of OpenTelemetry meanwhile."""
    got: dict[str, list[bytes]] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            zipped = self.headers.get("content-encoding") == "gzip"
            got.setdefault(self.path, []).append(gzip.decompress(body) if zipped else body)
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing."""

    for module, what in ((trace, "TRACER"), (_logs._internal, "LOGGER"), (metrics._internal, "METER")):
        monkeypatch.setattr(module, f"_{what}_PROVIDER", None)
        monkeypatch.setattr(module, f"_{what}_PROVIDER_SET_ONCE", Once())
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{server.server_address[1]}")
    monkeypatch.delenv("OTEL_SERVICE_NAME", raising=False)
    monkeypatch.delenv("OTEL_RESOURCE_ATTRIBUTES", raising=False)
    yield got
    for provider in (trace.get_tracer_provider(), _logs.get_logger_provider(), metrics.get_meter_provider()):
        if isinstance(provider, TracerProvider | LoggerProvider | MeterProvider):
            provider.shutdown()
    server.shutdown()
    server.server_close()


def told_by(resource: Any) -> dict[str, str]:
    found = {each.key: each.value.string_value for each in resource.attributes}
    return {key: found[key] for key in ("service.name", "service.version")}


@pytest.mark.parametrize("service", [None, "shop"])
def test_a_collector_gets_all_three_at_the_end(
    collector: dict[str, list[bytes]], monkeypatch: pytest.MonkeyPatch, service: str | None
) -> None:
    if service is not None:
        monkeypatch.setenv("OTEL_SERVICE_NAME", service)
    sink = OtlpTelemetry("", SecretMask(["hunter2hunter"]))
    note = ended(tool="hunter2hunter", verdict=verdict(), traces=TraceSource("seed"))
    begun = CallStarted(call=1, id=5, tool="find", era="legacy", size=1)
    sink.write([StampedNote(ORIGIN, begun, BEGAN, 0), StampedNote(ORIGIN, note, FINISHED, 250_000_000)])
    sink.close()
    assert set(collector) == {"/v1/traces", "/v1/logs", "/v1/metrics"}
    expected = {"service.name": service or "toolvet-proxy", "service.version": __version__}
    spans = ExportTraceServiceRequest.FromString(collector["/v1/traces"][0]).resource_spans[0]
    logs = ExportLogsServiceRequest.FromString(collector["/v1/logs"][0]).resource_logs[0]
    measured = ExportMetricsServiceRequest.FromString(collector["/v1/metrics"][0]).resource_metrics[0]
    assert [told_by(each.resource) for each in (spans, logs, measured)] == [expected] * 3
    (span,) = spans.scope_spans[0].spans
    # A call without a parent is a trace under the id that its record has.
    assert (span.name, span.trace_id.hex()) == ("tools/call [redacted]", note.trace_id)
    assert {each.key: each.value.string_value for each in span.attributes}["toolvet.server"] == "mcp-server-books"
    assert len(logs.scope_logs[0].log_records) == 2
    assert measured.scope_metrics[0].metrics[0].name == "mcp.server.operation.duration"


def test_a_set_up_of_the_process_is_used_and_left_alone(collector: dict[str, list[bytes]]) -> None:
    spans, own = InMemorySpanExporter(), TracerProvider()
    own.add_span_processor(SimpleSpanProcessor(spans))
    trace.set_tracer_provider(own)
    sink = OtlpTelemetry("books")
    sink.write([StampedNote(ORIGIN, ended(traces=TraceSource("seed")), FINISHED, 0)])
    (span,) = spans.get_finished_spans()
    assert (span.attributes or {})["toolvet.server"] == "books"
    sink.close()
    assert trace.get_tracer_provider() is own
    assert not isinstance(metrics.get_meter_provider(), MeterProvider)
    assert collector == {}
