"""Verdicts as scores of Opik: its real SDK sends to a local server, which records what arrives."""

import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.receiver import Arrived, Receiver, Reply, receiving
from tests.server.scores.scoring import AT, REFUSAL, TRACE, ids, need, sent

from toolvet import check_answer
from toolvet.errors import AuthenticationError, UnreachableError
from toolvet.server.scores.platform import is_uuid7
from toolvet.store import Store, VerdictFilter
from toolvet.version import __version__

# Its SDK builds its client in a way that httpx will not take one day.
quiet_opik = pytest.mark.filterwarnings("ignore:`verify=<str>` is deprecated", "ignore::DeprecationWarning:opik")


@contextmanager
def opik(patch: pytest.MonkeyPatch, tmp_path: Path, status: int = 204) -> Iterator[Receiver]:
    need("opik", "needs Opik's SDK: make platforms")

    def answer(arrived: Arrived) -> Reply:
        return Reply(200 if arrived.method == "GET" else status, b"" if status == 204 else {"message": "no"})

    with receiving(answer) as server:
        patch.setenv("OPIK_URL_OVERRIDE", f"{server.url}/api/")
        patch.setenv("OPIK_API_KEY", "opik-secret")
        patch.setenv("OPIK_WORKSPACE", "team")
        patch.setenv("OPIK_PROJECT_NAME", f"books-{uuid.uuid4().hex[:6]}")
        patch.setenv("OPIK_CONFIG_PATH", str(tmp_path / "opik.config"))
        (tmp_path / "opik.config").write_text("")
        for name in ("ANALYTICS_ENABLE", "SENTRY_ENABLE", "ENABLE_LITELLM_MODELS_MONITORING"):
            patch.setenv(f"OPIK_{name}", "false")
        yield server


def opik_scores(server: Receiver, kind: str) -> list[Mapping[str, Any]]:
    path = f"/api/v1/private/{kind}/feedback-scores"
    return [each for arrived in server.arrived if arrived.path.rstrip("/") == path for each in arrived.json["scores"]]


@quiet_opik
def test_opik_gets_answers_on_the_trace_and_results_on_spans_of_their_own(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with opik(monkeypatch, tmp_path) as server:
        done = sent(store, "opik")
        assert (done.sent, done.left_out) == (2, 1)
        assert "opik-secret" not in done.place
        (answer,) = opik_scores(server, "traces")
        (result,) = opik_scores(server, "spans")
        assert (answer["name"], answer["value"]) == ("toolvet.answer", 0.25)
        assert f"toolvet.answer {__version__}" in answer["reason"]
        assert is_uuid7(answer["id"])
        assert uuid.UUID(result["id"]).hex == ids(store)["toolvet.result"].verdict
        (traces,) = [each.json["traces"] for each in server.arrived if each.path.endswith("/traces/batch")]
        (spans,) = [each.json["spans"] for each in server.arrived if each.path.endswith("/spans/batch")]
        assert traces[0]["id"] == spans[0]["trace_id"] == answer["id"]
        assert traces[0]["metadata"] == {"toolvet_trace": TRACE}
        before = len(opik_scores(server, "traces"))
        assert sent(store, "opik").sent == 0
        assert len(opik_scores(server, "traces")) == before


@quiet_opik
def test_opik_keeps_a_trace_that_is_its_own(store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    own = "0193d5f2-0b6e-7c3a-8f00-1234567890ab"
    store.add(check_answer(REFUSAL, trace=own), at=AT + 5)
    with opik(monkeypatch, tmp_path) as server:
        sent(store, "opik", wanted=VerdictFilter(trace=own))
        assert [each["id"] for each in opik_scores(server, "traces")] == [own]
        assert not [each for each in server.arrived if each.path.endswith("/traces/batch")]


@quiet_opik
def test_opik_that_refuses_is_said(store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with opik(monkeypatch, tmp_path, 400), pytest.raises(UnreachableError, match="Opik did not take"):
        sent(store, "opik")


@quiet_opik
@pytest.mark.parametrize(
    ("status", "error"),
    [(401, AuthenticationError), (429, UnreachableError), (500, UnreachableError)],
)
def test_what_opik_answered_is_in_the_error_and_nothing_counts_as_sent(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status: int, error: type[Exception]
) -> None:
    with opik(monkeypatch, tmp_path, status), pytest.raises(error, match=str(status)):
        sent(store, "opik")
    with opik(monkeypatch, tmp_path) as server:
        assert sent(store, "opik").sent == 2
        assert len(opik_scores(server, "traces")) == 1
