"""The end of `toolvet proxy --listen`, even if a peer does not read, answer or end, or a file is locked.

A proxy that lives on fails its test by pytest's timeout.
"""

import http.client
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.proxy.stdio_client import Life

from toolvet.store import Store

ACCEPTED = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
HEAD = "".join(f"{name}: {value}\r\n" for name, value in {"Host": "localhost", **ACCEPTED}.items())
STUBBORN = """
import json, os, signal, sys
os.set_inheritable(os.open(os.environ["LIFE"], os.O_WRONLY), True)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
while True:
    signal.pause()
"""


@contextmanager
def proxied(*words: str, **env: str) -> Iterator[tuple[subprocess.Popen[str], str, int]]:
    """The proxy, and where it listens."""
    command = [sys.executable, "-m", "toolvet", "proxy", "--listen", "127.0.0.1:0", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env={**os.environ, **env}) as process:
        try:
            assert process.stderr is not None
            where = urlsplit(process.stderr.readline().split()[-1])
            assert where.hostname is not None
            assert where.port is not None
            yield process, where.hostname, where.port
        finally:
            process.kill()


@pytest.fixture(name="upstream")
def _upstream() -> Iterator[tuple[str, threading.Event, threading.Event]]:
    """A server at a URL that answers with as much as is read, or never; what it has heard, and whether it may flood."""
    heard, floods = threading.Event(), threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    kept: list[socket.socket] = []

    def serve() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            kept.append(connection)
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    def answer(connection: socket.socket) -> None:
        try:
            if not connection.recv(65536):
                return
            heard.set()
            if not floods.is_set():
                return
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n")
            while True:
                connection.sendall(b"x" * 65536)
        except OSError:
            return

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}/mcp", heard, floods
    listener.close()
    for connection in kept:
        connection.close()


def call(host: str, port: int) -> socket.socket:
    """A connection on which a call was sent, and nothing is read."""
    client = socket.create_connection((host, port))
    client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "add", "arguments": {}}})
    client.sendall(f"POST /mcp HTTP/1.1\r\n{HEAD}Content-Length: {len(body)}\r\n\r\n{body}".encode())
    return client


def signal_twice(process: "subprocess.Popen[str]", host: str, port: int) -> None:
    """Send the second signal when the first has been heard: nothing is accepted any more."""
    process.send_signal(signal.SIGTERM)
    while True:
        try:
            socket.create_connection((host, port)).close()
        except OSError:
            break
    process.send_signal(signal.SIGTERM)


def test_a_signal_ends_it_among_idle_connections(upstream: tuple[str, threading.Event, threading.Event]) -> None:
    with proxied(upstream[0]) as (process, host, port):
        clients = [socket.create_connection((host, port)) for _ in range(20)]
        with_half_a_head = socket.create_connection((host, port))
        with_half_a_head.sendall(b"POST /mcp HT")
        process.terminate()
        assert process.wait() == 0
        for client in (*clients, with_half_a_head):
            client.close()


@pytest.mark.parametrize("stuck", ["client", "server"])
@pytest.mark.parametrize("signals", [1, 2])
def test_nobody_can_hold_up_the_end(
    upstream: tuple[str, threading.Event, threading.Event], stuck: str, signals: int
) -> None:
    """Neither a client that does not read what comes, nor a server that never answers."""
    url, heard, may_flood = upstream
    if stuck == "client":
        may_flood.set()
    with proxied(url) as (process, host, port):
        client = call(host, port)
        heard.wait()
        if signals == 1:
            process.terminate()
            assert process.wait() == 0
        else:
            signal_twice(process, host, port)
            assert process.wait() == 128 + signal.SIGTERM
        client.close()


@pytest.mark.parametrize("signals", [1, 2])
def test_a_server_behind_the_bridge_that_ignores_all_is_killed(tmp_path: Path, signals: int) -> None:
    life = Life(tmp_path)
    with proxied("--", sys.executable, "-c", STUBBORN, LIFE=str(life.path)) as (process, host, port):
        connection = http.client.HTTPConnection(host, port)
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
        connection.request("POST", "/mcp", body, ACCEPTED)
        assert connection.getresponse().status == 200
        if signals == 1:
            process.terminate()
            assert process.wait() == 0
        else:
            signal_twice(process, host, port)
            assert process.wait() == 128 + signal.SIGTERM
        life.wait()
        connection.close()
    life.close()


def test_a_locked_store_does_not_hold_up_the_end(
    tmp_path: Path, upstream: tuple[str, threading.Event, threading.Event]
) -> None:
    record = tmp_path / "calls.db"
    with Store(record) as store:
        store.open()
    other = sqlite3.connect(record, isolation_level=None, timeout=60)
    other.execute("BEGIN EXCLUSIVE")
    with proxied(upstream[0], "--store", str(record)) as (process, host, port):
        client = call(host, port)
        upstream[1].wait()
        process.terminate()
        process.wait()
        client.close()
    other.execute("ROLLBACK")
    other.close()
    # The call that the end cut short is in the spool, and the next process that opens the store takes it in.
    with Store(record) as store:
        assert store.count() == 1
