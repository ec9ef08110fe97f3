"""Odd requests that Schemathesis does not make: on SQLite and on PostgreSQL none is a bug of ours, each is answered."""

import gzip
import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.server.dashboard.serving import Running, serving

from toolvet import check_answer, check_envelope
from toolvet.errors import StoreError
from toolvet.server.dashboard.app import endpoints
from toolvet.server.dashboard.rendering import pages

JSON = {"content-type": "application/json"}
ODD_SEGMENTS = [
    *("%00", "a%00b", "%ff", "%F0%9F%92%A9", "%ED%A0%80", "%E2%80%AE", "%0d%0aset-cookie:a=b", "%1b%5b31m", "%7f"),
    *("%25", "%2500", "..%2f..%2fetc", "%2e%2e", "~", "~2", "'%20OR%201=1--", "%3Cscript%3E", "x" * 5000, "-1", "%20"),
]
ODD_TEXTS = [
    *(
        "\x00",
        "a\x00b",
        "\u202e\x1b[31m",
        "'; DROP TABLE verdicts;--",
        "%_\\",
        "' & | ! <-> :*",
        '"*',
        "\U0001f4a9\ufffe",
    ),
    *("é" * 400, "x" * 600, "-1", "1e400", "nan", "9" * 30, " \t"),
]


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def running(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One server for all tests of this file, with an item in its queue."""
    folder = tmp_path_factory.mktemp("odd")
    is_file = request.param == "sqlite"
    url = f"sqlite:///{folder}/a.db" if is_file else request.getfixturevalue("postgres").database()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        yield from opened(url)


def opened(url: str) -> Iterator[Running]:
    with serving(url) as made:
        said = "I cannot help with that."
        made.site.store.add(check_answer(said), text=said, trace="turn", conversation="c")
        made.site.store.flush()
        made.site.queue.fill()
        yield made


@pytest.fixture
def client(running: Running) -> Iterator[httpx2.Client]:
    with running.client() as made:
        yield made


def raw(client: httpx2.Client, method: str, path: str, **options: Any) -> httpx2.Response:
    """A request whose path is sent as it is written."""
    return client.request(method, httpx2.URL(client.base_url).copy_with(raw_path=path.encode()), **options)


def assert_answered(reply: httpx2.Response) -> None:
    assert reply.status_code < 500, (str(reply.request.url)[:200], reply.text[:300])
    is_whole = reply.request.method != "HEAD"
    if is_whole and reply.status_code >= 400 and reply.headers["content-type"] == "application/json":
        assert not check_envelope(reply.json()), reply.text


@pytest.mark.parametrize("path", sorted({each.path for each in endpoints() if "{" in each.path}))
def test_odd_ids_are_answered(client: httpx2.Client, path: str) -> None:
    methods = {each.method for each in endpoints() if each.path == path}
    for written in ODD_SEGMENTS:
        for method in methods:
            body = {"value": "right"} if path.endswith("/label") else {"text": "x"} if path.endswith("{id}") else {}
            reply = raw(client, method, re.sub(r"{\w+}", written, path), json=None if method == "GET" else body)
            assert_answered(reply)
            assert reply.status_code in {404, 422}, (method, path, written, reply.status_code)
            assert "set-cookie" not in reply.headers


@pytest.mark.parametrize("path", sorted({page.path for page in pages() if "{" in page.path}))
def test_odd_ids_of_pages_are_answered(client: httpx2.Client, path: str) -> None:
    for written in ODD_SEGMENTS:
        reply = raw(client, "GET", re.sub(r"{\w+}", written, path))
        assert_answered(reply)
        assert "<script>" not in reply.text
        assert "\x1b" not in reply.text


@pytest.mark.parametrize("endpoint", [e for e in endpoints() if e.method == "GET" and e.takes.__struct_fields__])
def test_odd_queries_are_answered(client: httpx2.Client, endpoint: Any) -> None:
    path = re.sub(r"{\w+}", "none", endpoint.path)
    needed = {"by": "tool"} if "by" in endpoint.takes.__struct_fields__ else {}
    for name in endpoint.takes.__struct_fields__:
        for text in ODD_TEXTS[1::2]:
            reply = client.get(path, params={**needed, name: text})
            assert_answered(reply)
            if "\x00" in text and reply.status_code != 404:
                assert reply.status_code == 422
                assert reply.json()["data"]["details"]["field"] == name


QUERIES = (
    "kind",
    "server",
    "tool",
    "q",
    "order",
    "since",
    "period",
    "before",
    "after",
    "page",
    "a",
    "b",
    "by",
    "state",
)


@pytest.mark.parametrize("path", sorted(page.path for page in pages() if "{" not in page.path))
def test_odd_queries_of_pages_are_answered(client: httpx2.Client, path: str) -> None:
    for name in QUERIES:
        # Each page is rendered: only what a page could stumble over.
        for text in ("a\x00b", "\u202e'%_ \U0001f4a9", "9" * 30):
            reply = client.get(path, params={name: text})
            assert reply.status_code in {200, 422, 404}, (name, text, reply.status_code)
            assert "\x00" not in reply.text


def strings(value: Any, text: str) -> Any:
    """The value with this text in place of each of its strings but the first."""
    if isinstance(value, dict):
        return {name: each if name == "kind" else strings(each, text) for name, each in value.items()}
    if isinstance(value, list):
        return [strings(each, text) for each in value]
    return text if isinstance(value, str) else value


BODIES: list[tuple[str, Any]] = [
    (
        "/v1/verdicts",
        {"kind": "answer", "text": "a", "question": "q", "model": "m", "conversation": "c", "server": "s"},
    ),
    ("/v1/verdicts", {"kind": "call", "tool": "t", "arguments": {"a": "b"}, "result": {"content": ["x"]}}),
    ("/v1/verdicts", {"kind": "result", "tool": {"name": "t"}, "result": "r"}),
    ("/v1/verdicts", {"kind": "envelope", "tool": "t", "response": {"success": "no"}}),
    (
        "/v1/check/answer",
        {"text": "a", "question": "q", "finish_reason": "stop", "trace": "t", "calls": [{"name": "f"}]},
    ),
    ("/v1/check/conversation", {"messages": [{"role": "user", "content": "hello"}]}),
    ("/v1/queue", {"id": "x"}),
    ("/v1/queue/next", {}),
    ("/v1/check/stream", {"languages": ["en"]}),
]


@pytest.mark.parametrize(("path", "body"), BODIES, ids=lambda value: value if isinstance(value, str) else "")
def test_odd_texts_of_bodies_are_answered(client: httpx2.Client, path: str, body: Any) -> None:
    for text in ODD_TEXTS:
        reply = client.post(path, json=strings(body, text))
        assert_answered(reply)
        if reply.status_code == 201 and path == "/v1/verdicts":
            read = client.get(f"/v1/verdicts/{reply.json()['id']}")
            assert read.status_code == 200
            assert "\x00" not in json.dumps(read.json()["server"])


def test_odd_labels_are_kept_or_refused(client: httpx2.Client) -> None:
    (item,) = client.get("/v1/queue", params={"state": "all", "rule": "escalated", "limit": 1}).json()["items"]
    for text in ODD_TEXTS:
        for body in ({"value": text}, {"value": "right", "note": text}, {"value": "right", "signals": {text: text}}):
            reply = client.post(f"/v1/queue/{item['id']}/label", json=body)
            assert_answered(reply)
            assert reply.status_code == (200 if "note" in body else 422)
    assert client.get(f"/v1/queue/{item['id']}/history", params={"limit": 1000}).status_code == 200


@pytest.mark.parametrize(
    ("raw_body", "status"),
    [
        (b'{"kind": "answer", "text": "\\ud800"}', 400),
        (b'{"kind": "answer", "text": "\xed\xa0\x80"}', 400),
        (b'\xef\xbb\xbf{"kind": "answer", "text": "x"}', 400),
        ('{"kind": "answer", "text": "x"}'.encode("utf-16"), 400),
        (b'{"kind": "answer", "text": "x", "at": 1e400}', 422),
        (b'{"kind": "answer", "text": "x", "at": -1}', 422),
        (b'{"kind": "answer", "text": "x", "duration": 99999999999999999999}', 422),
        (b'{"kind": "answer", "text": "x", "calls": [{"name": "f", "arguments": {"n": 1e400}}]}', 422),
        (b'{"kind": "answer", "text": "x", "calls": [{"name": "f", "arguments": {"n": ' + b"9" * 60 + b"}}]}", 201),
        (
            b'{"kind": "call", "tool": "t", "arguments": {"n": -' + b"9" * 60 + b'}, "result": 1.7976931348623157e308}',
            201,
        ),
        (b'{"kind": "answer", "text": "first", "text": "second"}', 201),
        (b'{"kind": "answer", "kind": "call", "text": "x"}', 422),
        (b'{"kind": "nothing"}', 422),
        (b'{"kind": null, "text": "x"}', 422),
        (b'{"text": "x"}', 422),
    ],
)
def test_odd_json_is_kept_or_refused(client: httpx2.Client, raw_body: bytes, status: int) -> None:
    reply = client.post("/v1/verdicts", content=raw_body, headers=JSON)
    assert reply.status_code == status, reply.text
    assert_answered(reply)
    if status == 201:
        assert client.get(f"/v1/verdicts/{reply.json()['id']}").status_code == 200


def test_a_cursor_from_elsewhere_finds_nothing_or_is_refused(client: httpx2.Client) -> None:
    for order in ("newest", "oldest", "lowest_score", "slowest"):
        for cursor, status in ((0, 200), (10**12, 200), (10**12 + 1, 422), (2**63, 422), (-1, 422), ("abc", 422)):
            reply = client.get("/v1/verdicts", params={"order": order, "cursor": cursor})
            assert reply.status_code == status, (order, cursor, reply.text)
    everything = client.get("/v1/verdicts", params={"limit": 1000}).json()
    walked: list[str] = []
    place: dict[str, int] = {}
    while True:
        page = client.get("/v1/verdicts", params={"limit": 3, **place}).json()
        walked += [each["id"] for each in page["verdicts"]]
        if page["next"] is None:
            break
        place = {"cursor": page["next"]}
    assert walked == [each["id"] for each in everything["verdicts"]]
    assert everything["total"] == len(walked)


def test_a_compressed_body_is_refused(client: httpx2.Client) -> None:
    for coding in ("gzip", "deflate", "br", "zstd", "gzip, gzip"):
        headers = {**JSON, "content-encoding": coding}
        reply = client.post("/v1/check/answer", content=gzip.compress(b'{"text": "x"}'), headers=headers)
        assert (reply.status_code, reply.headers["accept-encoding"]) == (415, "identity")
    plain = client.post("/v1/check/answer", content=b'{"text": "x"}', headers={**JSON, "content-encoding": "identity"})
    assert plain.status_code == 200
    form = {"content-type": "application/x-www-form-urlencoded", "content-encoding": "gzip"}
    assert client.post("/login", content=gzip.compress(b"token=x"), headers=form).status_code == 415


def test_every_path_answers_every_method(client: httpx2.Client) -> None:
    known = [each.path for each in endpoints()] + [page.path for page in pages()]
    paths = {re.sub(r"{\w+}", "none", path) for path in known}
    for path in [*paths, "/login", "/healthz", "/openapi.json", "/nothing"]:
        for method in ("HEAD", "OPTIONS", "PUT", "PATCH", "TRACE", "PROPFIND", "BREW"):
            reply = client.request(method, path)
            assert_answered(reply)
            assert reply.status_code != 405 or reply.headers["allow"]
            assert method != "HEAD" or reply.content == b""


def test_a_body_of_a_hundred_megabytes_is_refused_before_it_is_read(running: Running) -> None:
    with socket.create_connection(("127.0.0.1", int(running.url.rpartition(":")[2])), timeout=30) as connection:
        head = "POST /v1/check/answer HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        connection.sendall(f"{head}content-length: 104857600\r\n\r\n".encode() + b"{")
        reply = b""
        # Head and body may come one after the other; the connection is closed behind them.
        while b"PAYLOAD_TOO_LARGE" not in reply and (more := connection.recv(65536)):
            reply += more
    assert reply.startswith(b"HTTP/1.1 413")
    assert b"PAYLOAD_TOO_LARGE" in reply


def test_the_store_says_nothing_of_the_database(running: Running, tmp_path: Path) -> None:
    with running.client() as client:
        for path in ("/openapi.json", "/healthz", "/v1/overview", "/events"):
            text = client.get(path).text
            assert "sqlite" not in text
            assert "postgresql" not in text
            assert str(tmp_path.parent) not in text


@pytest.mark.parametrize("path", ["/v1/queue", "/v1/verdicts", "/v1/audit"])
def test_a_lost_store_is_told_without_its_address(running: Running, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    def lost(_: object) -> None:
        raise StoreError("postgresql+psycopg://toolvet@db.example/secret: no connection")

    monkeypatch.setattr(type(running.site.store), "reading", lost)
    with running.client() as client:
        reply = client.get(path)
    assert (reply.status_code, reply.headers["retry-after"]) == (503, "5")
    assert "db.example" not in reply.text
    assert reply.json()["data"]["error_code"] == "UNAVAILABLE"
