"""Opik: a score on the trace of the turn for answers, and on a span of its own for each other verdict.

Opik keeps one score for each name on a trace, and a turn may have many calls. So each of their verdicts becomes a span,
whose id is the verdict's own. Ids there are UUIDs of version 7; a turn whose id is none gets a trace with a derived id.
"""

import os
import uuid
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any, Final

from toolvet.errors import AuthenticationError, UnreachableError
from toolvet.server.scores.platform import Destination, Score, ScoreSender, is_uuid7, shown_url, uuid7_of

_TITLE: Final = "Opik"
_TIMEOUT_SECONDS: Final = 60
_TOO_MANY: Final = 429
# These keep the SDK from reporting our use to its maker, and from writing a file.
_QUIET: Final = {
    "OPIK_ANALYTICS_ENABLE": "false",
    "OPIK_SENTRY_ENABLE": "false",
    "OPIK_ENABLE_LITELLM_MODELS_MONITORING": "false",
    "OPIK_CONSOLE_LOGGING_LEVEL": "CRITICAL",
}


class OpikSender:
    """Sends by `log_traces_feedback_scores` and `log_spans_feedback_scores`, and waits until the server has them."""

    def __init__(self, client: Any, place: str) -> None:
        self.place = place
        self.complaints: list[str] = []
        self._client = client
        self._statuses = _watched(client)

    def accepts(self, score: Score) -> bool:
        """Return whether the verdict belongs to a turn."""
        return score.trace is not None

    def send(self, scores: Sequence[Score]) -> frozenset[str]:
        """Send traces and spans that Opik cannot know, then the scores."""
        for score in {score.trace: score for score in scores if not is_uuid7(score.trace or "")}.values():
            self._client.trace(
                id=_trace_id(score),
                name="toolvet turn",
                start_time=_time(score.began),
                metadata={"toolvet_trace": score.trace},
                thread_id=score.conversation,
            )
        answers = [score for score in scores if _is_of_turn(score)]
        others = [score for score in scores if not _is_of_turn(score)]
        for score in others:
            self._client.span(
                id=_span_id(score),
                trace_id=_trace_id(score),
                name=f"{score.evaluator} {score.tool or ''}".strip(),
                type="tool",
                start_time=_time(score.at),
                end_time=_time(score.at) + timedelta(seconds=score.duration or 0.0),
                metadata=dict(score.metadata),
            )
        self._flush()
        if answers:
            self._client.log_traces_feedback_scores([_feedback(_trace_id(score), score) for score in answers])
        if others:
            self._client.log_spans_feedback_scores([_feedback(_span_id(score), score) for score in others])
        self._flush()
        return frozenset(score.id for score in scores)

    def _flush(self) -> None:
        flushed = self._client.flush(timeout=_TIMEOUT_SECONDS)
        if _TOO_MANY in self._statuses.values():
            raise UnreachableError(f"{_TITLE} did not take the scores: {_TOO_MANY} Too Many Requests")
        if flushed:
            return
        result = self._client.last_flush_result
        failures = () if result is None else result.failures
        words = "; ".join(
            f"{each.reason.value} {each.status_code or ''} {each.detail or ''}".strip() for each in failures
        )
        if any(each.status_code in (401, 403) for each in failures):
            raise AuthenticationError(f"{_TITLE} refuses the credentials: {words[:300]}")
        raise UnreachableError(f"{_TITLE} did not take the scores: {words[:300] or 'no answer'}")


def _watched(client: Any) -> dict[str, int]:
    """Return a mapping that gets the status of the last answer to each kind of request.

    The SDK drops what was answered with 429 after its last attempt and reports success, unless the answer has the
    headers of Opik's own cloud.
    """
    statuses: dict[str, int] = {}

    def note(response: Any) -> None:
        statuses[response.request.url.path] = response.status_code

    sending = getattr(client, "_httpx_client", None)
    if sending is not None:
        sending.event_hooks = {**sending.event_hooks, "response": [*sending.event_hooks["response"], note]}
    return statuses


def _is_of_turn(score: Score) -> bool:
    return score.evaluator == "toolvet.answer"


def _trace_id(score: Score) -> str:
    return uuid7_of(score.trace or "", score.began)


def _span_id(score: Score) -> str:
    return str(uuid.UUID(score.verdict)) if is_uuid7(score.verdict) else uuid7_of(score.verdict, score.at)


def _time(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def _feedback(id_: str, score: Score) -> Any:
    version = f"{score.evaluator} {score.version}"
    return {
        "id": id_,
        "name": score.evaluator,
        "value": score.value,
        "category_name": score.label,
        "reason": f"{score.explanation or score.outcome} ({version}, verdict {score.verdict})",
    }


@contextmanager
def _open() -> Generator[ScoreSender]:
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    client = import_module("opik").Opik(_show_misconfiguration_message=False)
    config = client.config
    project = f"{config.workspace}/{config.project_name}"
    try:
        yield OpikSender(client, f"opik {shown_url(config.url_override)} {project}")
    finally:
        client.end(timeout=1)


DESTINATION: Final = Destination(_TITLE, _open, "a trace id")
