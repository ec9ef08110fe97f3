"""OpenTelemetry: an event `gen_ai.evaluation.result` on the trace of the turn, by OTLP over HTTP.

Names are those of the semantic conventions for GenAI (in development as of 2026). OTLP has no way to replace an event:
`log.record.uid` is the id of the score, by which a backend can leave out what it has.
"""

import logging
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from toolvet.core.visible import one_line, shorten
from toolvet.errors import AuthenticationError, ToolvetError, UnreachableError
from toolvet.server.scores.platform import Destination, Score, ScoreSender, shown_url, trace_id_of
from toolvet.version import __version__

if TYPE_CHECKING:
    from opentelemetry.sdk._logs import LoggerProvider

_TITLE: Final = "OpenTelemetry"
_EVENT: Final = "gen_ai.evaluation.result"
_SEVERITIES: Final = {"pass": 9, "warn": 13, "fail": 17}
_FLUSH_MILLISECONDS: Final = 60_000
_MOST_WORDS: Final = 300
# Variables that name a session of the user's own, for collectors that want a login.
_OWN_SESSION: Final = (
    "OTEL_PYTHON_EXPORTER_OTLP_HTTP_CREDENTIAL_PROVIDER",
    "OTEL_PYTHON_EXPORTER_OTLP_HTTP_LOGS_CREDENTIAL_PROVIDER",
)


class OtelSender:
    """Sends events, and waits for the answer of the collector."""

    def __init__(self, loggers: "LoggerProvider", answers: "_Answers", place: str) -> None:
        self.place = place
        self.complaints: list[str] = []
        self._loggers = loggers
        self._answers = answers

    def accepts(self, score: Score) -> bool:
        """Return True: an event needs no trace."""
        del score
        return True

    def send(self, scores: Sequence[Score]) -> frozenset[str]:
        """Emit an event for each score.

        What a collector says that it dropped (OTLP's partial success) counts as sent: it must not come again.
        """
        from opentelemetry import trace  # noqa: PLC0415 - an extra
        from opentelemetry._logs import LogRecord, SeverityNumber  # noqa: PLC0415 - as above
        from opentelemetry.context import Context  # noqa: PLC0415 - as above

        self._answers.clear()
        for score in scores:
            context = Context()
            if score.trace is not None:
                # The span is not known; an id of zeros says so.
                place = trace.SpanContext(int(trace_id_of(score.trace), 16), 0, is_remote=True)
                context = trace.set_span_in_context(trace.NonRecordingSpan(place), context)
            logger = self._loggers.get_logger("toolvet", score.version or __version__)
            logger.emit(
                LogRecord(
                    timestamp=int(score.at * 1e9),
                    context=context,
                    severity_number=SeverityNumber(_SEVERITIES[score.label]),
                    event_name=_EVENT,
                    attributes=_attributes(score),
                )
            )
        flushed = self._loggers.force_flush(_FLUSH_MILLISECONDS)
        if self._answers.failed or not flushed:
            raise self._answers.failure()
        self.complaints += self._answers.dropped
        return frozenset(score.id for score in scores)


class _Answers:
    """The collector's response to the last batch: the SDK only logs it, and leaves a partial success unread."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.failed = 0
        self.status: int | None = None
        self.words = ""
        self.dropped: list[str] = []

    def read(self, response: Any, *_: object, **__: object) -> None:
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse  # noqa: PLC0415 - an extra

        self.status, self.words = response.status_code, one_line(str(response.reason or ""))
        if not response.ok or "json" in response.headers.get("content-type", ""):
            return
        try:
            partial = ExportLogsServiceResponse.FromString(response.content).partial_success
        except ValueError:
            # Google's DecodeError is one; an answer that cannot be read says nothing.
            return
        if partial.rejected_log_records or partial.error_message:
            words = shorten(one_line(partial.error_message), _MOST_WORDS)
            self.dropped.append(f"the collector dropped {partial.rejected_log_records:,} of the events: {words}")

    def failure(self) -> ToolvetError:
        if self.status in (401, 403):
            return AuthenticationError(f"{_TITLE}: the collector refuses the credentials: it answered {self.status}")
        words = f"it answered {self.status} {self.words}".strip() if self.status is not None else "no answer"
        return UnreachableError(f"{_TITLE}: the collector did not take the events: {words}")


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
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter  # noqa: PLC0415 - an extra
    from opentelemetry.sdk._logs import LoggerProvider  # noqa: PLC0415
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor, LogRecordExportResult  # noqa: PLC0415
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415

    answers = _Answers()

    class _Watched(OTLPLogExporter):
        """Notes what was not taken."""

        def export(self, batch: Any) -> Any:
            done = super().export(batch)
            if done is not LogRecordExportResult.SUCCESS:
                answers.failed += len(batch)
            return done

    own = {} if "OTEL_SERVICE_NAME" in os.environ else {"service.name": "toolvet"}
    loggers = LoggerProvider(resource=Resource.create({**own, "service.version": __version__}))
    # A session of `requests` that shows its answers, unless the user has one of their own.
    session = None
    if not any(os.environ.get(name) for name in _OWN_SESSION):
        session = import_module("requests").Session()
        session.hooks["response"].append(answers.read)
    exporter = _Watched(session=session)
    loggers.add_log_record_processor(BatchLogRecordProcessor(exporter))
    endpoint = os.environ.get("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT") or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT")
    # The error that follows has everything that it logs.
    logger = logging.getLogger("opentelemetry.exporter.otlp.proto.http._log_exporter")
    quiet, spread, logger.propagate = logging.NullHandler(), logger.propagate, False
    logger.addHandler(quiet)
    try:
        yield OtelSender(loggers, answers, f"otel {shown_url(endpoint or 'http://localhost:4318')}")
    finally:
        loggers.shutdown()
        logger.removeHandler(quiet)
        logger.propagate = spread


DESTINATION: Final = Destination(_TITLE, _open, "nothing")
