"""A local HTTP server that records what arrives, and answers what the test says."""

import gzip
import json
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit


class Arrived(NamedTuple):
    """One request."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Reply(NamedTuple):
    """An answer."""

    status: int = 200
    body: Any = ""
    headers: tuple[tuple[str, str], ...] = ()


class Receiver(ThreadingHTTPServer):
    """Records requests in `arrived`; `answer` makes the replies."""

    daemon_threads = True

    def __init__(self, answer: Callable[[Arrived], Reply]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.arrived: list[Arrived] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def to(self, path: str) -> list[Arrived]:
        """A request to a path."""
        return [each for each in self.arrived if each.path == path]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Receiver

    def _take(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        coding = self.headers.get("content-encoding", "")
        body = gzip.decompress(body) if coding == "gzip" else zlib.decompress(body) if coding == "deflate" else body
        parts = urlsplit(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        arrived = Arrived(self.command, parts.path, parse_qs(parts.query), headers, body)
        self.server.arrived.append(arrived)
        reply = self.server.answer(arrived)
        content = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
        self.send_response(reply.status)
        names = {name.lower() for name, _ in reply.headers}
        for name, value in reply.headers:
            self.send_header(name, value)
        if "content-type" not in names:
            self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PUT = do_PATCH = _take  # noqa: N815 - the names of http.server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Print nothing."""


@contextmanager
def receiving(answer: Callable[[Arrived], Reply] = lambda _: Reply()) -> Iterator[Receiver]:
    """A receiver while the block runs."""
    server = Receiver(answer)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
