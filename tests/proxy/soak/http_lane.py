"""A server over HTTP that is killed and started again on its port, and a proxy over HTTP under load before it."""

import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.proxy.soak.lane import Faults, Memory
from tests.proxy.soak.tally import Tally, request, tool_of

_CONNECTIONS: Final = 8
_SERVER: Final = str(Path(__file__).with_name("server.py"))


class HttpServer:
    """The server of the soak at a URL."""

    def __init__(self) -> None:
        self._port = 0
        self._process = self._start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/mcp"

    def kill(self) -> None:
        """Kill the server, and start it again at the same address."""
        self._process.kill()
        self._process.communicate()
        self._process = self._start()

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _start(self) -> subprocess.Popen[str]:
        command = [sys.executable, _SERVER, "--http", str(self._port)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        self._port = int(process.stdout.readline())
        return process


class HttpLane:
    """Sends the calls of the tally to a proxy that listens, over several connections at once.

    The proxy is killed by `close`; `stderr` is what it said until then.
    """

    def __init__(self, command: list[str], tally: Tally, *, pause: float) -> None:
        self.tally = tally
        self.memory = Memory(tally)
        self.stderr: list[bytes] = []
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, bufsize=0)
        assert self.process.stderr is not None
        said = self.process.stderr.readline().decode()
        assert "serving http://" in said, said
        self._port = int(said.split(":")[-1].split("/")[0])
        errors = self.process.stderr
        self._listener = threading.Thread(target=lambda: self.stderr.append(errors.read()), daemon=True)
        self._listener.start()
        self._pause = pause
        self._slow = threading.Event()
        self._lock = threading.Lock()
        self._numbers: Iterator[int] = iter(range(tally.calls))
        self._ended = 0
        self._faults: Faults | None = None

    def read_slowly(self) -> None:
        """Let one connection wait before it reads an answer."""
        self._slow.set()

    def run(self, faults: Faults) -> dict[str, int]:
        """Send all calls, with these faults."""
        self._faults = faults
        threads = [threading.Thread(target=self._send, daemon=True) for _ in range(_CONNECTIONS)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            time.sleep(0.01)
            self.memory.look(self.process.pid)
            with self._lock:
                faults.pass_time(self.tally.answered)
        self.memory.look(self.process.pid)
        faults.end()
        return faults.counts

    def close(self) -> None:
        """End the proxy as a person does."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self._listener.join()
        assert self.process.stderr is not None
        self.process.stderr.close()

    def _send(self) -> None:
        connection: socket.socket | None = None
        while True:
            with self._lock:
                number = next(self._numbers, None)
            if number is None:
                break
            if connection is None:
                connection = socket.create_connection(("127.0.0.1", self._port))
            body = request(number, modern=True)
            head = (
                f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nContent-Type: application/json\r\n"
                "Accept: application/json, text/event-stream\r\nMcp-Protocol-Version: 2026-07-28\r\n"
                f"Mcp-Method: tools/call\r\nMcp-Name: {tool_of(number)}\r\nContent-Length: {len(body)}\r\n\r\n"
            )
            connection.sendall(head.encode() + body)
            if self._slow.is_set():
                self._slow.clear()
                time.sleep(self._pause)
            answer, stays = _read_answer(connection)
            with self._lock:
                self.tally.take(answer)
                # After each answer, too: a machine may be so fast that all of them come between two looks.
                if self._faults is not None and self.tally.answered < self.tally.calls:
                    self._faults.pass_time(self.tally.answered)
            if not stays:
                connection.close()
                connection = None
        if connection is not None:
            connection.close()


def _read_answer(connection: socket.socket) -> tuple[bytes, bool]:
    """The body of a response, and whether the connection stays open."""
    data = b""
    while b"\r\n\r\n" not in data:
        chunk = connection.recv(1 << 16)
        if not chunk:
            return b"", False
        data += chunk
    head, _, body = data.partition(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:])
    is_chunked = fields.get(b"transfer-encoding") == b"chunked"
    length = int(fields.get(b"content-length", b"0"))
    while not body.endswith(b"0\r\n\r\n") if is_chunked else len(body) < length:
        chunk = connection.recv(1 << 16)
        if not chunk:
            return body, False
        body += chunk
    if is_chunked:
        body = b"".join(_pieces(body))
    return body, fields.get(b"connection") != b"close"


def _pieces(body: bytes) -> Iterator[bytes]:
    while True:
        size, _, body = body.partition(b"\r\n")
        length = int(size, 16)
        if not length:
            return
        yield body[:length]
        body = body[length + 2 :]
