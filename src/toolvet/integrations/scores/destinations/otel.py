"""OpenTelemetry: an event `gen_ai.evaluation.result` on the trace of the turn, by OTLP over HTTP.

Names are those of the semantic conventions for GenAI (in development as of 2026). OTLP has no way to replace an event:
`log.record.uid` is the id of the score, by which a backend can leave out what it has.
"""

import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from toolvet.errors import UnreachableError
from toolvet.integrations.scores.destination import Destination, ScoreSender, missing_sdk, shown_url
from toolvet.integrations.scores.score import Score, trace_id_of
from toolvet.version import __version__

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import LoggerProvider

_TITLE: Final = "OpenTelemetry"
_EVENT: Final = "gen_ai.evaluation.result"
_SEVERITIES: Final = {"pass": 9, "warn": 13, "fail": 17}
_FLUSH_MILLISECONDS: Final = 60_000


class OtelSender:
    """Sends events, and waits for the answer of the collector."""

    def __init__(self, loggers: "LoggerProvider", failures: list[str], place: str) -> None:
        self.place = place
        self._loggers = loggers
        self._failures = failures

    def accepts(self, score: Score) -> bool:
        """Return True: an event needs no trace."""
        del score
        return True

    def send(self, scores: Sequence[Score]) -> frozenset[str]:
        """Emit an event for each score."""
        from opentelemetry._logs import LogRecord, SeverityNumber  # noqa: PLC0415 - an extra

        for score in scores:
            logger = self._loggers.get_logger("toolvet", score.version or __version__)
            logger.emit(
                LogRecord(
                    timestamp=int(score.at * 1e9),
                    context=_context(score),
                    severity_number=SeverityNumber(_SEVERITIES[score.label]),
                    event_name=_EVENT,
                    attributes=_attributes(score),
                )
            )
        flushed = self._loggers.force_flush(_FLUSH_MILLISECONDS)
        if self._failures or not flushed:
            words = ", ".join(self._failures) or "no answer in time"
            self._failures.clear()
            raise UnreachableError(f"{_TITLE}: the collector did not take the events ({words})")
        return frozenset(score.id for score in scores)


def _context(score: Score) -> Any:
    from opentelemetry import trace  # noqa: PLC0415 - as above
    from opentelemetry.context import Context  # noqa: PLC0415 - as above

    if score.trace is None:
        return Context()
    # The span is not known; an id of zeros says so.
    place = trace.SpanContext(int(trace_id_of(score.trace), 16), 0, is_remote=True)
    return trace.set_span_in_context(trace.NonRecordingSpan(place), Context())


def _attributes(score: Score) -> dict[str, Any]:
    known: dict[str, Any] = {
        "gen_ai.evaluation.name": score.evaluator,
        "gen_ai.evaluation.score.value": score.value,
        "gen_ai.evaluation.score.label": score.label,
        "gen_ai.evaluation.explanation": score.explanation,
        "gen_ai.conversation.id": score.conversation,
        "gen_ai.tool.name": score.tool,
        "gen_ai.request.model": score.model,
        "log.record.uid": score.id,
        "toolvet.evaluator.version": score.version,
        "toolvet.verdict": score.verdict,
        "toolvet.trace_id": score.trace,
        "toolvet.server": score.server,
        "toolvet.outcome": score.outcome,
        "toolvet.variant": score.variant,
        "toolvet.signals": list(score.signals),
    }
    return {key: value for key, value in known.items() if value not in (None, "", [])}


@contextmanager
def _open() -> Generator[ScoreSender]:
    try:
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter  # noqa: PLC0415 - an extra
        from opentelemetry.sdk._logs import LoggerProvider  # noqa: PLC0415
        from opentelemetry.sdk._logs.export import (  # noqa: PLC0415
            BatchLogRecordProcessor,
            LogRecordExportResult,
        )
        from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    except ImportError as error:
        raise missing_sdk(_TITLE, "otel", error) from error
    failures: list[str] = []

    class _Watched(OTLPLogExporter):
        """Notes what was not taken: the SDK only logs it."""

        def export(self, batch: Any) -> Any:
            done = super().export(batch)
            if done is not LogRecordExportResult.SUCCESS:
                failures.append(f"{len(batch)} events")
            return done

    own = {} if "OTEL_SERVICE_NAME" in os.environ else {"service.name": "toolvet"}
    loggers = LoggerProvider(resource=Resource.create({**own, "service.version": __version__}))
    exporter = _Watched()
    loggers.add_log_record_processor(BatchLogRecordProcessor(exporter))
    endpoint = os.environ.get("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT") or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT")
    try:
        yield OtelSender(loggers, failures, f"otel {shown_url(endpoint or 'http://localhost:4318')}")
    finally:
        loggers.shutdown()


DESTINATION: Final = Destination(_TITLE, _open, "nothing")
