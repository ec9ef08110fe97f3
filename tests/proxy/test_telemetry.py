"""Spans and evaluation events, by the names of the semantic conventions."""

from collections.abc import Sequence
from typing import Any

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import ProxyTracerProvider, SpanKind, StatusCode
from tests.proxy.notes import ORIGIN, Conversation, text

from toolvet.core.redact import SecretMask
from toolvet.proxy.record import telemetry
from toolvet.proxy.record.recorder import Recorder, StampedNote
from toolvet.proxy.record.telemetry import Telemetry, TraceIds, evaluations
from toolvet.proxy.session import CallEnded, ProxySettings
from toolvet.proxy.session.step import Outcome

TRACE = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def in_memory_logs() -> InMemoryLogRecordExporter:
    return InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]


class Collector:
    """The exports of a conversation."""

    def __init__(self, conversation: Conversation | Sequence[object], known: SecretMask | None = None) -> None:
        spans, logs, self._reader = InMemorySpanExporter(), in_memory_logs(), InMemoryMetricReader()
        tracers, loggers = TracerProvider(), LoggerProvider()
        tracers.add_span_processor(SimpleSpanProcessor(spans))
        loggers.add_log_record_processor(SimpleLogRecordProcessor(logs))
        meters = MeterProvider(metric_readers=[self._reader])
        with Recorder(
            [Telemetry("books", known or SecretMask(), tracers=tracers, loggers=loggers, meters=meters)]
        ) as recorder:
            for note in conversation.notes if isinstance(conversation, Conversation) else conversation:
                recorder.take(ORIGIN, note)
        self.spans = spans.get_finished_spans()
        self.events = [data.log_record for data in logs.get_finished_logs()]
        self.measured = self._reader.get_metrics_data()

    @property
    def span(self) -> ReadableSpan:
        (span,) = self.spans
        return span

    def evaluations(self) -> list[tuple[object, object, object]]:
        found: list[tuple[object, object, object]] = []
        for event in self.events:
            assert event.event_name == "gen_ai.evaluation.result"
            attributes = event.attributes or {}
            keys = ("name", "score.value", "score.label")
            name, score, label = (attributes[f"gen_ai.evaluation.{key}"] for key in keys)
            found.append((name, score, label))
        return found


def test_a_call_is_a_span_under_the_callers_and_its_checks_are_events_of_it() -> None:
    seen = Collector(Conversation().call({"title": "Emma"}, meta={"traceparent": TRACE, "tracestate": "a=b", **MODERN}))
    span = seen.span
    assert (span.name, span.kind) == ("tools/call find_book", SpanKind.SERVER)
    assert span.parent is not None
    assert (f"{span.parent.trace_id:032x}", f"{span.parent.span_id:016x}") == (TRACE[3:35], TRACE[36:52])
    assert span.context is not None
    assert span.context.trace_state.get("a") == "b"
    assert dict(span.attributes or {}) == {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "find_book",
        "jsonrpc.request.id": "1",
        "network.transport": "pipe",
        "mcp.protocol.version": "2026-07-28",
        "toolvet.server": "books",
        "toolvet.outcome": "success",
        "toolvet.trace_id": TRACE[3:35],
    }
    assert span.start_time is not None
    assert span.end_time is not None
    assert span.start_time < span.end_time
    assert seen.evaluations() == [("toolvet.arguments", 1.0, "pass"), ("toolvet.result", 1.0, "pass")]
    assert {event.span_id for event in seen.events} == {span.context.span_id}


def test_a_refused_call_is_a_tool_error_and_a_failed_evaluation_that_says_why() -> None:
    seen = Collector(Conversation().call({"titel": "Emma"}))
    attributes = seen.span.attributes or {}
    assert (attributes["error.type"], attributes["toolvet.blocked"]) == ("tool_error", "arguments")
    assert seen.span.status.status_code is StatusCode.ERROR
    assert seen.evaluations() == [("toolvet.arguments", 0.0, "fail")]
    (event,) = seen.events
    assert "title: Required" in str((event.attributes or {})["gen_ai.evaluation.explanation"])


@pytest.mark.parametrize("parent", [None, 7, "", "00-xyz", "00-" + "0" * 32 + "-" + "0" * 16 + "-01"])
def test_what_is_no_trace_context_begins_a_trace_of_its_own(parent: object) -> None:
    assert Collector(Conversation().call({"title": "Emma"}, meta={"traceparent": parent})).span.parent is None


def test_a_call_without_a_parent_gets_a_span_under_its_own_trace_id() -> None:
    ids, spans = TraceIds(), InMemorySpanExporter()
    tracers = TracerProvider(id_generator=ids)
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    conversation = Conversation().call({"title": "Emma"})
    conversation.call({"title": "Emma"}, id=2, meta={"dev.toolvet/trace": "turn-7"})
    with Recorder([Telemetry("books", tracers=tracers, set_next_trace=ids.set_next)]) as recorder:
        for note in conversation.notes:
            recorder.take(ORIGIN, note)
    first, second = spans.get_finished_spans()
    assert first.context is not None
    assert f"{first.context.trace_id:032x}" == (first.attributes or {})["toolvet.trace_id"]
    # An id that OpenTelemetry cannot hold is still an attribute.
    assert (second.attributes or {})["toolvet.trace_id"] == "turn-7"


def test_an_error_of_the_tool_is_a_tool_error() -> None:
    seen = Collector(Conversation().call({"title": "x"}, text("Segmentation fault", isError=True)))
    assert (seen.span.attributes or {})["error.type"] == "tool_error"
    assert [label for name, _, label in seen.evaluations() if name == "toolvet.result"] == ["fail"]


