"""Whatever is wrong with a request, the reply is an envelope with the right status and code."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.server.dashboard.serving import Running, serving

from toolvet import check_envelope
from toolvet.core.turn import AnswerStream
from toolvet.server.dashboard.api import bodies, given
from toolvet.server.dashboard.app import endpoints

JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with serving(f"{tmp_path_factory.mktemp('errors')}/a.db", most_body=100_000) as made:
        yield made


@pytest.fixture
def client(running: Running) -> Iterator[httpx2.Client]:
    with running.client() as made:
        yield made


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"{", 400),
        (b"nothing", 400),
        (b'{"text": NaN}', 400),
        (b'{"text": "\xff"}', 400),
        (b'{"text": "\\ud800"}', 400),
        (b'{"text": null, "question": ' + b"[" * 5000 + b"]" * 5000 + b"}", 400),
        (b"[]", 422),
        (b"{}", 422),
        (b'{"text": 5}', 422),
        (b'{"text": "x", "threshold": 1e400}', 422),
        (b'{"text": "x", "min_length": 1' + b"0" * 400 + b"}", 422),
        (b'{"text": "x", "": 1}', 422),
        (b'{"text": "x", "languages": ["klingon"]}', 422),
        (b'{"text": "x", "custom_patterns": {"refusal": ["(a)\\\\1"]}}', 422),
        (b'{"text": "x\\u0000y", "question": "\\u202e"}', 200),
        (b'{"text": "x", "calls": [{"name": "f", "result": ' + b"[" * 400 + b"]" * 400 + b"}]}", 200),
        (b'{"text": "' + b"x" * 200_000 + b'"}', 413),
    ],
)
def test_a_body_is_read_or_refused(client: httpx2.Client, body: bytes, status: int) -> None:
    reply = client.post("/v1/check/answer", content=body, headers=JSON)
    assert reply.status_code == status, reply.text
    if status != 200:
        assert not check_envelope(reply.json())


def test_a_body_without_a_length_is_bounded(client: httpx2.Client) -> None:
    reply = client.post("/v1/check/answer", content=iter([b" " * 60_000] * 3), headers=JSON)
    assert (reply.status_code, reply.json()["data"]["error_code"]) == (413, "PAYLOAD_TOO_LARGE")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "", "application/jsonp"])
def test_a_body_of_another_type_is_refused(client: httpx2.Client, kind: str) -> None:
    reply = client.post("/v1/check/answer", content=b'{"text": "x"}', headers={"content-type": kind})
    assert (reply.status_code, reply.json()["data"]["error_code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")


def test_a_deep_argument_does_no_harm(client: httpx2.Client) -> None:
    deep: Any = {}
    for _ in range(300):
        deep = {"a": deep}
    for path, body in [
        ("arguments", {"tool": {"name": "f", "inputSchema": {"type": "array"}}, "arguments": deep}),
        ("result", {"result": deep}),
        ("envelope", {"response": deep}),
    ]:
        assert client.post(f"/v1/check/{path}", json=body).status_code == 200
    kept = client.post("/v1/verdicts", json={"kind": "call", "tool": "f", "arguments": deep, "result": deep})
    assert kept.status_code == 201
    assert client.get(f"/v1/verdicts/{kept.json()['id']}").status_code == 200


def test_a_wrong_method_says_which_are_right(client: httpx2.Client) -> None:
    reply = client.put("/v1/check/answer", json={})
    assert (reply.status_code, reply.headers["allow"]) == (405, "POST")
    assert reply.json()["data"]["error_code"] == "METHOD_NOT_ALLOWED"
    options = client.options("/v1/verdicts")
    assert (options.status_code, options.content) == (204, b"")
    assert set(options.headers["allow"].split(", ")) == {"GET", "HEAD", "POST", "OPTIONS"}


def test_head_is_a_get_without_a_body(client: httpx2.Client) -> None:
    for path in ("/v1/overview", "/healthz", "/", "/openapi.json"):
        reply = client.head(path)
        assert (reply.status_code, reply.content) == (200, b"")


def test_a_slash_too_many_leads_to_the_path(client: httpx2.Client) -> None:
    reply = client.get("/v1/overview/?kind=answer")
    assert (reply.status_code, reply.headers["location"]) == (308, "/v1/overview?kind=answer")
    for path in ("//evil.example/", "/%5Cevil.example/", "/v1/nothing/"):
        assert client.get(httpx2.URL(client.base_url).copy_with(raw_path=path.encode())).status_code == 404


def test_a_query_is_checked_too(client: httpx2.Client) -> None:
    wrong = [("limit=0", "limit"), ("limit=1&limit=2", "limit"), ("colour=red", "colour"), ("since=nan", "since")]
    for query, field in wrong:
        reply = client.get(f"/v1/verdicts?{query}")
        assert (reply.status_code, reply.json()["data"]["details"]["field"]) == (422, field)


def test_what_is_no_http_gets_an_answer(running: Running) -> None:
    with socket.create_connection(("127.0.0.1", int(running.url.rpartition(":")[2]))) as connection:
        connection.settimeout(10)
        connection.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        reply = b"".join(iter(lambda: connection.recv(65536), b""))
    head, _, body = reply.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert not check_envelope(json.loads(body))


def test_a_bug_shows_no_internals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(f"{tmp_path}/a.db") as running, running.client() as client:
        monkeypatch.setattr(type(running.site.store), "overview", lambda *_, **__: 1 / 0)
        reply = client.get("/v1/overview")
        assert reply.status_code == 500
        assert "division" not in reply.text
        assert "content-security-policy" in reply.headers
        assert not check_envelope(reply.json())
        assert client.get("/v1/events").status_code == 200


def test_the_document_describes_every_endpoint(client: httpx2.Client) -> None:
    document = client.get("/openapi.json").json()
    described = {(method.upper(), path) for path, methods in document["paths"].items() for method in methods}
    assert described == {(each.method, each.path) for each in endpoints()}
    ids = [operation["operationId"] for methods in document["paths"].values() for operation in methods.values()]
    assert len(ids) == len(set(ids))


CHECKS: dict[str, tuple[str, dict[str, Any]]] = {
    "answer": ("check_answer", {"text": "x"}),
    "arguments": ("check_arguments", {"tool": {"name": "a", "inputSchema": {}}, "arguments": {}}),
    "result": ("check_result", {"result": {"content": []}}),
    "envelope": ("check_envelope", {"response": {}}),
    "conversation": ("check_conversation", {"messages": []}),
}


def broken(*_: object, **__: object) -> Any:
    raise KeyError("secret")


@pytest.mark.parametrize("kind", CHECKS)
def test_a_check_that_raises_is_a_verdict_that_says_so(
    client: httpx2.Client, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    room, body = CHECKS[kind]
    monkeypatch.setattr(bodies, room, broken)
    monkeypatch.setattr(bodies, "_SAID", set())
    unchecked = [client.post(f"/v1/check/{kind}", json=body) for _ in range(2)]
    checks = [{"kind": each, **body} for each, (_, body) in CHECKS.items()]
    batch = client.post("/v1/check/batch", json={"checks": checks})
    (words,) = capsys.readouterr().err.splitlines()
    assert words.startswith(
        "toolvet: a request could not be checked, because of a bug in toolvet: KeyError at test_api_e"
    )
    for reply in unchecked:
        assert (reply.status_code, reply.json()) == (200, {"unchecked": words.removeprefix("toolvet: a request ")})
    assert batch.json()["errors"] == 0
    verdicts = dict(zip(CHECKS, (each["verdict"] for each in batch.json()["results"]), strict=True))
    assert [each for each, verdict in verdicts.items() if verdict.keys() == {"unchecked"}] == [kind]
    # A fault of the caller is still a refusal.
    assert client.post(f"/v1/check/{kind}", json={}).status_code == 422


@pytest.mark.parametrize("kind", ["answer", "arguments", "result", "call", "envelope"])
def test_a_verdict_to_store_whose_check_raises_is_an_event(
    client: httpx2.Client, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    room, body = CHECKS.get(kind, CHECKS["result"])
    if kind == "call":
        body = {**body, "tool": "a"}
    monkeypatch.setattr(given if kind == "envelope" else bodies, room, broken)
    monkeypatch.setattr(bodies, "_SAID", set())
    reply = client.post("/v1/verdicts", json={"kind": kind, "server": "shop", **body})
    stored = reply.json()
    assert (reply.status_code, stored["outcome"], stored["score"]) == (201, "unchecked", None)
    event = client.get("/v1/events?limit=1").json()["events"][0]
    assert (event["id"], event["kind"], event["server"]) == (stored["id"], "check_failed", "shop")
    assert event["message"] == stored["reason"]
    assert stored["reason"].startswith("could not be checked, because of a bug in toolvet: KeyError")
    # A fault of the caller is still refused.
    assert client.post("/v1/verdicts", json={"kind": kind, "colour": 1, **body}).status_code == 422


def test_an_answer_in_pieces_that_cannot_be_checked_says_so(
    client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(AnswerStream, "feed", broken)
    monkeypatch.setattr(bodies, "check_answer", broken)
    path = f"/v1/check/stream/{client.post('/v1/check/stream', json={}).json()['id']}"
    for reply in (client.post(path, json={"text": "x"}), client.post(f"{path}/finish", json={})):
        assert (reply.status_code, list(reply.json())) == (200, ["unchecked"])
