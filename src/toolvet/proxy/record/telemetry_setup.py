"""Sets up OpenTelemetry for `--otel` where the process has no set-up yet: OTLP over HTTP, by the OTEL_… variables."""

import os
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

from toolvet.proxy.record.recorder import StampedNote
from toolvet.proxy.record.telemetry import Telemetry
from toolvet.version import __version__

# What a collector that does not answer may cost when the proxy ends, in milliseconds.
_FLUSH_MILLISECONDS: Final = 1500


class OtlpTelemetry:
    """A sink that exports by OTLP, and sends what is left when it is closed.

    Under `opentelemetry-instrument`, or any other set-up of the process, it uses that set-up and does not change it.
    """

    def __init__(self, name: str = "") -> None:
        self._providers: tuple[TracerProvider, LoggerProvider, MeterProvider] | None = None
        if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
            self._providers = _set_providers()
        self._telemetry = Telemetry(name)

    def write(self, notes: Sequence[StampedNote]) -> None:
        """Emit a span and its events for every call that ended."""
        self._telemetry.write(notes)

    def close(self) -> None:
        """Send what is left; wait at most 1.5 seconds for each provider."""
        if self._providers is not None:
            for provider in self._providers:
                provider.force_flush(_FLUSH_MILLISECONDS)


def _set_providers() -> tuple[TracerProvider, LoggerProvider, MeterProvider]:
    # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win over the name given here.
    own = {} if "OTEL_SERVICE_NAME" in os.environ else {"service.name": "toolvet-proxy"}
    resource = Resource.create({**own, "service.version": __version__})
    tracers = TracerProvider(resource=resource)
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    loggers = LoggerProvider(resource=resource)
    loggers.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    meters = MeterProvider(resource=resource, metric_readers=[PeriodicExportingMetricReader(OTLPMetricExporter())])
    trace.set_tracer_provider(tracers)
    set_logger_provider(loggers)
    metrics.set_meter_provider(meters)
    return tracers, loggers, meters
