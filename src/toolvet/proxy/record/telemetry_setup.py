"""Sets up OpenTelemetry for `--otel` where the process has no set-up yet: OTLP over HTTP, by the OTEL_… variables."""

import os
import re
from collections.abc import Sequence
from typing import Final

from opentelemetry import metrics, trace
from opentelemetry._logs import set_logger_provider
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

from toolvet.core.redact import SecretMask
from toolvet.proxy.record.recorder import StampedNote
from toolvet.proxy.record.telemetry import Telemetry
from toolvet.version import __version__

# What a collector that does not answer may cost when the proxy ends, in milliseconds.
_FLUSH_MILLISECONDS: Final = 1500
_TRACE_ID: Final = re.compile("[0-9a-f]{32}")


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
    """A sink that exports by OTLP, and sends what is left when it is closed.

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
