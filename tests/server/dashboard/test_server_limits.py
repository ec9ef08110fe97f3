"""Requests for which Uvicorn alone would wait forever: unread bodies, slow forms, too many connections."""

import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.server.dashboard.serving import Running, serving

from toolvet import check_answer
from toolvet.server.access import login
from toolvet.server.dashboard.api import routing
from toolvet.server.dashboard.api.endpoints import checks
from toolvet.server.dashboard.server import HeadLimit

PEOPLE = [("ada", "admin")]


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    monkeypatch.setattr(HeadLimit, "seconds", 0.2)
    monkeypatch.setattr(login, "FORM_SECONDS", 0.2)
    monkeypatch.setattr(routing, "BODY_SECONDS", 0.2)
    with serving(f"{tmp_path}/a.db", people=PEOPLE) as made:
        yield made


def connected(running: Running) -> socket.socket:
    return socket.create_connection(("127.0.0.1", int(running.url.rpartition(":")[2])), timeout=30)


def all_of(connection: socket.socket) -> bytes:
    """All that comes until the server closes."""
    reply = b""
    try:
        while part := connection.recv(65536):
            reply += part
    except ConnectionResetError:
        pass
    return reply


def head(line: str, length: int, kind: str = "application/json", token: str = "") -> bytes:
    given = f"authorization: Bearer {token}\r\n" if token else ""
    announced = f"content-type: {kind}\r\ncontent-length: {length}\r\n"
    return f"{line} HTTP/1.1\r\nhost: localhost\r\n{given}{announced}\r\n".encode()


def trickle(connection: socket.socket, stop: threading.Event) -> None:
    """Send a byte now and then, as a client that holds a connection."""
    try:
        while not stop.wait(0.02):
            connection.sendall(b"x")
    except OSError:
        pass


@pytest.mark.parametrize(
    ("line", "kind", "status"),
    [
        # Answered before its body is read: it is thrown away only for so long.
        ("POST /v1/check/answer", "application/json", b"401"),
        ("GET /healthz", "text/plain", b"200"),
        ("POST /login", "text/plain", b"415"),
        # Read, and too slow.
        ("POST /login", "application/x-www-form-urlencoded", b"408"),
    ],
)
def test_a_body_that_trickles_in_does_not_keep_its_connection(
    running: Running, line: str, kind: str, status: bytes
) -> None:
    stop = threading.Event()
    with connected(running) as connection:
        connection.sendall(head(line, 100_000, kind))
        sender = threading.Thread(target=trickle, args=(connection, stop))
        sender.start()
        try:
            assert all_of(connection).startswith(b"HTTP/1.1 " + status)
        finally:
            stop.set()
            sender.join()


def test_a_slow_body_of_somebody_who_may_is_cut(running: Running) -> None:
    with connected(running) as connection:
        connection.sendall(head("POST /v1/check/answer", 100, token=running.tokens["ada"]) + b'{"te')
        reply = all_of(connection)
    assert reply.startswith(b"HTTP/1.1 408")
    assert b"REQUEST_TIMEOUT" in reply


def test_too_many_connections_are_told_so(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(HeadLimit, "most", 2)
    with connected(running), connected(running), connected(running) as third:
        third.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        reply = all_of(third)
    assert reply.startswith(b"HTTP/1.1 503")
    assert b"retry-after: 5" in reply.lower()
    assert b'"UNAVAILABLE"' in reply


@pytest.mark.parametrize("path", ["/v1/check/answer", "/v1/check/conversation"])
def test_a_long_check_holds_up_nobody(running: Running, monkeypatch: pytest.MonkeyPatch, path: str) -> None:
    entered, leave = threading.Event(), threading.Event()

    def wait(_: Any) -> object:
        entered.set()
        assert leave.wait(30)
        return check_answer("done").to_dict()

    monkeypatch.setattr(checks, "judge", wait)
    body: dict[str, Any] = {"text": "x" * 70_000} if path.endswith("answer") else {"messages": []}
    with running.client("ada") as one, running.client("ada") as other:
        thread = threading.Thread(target=one.post, args=(path,), kwargs={"json": body})
        thread.start()
        try:
            assert entered.wait(30)
            assert other.get("/healthz").status_code == 200
            assert other.get("/v1/overview").status_code == 200
        finally:
            leave.set()
            thread.join()
