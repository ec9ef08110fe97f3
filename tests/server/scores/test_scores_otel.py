"""Verdicts as events of OpenTelemetry: its real SDK sends to a local collector, which records what arrives."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from tests.receiver import Receiver, Reply, receiving
from tests.server.scores.scoring import AT, TRACE, ids, need, sent

from toolvet.cli import run
from toolvet.errors import AuthenticationError, UnreachableError
from toolvet.server.scores import destination_names
from toolvet.store import Store
from toolvet.version import __version__


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
    # A log of the SDK would be a second message for one thing.
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
