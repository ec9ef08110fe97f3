"""Verdicts as scores: the real SDKs send to a local server, which records what arrives."""

import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.receiver import Arrived, Receiver, Reply, receiving

from toolvet import check_answer, check_result
from toolvet.cli import run
from toolvet.errors import AuthenticationError, UnreachableError, UsageError
from toolvet.integrations.scores import Sending, destination, destination_names, send_scores
from toolvet.integrations.scores.score import Score, is_uuid7, score_of, trace_id_of
from toolvet.store import Store, VerdictFilter, VerdictRecord
from toolvet.store.retention import Retention
from toolvet.version import __version__

AT = 1_795_357_000.0
TRACE = "0af7651916cd43dd8448eb211c80319c"
TOOL = {"name": "find_book", "inputSchema": {"type": "object"}}
CRASH = {"isError": True, "content": [{"type": "text", "text": "Traceback: KeyError: 'title'"}]}
REFUSAL = "I cannot help with that request."


def need(module: str, words: str) -> None:
    """Skip where an SDK is missing; `make platforms` installs them all, and there it is a failure."""
    try:
        found = find_spec(module)
    except ModuleNotFoundError:
        found = None
    if found is None:
        if os.environ.get("TOOLVET_PLATFORMS") == "required":
            pytest.fail(f"{module} is not installed: {words}")
        pytest.skip(words)


def fill(store: Store) -> None:
    """A turn with a result that failed and an answer that refuses, and an answer that belongs to nothing."""
    store.add(check_result(TOOL, {}, CRASH, trace=TRACE), tool="find_book", server="books", at=AT, duration=0.5)
    store.add(check_answer(REFUSAL, trace=TRACE), text=REFUSAL, model="m1", conversation="talk-1", at=AT + 1)
    store.add(check_answer("The museum opens at nine and closes at six."), at=AT + 2)


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    with Store(tmp_path / "verdicts.db") as opened:
        fill(opened)
        # Another store at the same file sees what was moved into it.
        assert opened.flush()
        yield opened


def sent(store: Store, name: str, **options: Any) -> Sending:
    """Send all there is, and return the last state."""
    return list(send_scores(store, destination(name), **options))[-1]


def ids(store: Store) -> dict[str, Score]:
    return {score.evaluator: score for score in map(score_of, store.verdicts(VerdictFilter(trace=TRACE)))}


# Langfuse.


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


# Opik.

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
@pytest.mark.parametrize(("status", "error"), [(401, AuthenticationError), (500, UnreachableError)])
def test_what_opik_answered_is_in_the_error_and_nothing_counts_as_sent(
    store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, status: int, error: type[Exception]
) -> None:
    with opik(monkeypatch, tmp_path, status), pytest.raises(error, match=str(status)):
        sent(store, "opik")
    with opik(monkeypatch, tmp_path) as server:
        assert sent(store, "opik").sent == 2
        assert len(opik_scores(server, "traces")) == 1


# Phoenix.


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


# OpenTelemetry.


@contextmanager
def collector(patch: pytest.MonkeyPatch, status: int = 200) -> Iterator[Receiver]:
    need("opentelemetry.sdk", 'needs OpenTelemetry: pip install "toolvet[otel]"')
    with receiving(lambda _: Reply(status, b"", (("content-type", "application/x-protobuf"),))) as server:
        patch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url)
        patch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=secret")
        patch.delenv("OTEL_EXPORTER_OTLP_LOGS_ENDPOINT", raising=False)
        yield server


def events_at(server: Receiver) -> list[tuple[Any, dict[str, Any]]]:
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (  # noqa: PLC0415 - an extra
        ExportLogsServiceRequest,
    )

    found: list[tuple[Any, dict[str, Any]]] = []
    for arrived in server.to("/v1/logs"):
        for resource in ExportLogsServiceRequest.FromString(arrived.body).resource_logs:
            for scope in resource.scope_logs:
                for record in scope.log_records:
                    known = {
                        each.key: getattr(each.value, each.value.WhichOneof("value")) for each in record.attributes
                    }
                    found.append((record, {**known, "scope.version": scope.scope.version}))
    return found


def test_a_collector_gets_an_event_for_each_verdict_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with collector(monkeypatch) as server:
        done = sent(store, "otel")
        assert (done.sent, done.left_out) == (3, 0)
        assert "secret" not in done.place
        events = events_at(server)
        assert {record.event_name for record, _ in events} == {"gen_ai.evaluation.result"}
        record, known = next(each for each in events if each[1].get("gen_ai.tool.name") == "find_book")
        assert record.trace_id.hex() == TRACE
        assert record.time_unix_nano == int(AT * 1e9)
        assert known["gen_ai.evaluation.name"] == "toolvet.result"
        assert known["gen_ai.evaluation.score.label"] == "fail"
        assert known["log.record.uid"] == ids(store)["toolvet.result"].id
        assert known["toolvet.evaluator.version"] == known["scope.version"] == __version__
        assert sent(store, "otel").total == 0
        assert len(events_at(server)) == 3


