"""Verdicts as scores of Langfuse: its real SDK sends to a local server, which records what arrives."""

import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest
from tests.receiver import Arrived, Receiver, Reply, receiving
from tests.server.scores.scoring import AT, TRACE, ids, need, sent

from toolvet import check_answer
from toolvet.errors import AuthenticationError, UnreachableError, UsageError
from toolvet.server.scores.platform import trace_id_of
from toolvet.store import Store, VerdictRecord
from toolvet.version import __version__


@contextmanager
def langfuse(
    patch: pytest.MonkeyPatch, answer: Callable[[Arrived], Reply] | None = None, *, key: str = "pk-lf-1"
) -> Iterator[Receiver]:
    """A receiver that answers as `POST /api/public/scores` does."""
    need("langfuse", "needs Langfuse's SDK: make platforms")

    def accept(arrived: Arrived) -> Reply:
        if arrived.path != "/api/public/scores":
            return Reply()
        return Reply(202, {"message": "Accepted"})

    with receiving(answer or accept) as server:
        # The SDK keeps one client for each public key in a process.
        patch.setenv("LANGFUSE_PUBLIC_KEY", f"{key}-{uuid.uuid4().hex[:8]}")
        patch.setenv("LANGFUSE_SECRET_KEY", "sk-lf-secret")
        patch.setenv("LANGFUSE_BASE_URL", server.url)
        yield server


def scores_at(server: Receiver) -> list[Mapping[str, Any]]:
    return [each for arrived in server.to("/api/public/scores") for each in arrived.json]


def test_langfuse_gets_each_verdict_once_with_evaluator_and_version(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with langfuse(monkeypatch) as server:
        done = sent(store, "langfuse")
        assert (done.total, done.sent, done.left_out, done.waiting) == (3, 2, 1, 0)
        assert "sk-lf-secret" not in done.place
        result, answer = sorted(scores_at(server), key=lambda each: str(each["name"]), reverse=True)
        assert (result["name"], answer["name"]) == ("toolvet.result", "toolvet.answer")
        assert (answer["traceId"], answer["value"], answer["dataType"]) == (TRACE, 0.25, "NUMERIC")
        assert answer["id"] == ids(store)["toolvet.answer"].id
        assert answer["metadata"]["evaluator"] == "toolvet.answer"
        assert answer["metadata"]["evaluator_version"] == __version__
        assert answer["metadata"]["signals"] == ["refusal"]
        assert (result["metadata"]["tool"], result["metadata"]["label"]) == ("find_book", "fail")
        before = len(server.arrived)
        again = sent(store, "langfuse")
        assert (again.total, again.sent) == (1, 0)
        assert len(server.arrived) == before
        store.add(check_answer("The museum opens at nine and closes at six.", trace="turn-2"), at=AT + 9)
        assert sent(store, "langfuse").sent == 1
        assert scores_at(server)[-1]["traceId"] == trace_id_of("turn-2")


def test_the_trace_id_of_another_form_is_the_one_that_langfuse_makes_of_it() -> None:
    need("langfuse", "needs Langfuse's SDK: make platforms")
    sdk = pytest.importorskip("langfuse")
    assert sdk.Langfuse.create_trace_id(seed="turn-2") == trace_id_of("turn-2")


def test_langfuse_that_refuses_the_keys_is_said_and_nothing_counts_as_sent(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        langfuse(monkeypatch, lambda _: Reply(401, {"message": "Invalid credentials"})),
        pytest.raises(AuthenticationError, match="credentials"),
    ):
        sent(store, "langfuse")
    with langfuse(monkeypatch) as server:
        assert sent(store, "langfuse").sent == 2
        assert len(scores_at(server)) == 2


def test_a_score_that_langfuse_rejects_waits_and_the_others_are_sent(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reject(arrived: Arrived) -> Reply:
        scores = arrived.json
        bad = [each for each in scores if each["name"] == "toolvet.result"]
        if not bad:
            return Reply(202, {"message": "Accepted"})
        errors = [{"message": "no such config"} for _ in bad]
        return Reply(207, {"accepted": len(scores) - len(bad), "rejected": len(bad), "errors": errors})

    with langfuse(monkeypatch, reject):
        done = sent(store, "langfuse")
    assert (done.sent, done.waiting) == (1, 1)


@pytest.mark.parametrize(("status", "words"), [(429, "Rate limit exceeded"), (500, "Internal server error")])
def test_langfuse_that_cannot_take_scores_is_said_in_the_words_of_its_sdk(
    store: Store, monkeypatch: pytest.MonkeyPatch, status: int, words: str
) -> None:
    with (
        langfuse(monkeypatch, lambda _: Reply(status, {"message": "later"})),
        pytest.raises(UnreachableError, match=f"Langfuse did not take the scores: {words}"),
    ):
        sent(store, "langfuse")
    with langfuse(monkeypatch) as server:
        assert sent(store, "langfuse").sent == 2
        assert len(scores_at(server)) == 2


def test_langfuse_that_is_down_is_said(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with langfuse(monkeypatch) as server:
        url = server.url
    monkeypatch.setenv("LANGFUSE_BASE_URL", url)
    with pytest.raises(UnreachableError, match="Langfuse did not take the scores"):
        sent(store, "langfuse")


def test_scores_that_langfuse_got_before_it_failed_come_again_under_the_same_ids(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add_records(
        [VerdictRecord(id=f"{number:032x}", at=AT + number, kind="answer", trace="t") for number in range(1, 151)]
    )
    answers = iter([Reply(202, {"message": "Accepted"})])
    with langfuse(monkeypatch, lambda _: next(answers, Reply(400, {"message": "no"}))) as server:
        with pytest.raises(UnreachableError):
            sent(store, "langfuse")
        before = {each["id"] for each in server.to("/api/public/scores")[0].json}
    assert before
    with langfuse(monkeypatch) as server:
        assert sent(store, "langfuse").sent == 152
        after = [each["id"] for each in scores_at(server)]
    assert len(after) == len({*after}) == 152
    assert before < {*after}


def test_a_missing_variable_is_named(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LANGFUSE_PUBLIC_KEY", raising=False)
    monkeypatch.delenv("LANGFUSE_SECRET_KEY", raising=False)
    with pytest.raises(UsageError, match="LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY"):
        sent(store, "langfuse")
