"""Single requests: what is sent is what the caller composed, and nothing goes to another origin."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import cast

import pytest

from toolvet.mcp.transport import HttpTarget
from toolvet.mcp.transport.raw_http import RawHttp, RawResponse, place_of

Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def answering(answer: Answer) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A server that answers so, and the headers of every request."""
    asked: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            """Quiet."""

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length") or 0))
            asked.append({name.lower(): value for name, value in self.headers.items()})
            answer(self)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/mcp", asked
        finally:
            server.shutdown()
            thread.join()


def say(status: int, body: bytes = b"", **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def send(url: str, authorization: str = "", **options: object) -> RawResponse:
    async def run() -> RawResponse:
        http = RawHttp(HttpTarget(url, {"authorization": authorization} if authorization else None))
        try:
            headers = cast("dict[str, str]", options.pop("headers", {}))
            return await http.send("POST", headers, b"{}", **{"timeout": 20.0, **options})  # type: ignore[arg-type]
        finally:
            await http.close()

    return asyncio.run(run())


def test_headers_replace_those_of_the_client_host_among_them() -> None:
    with answering(say(200)) as (url, asked):
        send(url, headers={"host": "attacker.example", "accept": "text/html"})
    assert (asked[0]["host"], asked[0]["accept"]) == ("attacker.example", "text/html")


def test_credentials_go_along_unless_the_request_is_anonymous() -> None:
    with answering(say(200)) as (url, asked):
        send(url, authorization="Bearer t")
        send(url, authorization="Bearer t", anonymous=True)
    assert [request.get("authorization") for request in asked] == ["Bearer t", None]


def test_a_redirect_to_another_origin_is_an_answer_and_nothing_is_sent_there() -> None:
    with answering(say(200)) as (elsewhere, asked_elsewhere), answering(say(307, location=elsewhere)) as (url, asked):
        response = send(url, authorization="Bearer t")
    assert (response.status, len(asked), asked_elsewhere) == (307, 1, [])


def test_a_stream_is_read_until_it_has_answered() -> None:
    reply = b'{"jsonrpc":"2.0","id":1,"result":{}}'

    def stream(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.end_headers()
        handler.wfile.write(b'data: {"jsonrpc":"2.0","method":"notifications/message"}\n\ndata: ' + reply + b"\n\n")
        handler.wfile.flush()
        gone.wait(20)  # The stream stays open: the client has to leave.

    gone = threading.Event()
    with answering(stream) as (url, _):
        response = send(url)
        gone.set()
    assert (response.status, response.message) == (200, reply)


def test_a_huge_body_is_cut() -> None:
    with answering(say(200, b"x" * 1_000_000)) as (url, _):
        assert len(send(url).body) == 64 * 1024


def test_a_cut_connection_and_silence_are_failures_and_no_exceptions() -> None:
    waiting = threading.Event()

    with answering(lambda handler: handler.connection.close()) as (url, _):
        assert send(url).failure
    with answering(lambda _: cast("None", waiting.wait(20))) as (url, _):
        assert send(url, timeout=0.05).failure == "no answer within 0.05 s"
        waiting.set()


@pytest.mark.parametrize(
    ("host", "place"),
    [
        ("localhost", "loopback"), ("LOCALHOST.", "loopback"), ("app.localhost", "loopback"), ("127.0.0.2", "loopback"),
        ("::1", "loopback"), ("[::1]", "loopback"), ("192.168.1.4", "private"), ("fd00::1", "private"),
        ("mcp", "private"), ("box.local", "private"), ("db.internal", "private"), ("8.8.8.8", "public"),
        ("mcp.example.com", "public"), ("localhost.example.com", "public"), ("127.0.0.1.example.com", "public"),
    ],
)  # fmt: skip
def test_a_place_is_told_by_the_name_alone(host: str, place: str) -> None:
    assert place_of(host) == place
