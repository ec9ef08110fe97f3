"""Spans and evaluation events by OpenTelemetry (extra `otel`).

Names are those of the semantic conventions for GenAI and MCP (semantic-conventions-genai, in development as of 2026):
a span `tools/call TOOL`, its parent the `traceparent` in the call's `_meta`; for every check an event
`gen_ai.evaluation.result` of that span; and the histogram `mcp.server.operation.duration`.

`OtlpTelemetry` sets up OpenTelemetry for `--otel` where the process has no set-up yet: OTLP over HTTP, by the OTEL_…
variables.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from opentelemetry import metrics, trace
from opentelemetry._logs import (
    LoggerProvider as AnyLoggerProvider,
    LogRecord,
    SeverityNumber,
    get_logger_provider,
    set_logger_provider,
)
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from opentelemetry.util.types import AttributeValue

from toolvet.core.checks import Classification
from toolvet.core.meta import PROTOCOL_VERSION_KEY
from toolvet.core.redact import SecretMask
from toolvet.proxy.record.background import give_way
from toolvet.proxy.record.calls import FinishedCall, OpenCalls
from toolvet.proxy.record.recorder import StampedNote
from toolvet.proxy.session import CallEnded
from toolvet.proxy.session.step import OWN_OUTCOMES
from toolvet.version import __version__

_SCOPE: Final = "toolvet.proxy"
_EVENT: Final = "gen_ai.evaluation.result"
_PROPAGATOR: Final = TraceContextTextMapPropagator()
_NOTHING_KNOWN: Final = SecretMask()
# Characters of an explanation: a sentence, not a page.
_MOST_WORDS: Final = 500
_SEVERITY: Final = {"pass": SeverityNumber.INFO, "warn": SeverityNumber.WARN, "fail": SeverityNumber.ERROR}
_MEASURED: Final[tuple[str, ...]] = (
    "mcp.method.name",
    "gen_ai.tool.name",
    "error.type",
    "network.transport",
    "mcp.protocol.version",
)
# How long a collector that does not answer may delay the proxy's end, in milliseconds.
_FLUSH_MILLISECONDS: Final = 1500
_TRACE_ID: Final = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True)
class Evaluation:
    """The outcome of one check of a call, by the names of `gen_ai.evaluation.*`. `score` is between 0 and 1."""

    name: str
    score: float
    label: Literal["pass", "warn", "fail"]
    explanation: str = ""


def evaluations(note: CallEnded, known: SecretMask = _NOTHING_KNOWN) -> Iterator[Evaluation]:
    """Yield one evaluation of the arguments, if they were checked, and one of the result, if it was judged.

    The secrets of the call and those of `known` are removed.
    """
    mask = note.mask | known
    if note.issues:
        problems = "; ".join(f"{issue.field}: {issue.problem}" for issue in note.issues)
        label: Literal["warn", "fail"] = "warn" if note.repaired is not None else "fail"
        yield Evaluation("toolvet.arguments", 0.0, label, mask.text(problems)[:_MOST_WORDS])
    elif note.blocked is not None and note.outcome == "refused":
        yield Evaluation(f"toolvet.{note.blocked}", 0.0, "fail", mask.text(note.why)[:_MOST_WORDS])
    elif note.outcome not in OWN_OUTCOMES:
        yield Evaluation("toolvet.arguments", 1.0, "pass")
    if note.verdict is not None and note.outcome not in OWN_OUTCOMES:
        verdict = note.verdict
        grade: Literal["pass", "warn", "fail"] = "warn"
        if verdict.error_without_flag or verdict.classification in (Classification.BROKEN, Classification.ERROR):
            grade = "fail"
        elif verdict.is_valid and verdict.classification is Classification.FULLY_WORKING:
            grade = "pass"
        why = "; ".join(verdict.issues or verdict.evidence)
        yield Evaluation("toolvet.result", verdict.confidence / 100, grade, mask.text(why)[:_MOST_WORDS])


class Telemetry:
    """An exporter that emits spans and events.

    The default providers are those that are set globally when it is built; `OtlpTelemetry` sets up toolvet's own.
    `set_next_trace` is called with the trace id of a call before its span is started. `known` are secrets that the user
    gave.
    """

    def __init__(
        self,
        name: str = "",
        known: SecretMask = _NOTHING_KNOWN,
        *,
        tracers: trace.TracerProvider | None = None,
        loggers: AnyLoggerProvider | None = None,
        meters: metrics.MeterProvider | None = None,
        set_next_trace: Callable[[str], None] | None = None,
    ) -> None:
        self._name = name
        self._known = known
        self._set_next_trace = set_next_trace
        self._calls = OpenCalls()
        self._tracer = (tracers or trace.get_tracer_provider()).get_tracer(_SCOPE, __version__)
        self._logger = (loggers or get_logger_provider()).get_logger(_SCOPE, __version__)
        self._durations = (
            (meters or metrics.get_meter_provider())
            .get_meter(_SCOPE, __version__)
            .create_histogram("mcp.server.operation.duration", unit="s", description="From the call to its answer.")
        )

    def write(self, notes: Sequence[StampedNote]) -> None:
        """Emit a span and its events for every call that ended."""
        for item in self._calls.pair(notes):
            if isinstance(item, FinishedCall):
                self._emit_span(item)
            give_way()

    def close(self) -> None:
        """Do nothing: the providers, which were not built here, send what is left."""

    def _emit_span(self, call: FinishedCall) -> None:
        mask = call.ended.mask | self._known
        tool = mask.text(call.ended.tool)
        attributes = _attributes(call, self._name, mask)
        if self._set_next_trace is not None:
            self._set_next_trace(call.ended.trace_id)
        # The caller's span, as MCP or HTTP carries it.
        parent, state = call.ended.traces.parent_of(call.ended.meta), call.ended.meta.get("tracestate")
        carrier = {} if parent is None else {"traceparent": parent}
        if isinstance(state, str) and mask.text(state) == state:
            carrier["tracestate"] = state
        span = self._tracer.start_span(
            f"tools/call {tool}",
            # An empty context, not the current one: what this thread did before does not belong to the call.
            context=_PROPAGATOR.extract(carrier, Context()),
            kind=SpanKind.SERVER,
            start_time=call.began,
            attributes=attributes,
        )
        if "error.type" in attributes:
            span.set_status(Status(StatusCode.ERROR, mask.text(call.ended.why)[:_MOST_WORDS] or None))
        self._emit_evaluations(call, span)
        span.end(end_time=call.finished)
        if call.duration is not None:
            measured = {key: attributes[key] for key in _MEASURED if key in attributes}
            self._durations.record(call.duration, measured, context=trace.set_span_in_context(span))

    def _emit_evaluations(self, call: FinishedCall, span: Span) -> None:
        context = trace.set_span_in_context(span)
        for evaluation in evaluations(call.ended, self._known):
            attributes: dict[str, AttributeValue] = {
                "gen_ai.evaluation.name": evaluation.name,
                "gen_ai.evaluation.score.value": evaluation.score,
                "gen_ai.evaluation.score.label": evaluation.label,
            }
            if evaluation.explanation:
                attributes["gen_ai.evaluation.explanation"] = evaluation.explanation
            self._logger.emit(
                LogRecord(
                    timestamp=call.finished,
                    context=context,
                    severity_number=_SEVERITY[evaluation.label],
                    event_name=_EVENT,
                    attributes=attributes,
                )
            )


def _attributes(call: FinishedCall, name: str, mask: SecretMask) -> dict[str, AttributeValue]:
    note = call.ended
    found: dict[str, AttributeValue] = {
        "mcp.method.name": "tools/call",
        "gen_ai.operation.name": "execute_tool",
        # The words of a client or a server.
        "gen_ai.tool.name": mask.text(note.tool),
        "jsonrpc.request.id": mask.text(str(note.id)),
        "network.transport": call.origin.transport,
        "toolvet.server": name or call.origin.server,
        "toolvet.outcome": note.outcome,
        "toolvet.trace_id": mask.text(note.trace_id),
    }
    version = note.meta.get(PROTOCOL_VERSION_KEY)
    if isinstance(version, str):
        found["mcp.protocol.version"] = mask.text(version)
    if note.code is not None:
        found["rpc.response.status_code"] = str(note.code)
        found["error.type"] = str(note.code)
    elif note.outcome in ("tool_error", "refused") or "is_error" in note.changed:
        found["error.type"] = "tool_error"
    elif note.outcome in ("lost", "unreadable", "cancelled"):
        found["error.type"] = note.outcome
    if note.blocked is not None:
        found["toolvet.blocked"] = note.blocked
    if note.would_block is not None:
        found["toolvet.would_block"] = note.would_block
    if note.repaired is not None:
        found["toolvet.repaired"] = True
    return found


class TraceIds(RandomIdGenerator):
    """Ids of traces and spans: random ones, but a trace that has an id already keeps it.

    >>> ids = TraceIds()
    >>> ids.set_next("0af7651916cd43dd8448eb211c80319c")
    >>> f"{ids.generate_trace_id():032x}"
    '0af7651916cd43dd8448eb211c80319c'
    """

    def __init__(self) -> None:
        self._next: str | None = None

    def set_next(self, trace_id: str) -> None:
        """Use this id for the next trace, if it has the form of W3C Trace Context."""
        self._next = trace_id if _TRACE_ID.fullmatch(trace_id) else None

    def generate_trace_id(self) -> int:
        """Return the id that was set, once; else a random one."""
        known, self._next = self._next, None
        return super().generate_trace_id() if known is None else int(known, 16)


class OtlpTelemetry:
    """An exporter that exports by OTLP, and sends what is left when it is closed.

    Under `opentelemetry-instrument`, or any other set-up of the process, it uses that set-up and does not change it.
    """

    def __init__(self, name: str = "", known: SecretMask | None = None) -> None:
        ids: TraceIds | None = None
        self._providers: tuple[TracerProvider, LoggerProvider, MeterProvider] | None = None
        if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
            ids = TraceIds()
            self._providers = _set_providers(ids)
        self._telemetry = Telemetry(name, known or SecretMask(), set_next_trace=None if ids is None else ids.set_next)

    def write(self, notes: Sequence[StampedNote]) -> None:
        """Emit a span and its events for every call that ended."""
        self._telemetry.write(notes)

    def close(self) -> None:
        """Send what is left; wait at most 1.5 seconds for each provider."""
        if self._providers is not None:
            for provider in self._providers:
                provider.force_flush(_FLUSH_MILLISECONDS)


def _set_providers(ids: TraceIds) -> tuple[TracerProvider, LoggerProvider, MeterProvider]:
    # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win over the name given here.
    own = {} if "OTEL_SERVICE_NAME" in os.environ else {"service.name": "toolvet-proxy"}
    resource = Resource.create({**own, "service.version": __version__})
    tracers = TracerProvider(resource=resource, id_generator=ids)
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    loggers = LoggerProvider(resource=resource)
    loggers.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    meters = MeterProvider(resource=resource, metric_readers=[PeriodicExportingMetricReader(OTLPMetricExporter())])
    trace.set_tracer_provider(tracers)
    set_logger_provider(loggers)
    metrics.set_meter_provider(meters)
    return tracers, loggers, meters
