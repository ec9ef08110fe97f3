"""Phoenix: an annotation on the span of the tool call, or on the first span of the turn.

A verdict knows its trace and not its span, so the spans of the trace are asked for first. A turn that Phoenix does not
have yet waits for the next run.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from importlib import import_module
from typing import Any, Final

from toolvet.errors import AuthenticationError, UnreachableError
from toolvet.server.scores.platform import Destination, Score, ScoreSender, shown_url, trace_id_of

_TITLE: Final = "Phoenix"
_TOOL_NAMES: Final = ("gen_ai.tool.name", "tool.name", "tool_call.function.name")
_TRACES_AT_ONCE: Final = 25
_MOST_SPANS: Final = 5_000


class PhoenixSender:
    """Sends by `log_span_annotations`; its `identifier` is the id of the score, so that it is kept once."""

    def __init__(self, client: Any, place: str, project: str) -> None:
        self.place = place
        self.complaints: list[str] = []
        self._client = client
        self._project = project

    def accepts(self, score: Score) -> bool:
        """Return whether the verdict belongs to a turn."""
        return score.trace is not None

    def send(self, scores: Sequence[Score]) -> frozenset[str]:
        """Find the spans of these scores, and annotate them."""
        httpx: Any = import_module("httpx")

        try:
            spans = self._spans(sorted({trace_id_of(score.trace or "") for score in scores}))
            found = {score.id: span for score in scores if (span := _span_of(score, spans)) is not None}
            annotations = [
                (
                    {
                        "span_id": found[score.id],
                        "name": score.evaluator,
                        "annotator_kind": "CODE",
                        "identifier": score.id,
                        "result": {
                            "score": score.value,
                            "label": score.label,
                            "explanation": score.explanation or score.outcome,
                        },
                        "metadata": dict(score.metadata),
                    }
                )
                for score in scores
                if score.id in found
            ]
            if annotations:
                self._client.spans.log_span_annotations(span_annotations=annotations, sync=True)
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            if status in (401, 403):
                raise AuthenticationError(f"{_TITLE} refuses the credentials: it answered {status}") from error
            raise UnreachableError(f"{_TITLE} did not take the scores: it answered {status}") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise UnreachableError(f"{_TITLE} did not take the scores: {type(error).__name__} {error}") from error
        return frozenset(found)

    def _spans(self, traces: Sequence[str]) -> Mapping[str, list[Mapping[str, Any]]]:
        httpx: Any = import_module("httpx")

        found: dict[str, list[Mapping[str, Any]]] = {}
        for start in range(0, len(traces), _TRACES_AT_ONCE):
            try:
                spans = self._client.spans.get_spans(
                    project_identifier=self._project,
                    trace_ids=traces[start : start + _TRACES_AT_ONCE],
                    limit=_MOST_SPANS,
                )
            except httpx.HTTPStatusError as error:
                # A project that has no spans yet does not exist.
                if error.response.status_code == 404:
                    return {}
                raise
            for span in spans:
                found.setdefault(span["context"]["trace_id"], []).append(span)
        return found


def _span_of(score: Score, spans: Mapping[str, list[Mapping[str, Any]]]) -> str | None:
    known = spans.get(trace_id_of(score.trace or ""), [])
    if not known:
        return None
    tools: list[Mapping[str, Any]] = []
    for span in known:
        attributes: Mapping[str, Any] = span.get("attributes") or {}
        names = [*map(attributes.get, _TOOL_NAMES), str(span.get("name", "")).split(" ")[-1]]
        if score.tool is not None and score.tool in names:
            tools.append(span)
    if tools:
        best = min(tools, key=lambda span: (abs(_seconds(span) - score.at), str(span["context"]["span_id"])))
    else:
        # Roots first, then the earliest.
        best = min(known, key=lambda span: (bool(span.get("parent_id")), _seconds(span)))
    return str(best["context"]["span_id"])


def _seconds(span: Mapping[str, Any]) -> float:
    try:
        return datetime.fromisoformat(str(span.get("start_time", ""))).timestamp()
    except ValueError:
        return 0.0


@contextmanager
def _open() -> Generator[ScoreSender]:
    sdk: Any = import_module("phoenix.client")
    known: Any = import_module("phoenix.client.utils.config")
    project = str(known.get_env_project_name())
    yield PhoenixSender(sdk.Client(), f"phoenix {shown_url(str(known.get_base_url()))} {project}", project)


DESTINATION: Final = Destination(_TITLE, _open, "a trace id")
