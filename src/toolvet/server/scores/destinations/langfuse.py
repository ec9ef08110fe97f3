"""Langfuse: a score on the trace of the turn, or on the session of the conversation.

A turn's id that is not 32 hexadecimal digits becomes the trace id that `Langfuse.create_trace_id(seed=…)` makes of it.
"""

import logging
import os
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import import_module
from typing import Any, Final

from toolvet.core.visible import one_line, shorten
from toolvet.errors import AuthenticationError, UnreachableError
from toolvet.server.scores.platform import Destination, Score, ScoreSender, from_environment, shown_url, trace_id_of

_TITLE: Final = "Langfuse"
_CLOUD: Final = "https://cloud.langfuse.com"
_LOGGER: Final = "langfuse"
_TIMEOUT_SECONDS: Final = 20
_MOST_WORDS: Final = 300


class LangfuseSender:
    """Sends by `create_score` and waits for it: the SDK sends in a thread, and only logs what goes wrong there."""

    def __init__(self, client: Any, place: str) -> None:
        self.place = place
        self.complaints: list[str] = []
        self._client = client

    def accepts(self, score: Score) -> bool:
        """Return whether there is a trace or a session."""
        return score.trace is not None or score.conversation is not None

    def send(self, scores: Sequence[Score]) -> frozenset[str]:
        """Send scores; where the server rejects some of them, each is sent alone to see which."""
        problems = self._try(scores)
        if not problems:
            return frozenset(score.id for score in scores)
        if not any("rejected" in problem for problem in problems):
            words = shorten(one_line(problems[0]), _MOST_WORDS)
            if any(mark in words for mark in ("401", "403", "Unauthorized", "Forbidden")):
                raise AuthenticationError(f"{_TITLE} refuses the credentials: {words}")
            raise UnreachableError(f"{_TITLE} did not take the scores: {words}")
        found: set[str] = set()
        for score in scores:
            alone = self._try([score])
            if alone:
                self.complaints.append(shorten(one_line(alone[0]), _MOST_WORDS))
            else:
                found.add(score.id)
        return frozenset(found)

    def _try(self, scores: Sequence[Score]) -> list[str]:
        with _collected_errors() as problems:
            for score in scores:
                tied = {"session_id": score.conversation}
                if score.trace is not None:
                    tied = {"trace_id": trace_id_of(score.trace)}
                self._client.create_score(
                    **tied,
                    score_id=score.id,
                    name=score.evaluator,
                    value=score.value,
                    data_type="NUMERIC",
                    comment=score.explanation or score.outcome or None,
                    metadata=dict(score.metadata),
                    timestamp=datetime.fromtimestamp(score.at, UTC),
                )
            self._client.flush()
        return problems


class _Errors(logging.Handler):
    def __init__(self, found: list[str]) -> None:
        super().__init__(logging.WARNING)
        self._found = found

    def emit(self, record: logging.LogRecord) -> None:
        words = record.getMessage()
        # A client that was shut down, or whose queue is full, only warns.
        if record.levelno >= logging.ERROR or "dropped" in words:
            self._found.append(words)


@contextmanager
def _collected_errors() -> Generator[list[str]]:
    found: list[str] = []
    handler, logger = _Errors(found), logging.getLogger(_LOGGER)
    spread, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield found
    finally:
        logger.removeHandler(handler)
        logger.propagate = spread


@contextmanager
def _open() -> Generator[ScoreSender]:
    public, secret = from_environment(_TITLE, "LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY")
    url = os.environ.get("LANGFUSE_BASE_URL") or os.environ.get("LANGFUSE_HOST") or _CLOUD
    sdk: Any = import_module("langfuse")
    tracing: Any = import_module("opentelemetry.sdk.trace")
    client = sdk.Langfuse(
        public_key=public,
        secret_key=secret,
        base_url=url,
        timeout=_TIMEOUT_SECONDS,
        sample_rate=1.0,
        flush_at=100,
        # Of its own: the process's tracing is not ours to set up.
        tracer_provider=tracing.TracerProvider(),
    )
    # Not shut down: the SDK has one client for each key in a process, and could never send by it again.
    yield LangfuseSender(client, f"langfuse {shown_url(url)} {public}")


DESTINATION: Final = Destination(_TITLE, _open, "a trace id or a conversation")
