"""Verdicts as annotations of Phoenix: its real SDK sends to a local server, which records what arrives."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.receiver import Arrived, Receiver, Reply, receiving
from tests.server.scores.scoring import AT, REFUSAL, TRACE, ids, need, sent

from toolvet import check_answer
from toolvet.errors import AuthenticationError, UnreachableError
from toolvet.store import Store
from toolvet.version import __version__


def phoenix_span(number: int, name: str, *, parent: str | None = None, **attributes: Any) -> dict[str, Any]:
    return {
        "name": name,
        "context": {"trace_id": TRACE, "span_id": f"{number:016x}"},
        "span_kind": "TOOL",
        "parent_id": parent,
        "start_time": f"2026-11-22T10:00:0{number}+00:00",
        "end_time": "2026-11-22T10:00:09+00:00",
        "status_code": "OK",
        "attributes": attributes,
    }


@contextmanager
def phoenix(patch: pytest.MonkeyPatch, spans: list[dict[str, Any]], status: int = 200) -> Iterator[Receiver]:
    need("phoenix", "needs Phoenix's client: make platforms")

    def answer(arrived: Arrived) -> Reply:
        if arrived.path == "/arize_phoenix_version":
            return Reply(200, b"20.26.1", (("content-type", "text/plain"),))
        if arrived.path.endswith("/spans"):
            found = [span for span in spans if span["context"]["trace_id"] in arrived.query.get("trace_id", ())]
            return Reply(status, {"data": found, "next_cursor": None})
        return Reply(status, {"data": [{"id": str(number)} for number, _ in enumerate(arrived.json["data"])]})

    with receiving(answer) as server:
        patch.setenv("PHOENIX_BASE_URL", server.url)
        patch.setenv("PHOENIX_API_KEY", "phoenix-secret")
        patch.setenv("PHOENIX_PROJECT_NAME", "books")
        yield server


def test_phoenix_gets_annotations_on_the_tools_span_and_on_the_first(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    spans = [
        phoenix_span(1, "agent"),
        phoenix_span(2, "tools/call other", parent="1"),
        phoenix_span(3, "call", parent="1", **{"gen_ai.tool.name": "find_book"}),
    ]
    with phoenix(monkeypatch, spans) as server:
        done = sent(store, "phoenix")
        assert (done.sent, done.left_out, done.waiting) == (2, 1, 0)
        (arrived,) = server.to("/v1/span_annotations")
        found = {each["name"]: each for each in arrived.json["data"]}
        assert found["toolvet.result"]["span_id"] == f"{3:016x}"
        assert found["toolvet.answer"]["span_id"] == f"{1:016x}"
        assert found["toolvet.answer"]["annotator_kind"] == "CODE"
        assert found["toolvet.answer"]["identifier"] == ids(store)["toolvet.answer"].id
        assert found["toolvet.answer"]["result"]["score"] == 0.25
        assert found["toolvet.answer"]["metadata"]["evaluator_version"] == __version__
        assert arrived.headers["authorization"] == "Bearer phoenix-secret"
        assert sent(store, "phoenix").sent == 0
        assert len(server.to("/v1/span_annotations")) == 1


def test_a_turn_that_phoenix_does_not_have_yet_waits_for_the_next_run(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    spans: list[dict[str, Any]] = []
    with phoenix(monkeypatch, spans) as server:
        assert sent(store, "phoenix").waiting == 2
        assert not server.to("/v1/span_annotations")
        spans.append(phoenix_span(1, "agent"))
        assert sent(store, "phoenix").sent == 2


def test_phoenix_that_refuses_the_key_is_said(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with phoenix(monkeypatch, [phoenix_span(1, "agent")], 401), pytest.raises(AuthenticationError, match="401"):
        sent(store, "phoenix")


@pytest.mark.parametrize("status", [429, 500])
def test_phoenix_that_cannot_take_scores_is_said_with_its_answer(
    store: Store, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    spans = [phoenix_span(1, "agent")]
    with phoenix(monkeypatch, spans, status), pytest.raises(UnreachableError, match=f"it answered {status}"):
        sent(store, "phoenix")
    with phoenix(monkeypatch, spans) as server:
        url = server.url
        assert sent(store, "phoenix").sent == 2
    monkeypatch.setenv("PHOENIX_BASE_URL", url)
    store.add(check_answer(REFUSAL, trace=TRACE), at=AT + 9)
    with pytest.raises(UnreachableError, match="Phoenix did not take the scores: ConnectError"):
        sent(store, "phoenix")