def test_a_protocol_error_is_told_by_its_code() -> None:
    seen = Collector(Conversation().call({"title": "x"}, error={"code": -32603, "message": "Internal error"}))
    attributes = seen.span.attributes or {}
    assert (attributes["error.type"], attributes["rpc.response.status_code"]) == ("-32603", "-32603")


def test_an_error_that_the_server_did_not_flag_fails_its_evaluation_and_not_its_span() -> None:
    seen = Collector(Conversation().call({"title": "x"}, text("Database error: no such table: books")))
    assert "error.type" not in (seen.span.attributes or {})
    assert [label for name, _, label in seen.evaluations() if name == "toolvet.result"] == ["fail"]


def test_a_repaired_call_is_a_warning() -> None:
    seen = Collector(Conversation(ProxySettings(repair="apply")).call({"title": "x", "limit": "5"}))
    assert (seen.span.attributes or {})["toolvet.repaired"] is True
    assert seen.evaluations()[0][2] == "warn"


def test_no_secret_is_exported() -> None:
    conversation = Conversation().call({"title": 1, "password": "hunter2-in-clear"})
    failure = text("Login failed: password=hunter2-in-clear", isError=True)
    seen = Collector(conversation.call({"title": "x"}, failure, id=2))
    exported = repr([(span.attributes, span.status.description) for span in seen.spans])
    assert "hunter2" not in exported + repr([event.attributes for event in seen.events])


def ended(outcome: Outcome, **more: Any) -> CallEnded:
    return CallEnded(call=1, id=1, tool="find_book", era="legacy", outcome=outcome, **more)


@pytest.mark.parametrize("outcome", ["lost", "unreadable", "cancelled"])
def test_a_call_without_an_answer_is_an_error_by_its_outcome(outcome: Outcome) -> None:
    seen = Collector([ended(outcome)])
    assert (seen.span.attributes or {})["error.type"] == outcome
    assert seen.span.status.status_code is StatusCode.ERROR


def test_a_call_that_an_audit_would_have_refused_says_so() -> None:
    seen = Collector(Conversation(ProxySettings(arguments="audit")).call({"title": 1}))
    assert (seen.span.attributes or {})["toolvet.would_block"] == "arguments"
    assert seen.evaluations()[0] == ("toolvet.arguments", 0.0, "fail")


def test_a_call_that_was_refused_for_no_issue_fails_by_the_name_of_the_policy() -> None:
    (found,) = evaluations(ended("refused", blocked="repeated", why="it failed five times"))
    assert (found.name, found.score, found.label) == ("toolvet.repeated", 0.0, "fail")
    assert found.explanation == "it failed five times"
    # A policy's change of a result says nothing against the arguments.
    (found,) = evaluations(ended("success", blocked="result"))
    assert (found.name, found.score, found.label) == ("toolvet.arguments", 1.0, "pass")


def test_a_trace_gets_the_id_that_was_set_once() -> None:
    ids = TraceIds()
    assert ids.generate_trace_id()
    ids.set_next(TRACE[3:35])
    assert f"{ids.generate_trace_id():032x}" == TRACE[3:35]
    assert f"{ids.generate_trace_id():032x}" != TRACE[3:35]
    ids.set_next("turn-7")
    assert ids.generate_trace_id()


class Provider:
    """A provider that counts how often it had to send."""

    def __init__(self) -> None:
        self.waited: list[int] = []

    def force_flush(self, milliseconds: int) -> None:
        self.waited.append(milliseconds)


def test_the_end_sends_what_is_left_and_nothing_of_a_set_up_that_is_not_ours(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    provider = Provider()
    monkeypatch.setattr(telemetry, "_set_providers", lambda _: (provider, provider, provider))
    for known, flushes in ((ProxyTracerProvider(), 3), (TracerProvider(), 0)):
        monkeypatch.setattr("opentelemetry.trace.get_tracer_provider", lambda known=known: known)
        sink = telemetry.OtlpTelemetry("books")
        sink.write([StampedNote(ORIGIN, ended("success"), 5, 0)])
        sink.close()
        assert provider.waited == [1500] * flushes
        provider.waited.clear()


def test_how_long_a_call_took_is_measured_by_the_name_of_the_convention() -> None:
    measured = Collector(Conversation().call({"title": "Emma"})).measured
    assert measured is not None
    (metric,) = measured.resource_metrics[0].scope_metrics[0].metrics
    assert (metric.name, metric.unit) == ("mcp.server.operation.duration", "s")
    (point,) = metric.data.data_points
    assert dict(point.attributes or {}) == {
        "mcp.method.name": "tools/call",
        "gen_ai.tool.name": "find_book",
        "network.transport": "pipe",
    }


def test_no_span_and_no_event_shows_a_secret() -> None:
    said = text("FIXTUREPW1 is invalid test data: connect to postgres://bob:dbpassS3@h/x", isError=True)
    found = Collector(Conversation().call({"title": "x", "password": "FIXTUREPW1"}, said), SecretMask(["ENVVALUE777"]))
    refused = Collector(Conversation().call({"title": ["ENVVALUE777"], "password": 7}), SecretMask(["ENVVALUE777"]))
    for collector in (found, refused):
        shown = "".join(span.to_json() for span in collector.spans) + str(
            [event.attributes for event in collector.events]
        )
        assert "gen_ai.evaluation.explanation" in shown
        assert not [secret for secret in ("FIXTUREPW1", "dbpassS3", "ENVVALUE777") if secret in shown]