def test_a_collector_that_refuses_is_said_and_the_next_run_sends_all(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collector(monkeypatch, 400), pytest.raises(UnreachableError, match="did not take"):
        sent(store, "otel")
    with collector(monkeypatch) as server:
        assert sent(store, "otel").sent == 3
        assert len(events_at(server)) == 3


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        (401, AuthenticationError, "refuses the credentials: it answered 401"),
        (403, AuthenticationError, "refuses the credentials: it answered 403"),
        (429, UnreachableError, "it answered 429 Too Many Requests"),
        (500, UnreachableError, "it answered 500 Internal Server Error"),
    ],
)
def test_what_a_collector_answered_is_in_the_error_and_nothing_counts_as_sent(
    store: Store, monkeypatch: pytest.MonkeyPatch, status: int, error: type[Exception], words: str
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.5")
    with collector(monkeypatch, status), pytest.raises(error, match=words):
        sent(store, "otel")
    with collector(monkeypatch) as server:
        assert sent(store, "otel").sent == 3
        assert len(events_at(server)) == 3


def test_a_collector_that_is_down_is_said(
    store: Store, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with collector(monkeypatch) as server:
        url = server.url
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", url)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.5")
    with pytest.raises(UnreachableError, match="did not take the events: no answer"):
        sent(store, "otel")
    # What the SDK logs would be a second message for one thing.
    assert capfd.readouterr().err == ""


def test_events_that_a_collector_drops_are_said_and_never_sent_again(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with collector(monkeypatch) as server:
        from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (  # noqa: PLC0415 - an extra
            ExportLogsPartialSuccess,
            ExportLogsServiceResponse,
        )

        partial = ExportLogsPartialSuccess(rejected_log_records=1, error_message="too \x1bold")
        body = ExportLogsServiceResponse(partial_success=partial).SerializeToString()
        server.answer = lambda _: Reply(200, body, (("content-type", "application/x-protobuf"),))
        assert run(["store", "send", "otel", "--store", str(store.address.path)]) == 0
        said = capsys.readouterr().err
        assert "3 verdicts sent" in said
        assert "OpenTelemetry: the collector dropped 1 of the events: too ␛old" in said
        assert sent(store, "otel").total == 0
        assert len(events_at(server)) == 3


# What all share.


class Pretend:
    """A platform of the test's own, which takes what it is told to."""

    def __init__(self) -> None:
        self.place = "pretend here"
        self.complaints: list[str] = []
        self.batches: list[list[str]] = []

    def accepts(self, score: Score) -> bool:
        return score.trace is not None

    def send(self, scores: Any) -> frozenset[str]:
        self.batches.append([score.id for score in scores])
        return frozenset(self.batches[-1])


def pretended(sender: Pretend) -> Any:
    from toolvet.integrations.scores.destination import Destination  # noqa: PLC0415

    @contextmanager
    def opened() -> Iterator[Pretend]:
        yield sender

    return Destination("Pretend", opened, "a trace")


def test_many_verdicts_go_in_batches_and_what_a_filter_leaves_out_is_sent_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    sender = Pretend()
    with Store(tmp_path / "v.db") as store:
        store.add_records(
            [VerdictRecord(id=f"{number:032x}", at=AT + number, kind="answer", trace="t") for number in range(450)]
        )
        late = list(send_scores(store, pretended(sender), VerdictFilter(since=AT + 200)))
        assert [state.sent for state in late] == [0, 200, 250]
        assert list(send_scores(store, pretended(sender)))[-1].sent == 200
        assert len({each for batch in sender.batches for each in batch}) == 450
        # A verdict that was deleted takes what is known of it along.
        store.prune(Retention(older_than=1.0, max_bytes=None))
        with store.reading() as connection:
            from toolvet.store.tables.score_sends import SCORE_SENDS  # noqa: PLC0415

            assert connection.execute(SCORE_SENDS.select()).fetchall() == []


def test_a_batch_that_fails_leaves_what_was_sent_before_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    class Failing(Pretend):
        def send(self, scores: Any) -> frozenset[str]:
            if len(self.batches) == 1:
                raise UnreachableError("down")
            return super().send(scores)

    failing, whole = Failing(), Pretend()
    with Store(tmp_path / "v.db") as store:
        store.add_records(
            [VerdictRecord(id=f"{number:032x}", at=AT + number, kind="answer", trace="t") for number in range(450)]
        )
        with pytest.raises(UnreachableError):
            list(send_scores(store, pretended(failing)))
        assert list(send_scores(store, pretended(whole)))[-1].sent == 250
    assert not {*failing.batches[0]} & {each for batch in whole.batches for each in batch}


def test_looking_sends_nothing_and_notes_nothing(store: Store) -> None:
    sender = Pretend()
    (*_, last) = send_scores(store, pretended(sender), only_look=True)
    assert (last.total, last.sent, last.left_out, sender.batches) == (3, 0, 1, [])
    assert list(send_scores(store, pretended(sender)))[-1].sent == 2


def test_a_store_of_lines_cannot_remember(tmp_path: Path) -> None:
    with Store(tmp_path / "v.jsonl") as store:
        fill(store)
        with pytest.raises(UsageError, match="import"):
            list(send_scores(store, pretended(Pretend())))


def test_the_command_offers_what_the_folder_has(
    store: Store, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert destination_names() == ("langfuse", "opik", "otel", "phoenix")
    url = str(store.address.path)
    with collector(monkeypatch) as server:
        assert run(["store", "send", "otel", "--store", url, "--dry-run"]) == 0
        assert "3 verdicts would be sent to OpenTelemetry" in capsys.readouterr().err
        assert not server.arrived
        assert run(["store", "send", "otel", "--store", url, "--since", "2026-11-22"]) == 0
        assert "3 verdicts sent" in capsys.readouterr().err
    assert run(["store", "send", "otel", "--store", url, "--since", "soon"]) == 2
    assert "--since soon" in capsys.readouterr().err
    monkeypatch.delenv("LANGFUSE_SECRET_KEY", raising=False)
    monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", "pk")
    assert run(["store", "send", "langfuse", "--store", url]) == 2
    assert "LANGFUSE_SECRET_KEY" in capsys.readouterr().err
