"""Streamable HTTP against the official SDK, and against a server that answers as a test scripts it."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal, TypeVar

import pytest

from toolvet.errors import AuthenticationError, UnreachableError
from toolvet.mcp.transport import (
    Answer,
    ConnectionLost,
    HttpTarget,
    Malformed,
    McpSession,
    Reply,
    RpcError,
    TimedOut,
    open_session,
)

Era = Literal["auto", "legacy", "modern"]
T = TypeVar("T")


@dataclass
class Asked:
    """One request: its method, path, headers (lower case) and body."""

    verb: str
    path: str
    headers: dict[str, str]
    body: Any

    @property
    def method(self) -> str:
        """The JSON-RPC method, "" if there is none."""
        return self.body.get("method", "") if isinstance(self.body, dict) else ""


@dataclass
class Say:
    """One response. `parts` are flushed one by one; `hold` keeps the stream open until the client leaves."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    parts: Iterable[bytes] = ()
    hold: bool = False


Script = Callable[[Asked], Say | None]

INTRODUCTION = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "odd", "version": "1"},
}


def says(asked: Asked, result: object) -> Say:
    """A JSON answer."""
    body = json.dumps({"jsonrpc": "2.0", "id": asked.body["id"], "result": result}).encode()
    return Say(body=body, headers={"content-type": "application/json"})


def events(*parts: bytes, hold: bool = False) -> Say:
    """A stream of events."""
    return Say(headers={"content-type": "text/event-stream"}, parts=parts, hold=hold)


def legacy(asked: Asked) -> Say:
    """The answers of an ordinary legacy server."""
    if asked.verb == "DELETE":
        return Say(204)
    if asked.method == "initialize":
        answer = says(asked, INTRODUCTION)
        answer.headers["mcp-session-id"] = "s1"
        return answer
    if "id" not in asked.body:
        return Say(202)
    if asked.method == "server/discover":
        error = {"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32600, "message": "Missing session ID"}}
        return Say(400, json.dumps(error).encode(), {"content-type": "application/json"})
    return says(asked, {"content": [], "heard": asked.body.get("params")})


@dataclass
class OddServer:
    """Where it listens, what it was asked, and whether a held stream was closed by the client."""

    url: str
    asked: list[Asked] = field(default_factory=list)
    left: threading.Event = field(default_factory=threading.Event)


@contextmanager
def odd_server(script: Script) -> Iterator[OddServer]:
    """Serve on a free port of loopback; what the script answers None to is answered as by a legacy server."""
    state = OddServer("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            raw = self.rfile.read(length)
            body = json.loads(raw) if raw else None
            headers = {name.lower(): value for name, value in self.headers.items()}
            asked = Asked(self.command, self.path, headers, body)
            state.asked.append(asked)
            self.write(script(asked) or legacy(asked))

        do_GET = do_POST = do_DELETE = answer  # noqa: N815 - the names http.server looks for.

        def write(self, say: Say) -> None:
            self.send_response(say.status)
            for name, value in say.headers.items():
                self.send_header(name, value)
            if say.parts or say.hold:
                self.send_header("connection", "close")
                self.end_headers()
                for part in say.parts:
                    self.wfile.write(part)
                    self.wfile.flush()
                if say.hold:
                    # Returns when the client closes its end.
                    self.rfile.read(1)
                    state.left.set()
                self.close_connection = True
                return
            self.send_header("content-length", str(len(say.body)))
            self.end_headers()
            self.wfile.write(say.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class.
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}/mcp"
    try:
        yield state
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def in_session(
    url: str, talk: Callable[[McpSession], Awaitable[T]], era: Era = "legacy", headers: dict[str, str] | None = None
) -> T:
    async def main() -> T:
        async with open_session(HttpTarget(url, headers), era=era, timeout=20, limit=4_000_000) as session:
            return await talk(session)

    return asyncio.run(main())


def why_not(url: str, headers: dict[str, str] | None = None) -> str:
    async def nothing(_session: McpSession) -> None:
        raise AssertionError

    with pytest.raises((UnreachableError, AuthenticationError)) as caught:
        in_session(url, nothing, "auto", headers)
    return str(caught.value)


def call(script: Script) -> tuple[Reply, OddServer]:
    """One tool call to a server that answers it by `script` and all else as an ordinary legacy server."""

    def only_calls(asked: Asked) -> Say | None:
        return script(asked) if asked.method == "tools/call" or asked.verb == "GET" else None

    async def talk(session: McpSession) -> Reply:
        return await session.call_tool("t", {}, timeout=5)

    with odd_server(only_calls) as server:
        return in_session(server.url, talk), server


def message(asked: Asked, result: object) -> bytes:
    return b"data: " + says(asked, result).body + b"\n\n"


@pytest.mark.parametrize(("era", "spoken"), [("auto", "modern"), ("modern", "modern"), ("legacy", "legacy")])
def test_an_sdk_server_is_spoken_to_in_both_eras(sdk_url: str, era: Era, spoken: str) -> None:
    async def talk(session: McpSession) -> None:
        assert (session.era, session.server_name, session.server_version) == (spoken, "sdk", "1")
        listing = await session.list_tools(timeout=20)
        assert (len(listing.tools), listing.pages, listing.problems) == (3, 2, ())
        # Modern: the SDK's server compares the mirrored headers with the body and answers 400 when they differ.
        for name, arguments in [
            ("headed", {"region": "Köln", "n": 1}),
            ("headed", {"region": " edge ", "n": 1}),
            ("größe", {}),
        ]:
            reply = await session.call_tool(name, arguments, timeout=20)
            assert isinstance(reply, Answer), reply
        unknown = await session.request("no/such", {}, timeout=20)
        assert isinstance(unknown, RpcError)
        assert unknown.code == -32601
        # Far over the 1 MiB at which the SDK's own client gives up.
        large = await session.call_tool("echo", {"large": 3_000_000}, timeout=20)
        assert isinstance(large, Answer)
        assert len(large.raw) > 3_000_000
        assert session.anomalies == ()

    in_session(sdk_url, talk, era)


def test_a_legacy_session_sends_id_and_version_and_says_goodbye() -> None:
    async def talk(session: McpSession) -> None:
        await session.call_tool("t", {}, timeout=5)

    with odd_server(lambda _: None) as server:
        in_session(server.url, talk, "auto", {"X-Key": "k"})
    assert [asked.method or asked.verb for asked in server.asked] == [
        "server/discover",
        "initialize",
        "notifications/initialized",
        "tools/call",
        "DELETE",
    ]
    assert all(asked.headers["x-key"] == "k" for asked in server.asked)
    for asked in server.asked[2:]:
        assert (asked.headers["mcp-session-id"], asked.headers["mcp-protocol-version"]) == ("s1", "2025-11-25")
    assert "mcp-session-id" not in server.asked[1].headers


def test_an_expired_session_is_opened_again_once() -> None:
    forgotten: list[Asked] = []

    def script(asked: Asked) -> Say | None:
        if asked.method == "tools/call" and not forgotten:
            forgotten.append(asked)
            return Say(404)
        return None

    async def talk(session: McpSession) -> None:
        assert isinstance(await session.call_tool("t", {}, timeout=5), Answer)
        assert [anomaly.kind for anomaly in session.anomalies] == ["session_expired"]

    with odd_server(script) as server:
        in_session(server.url, talk)
    methods = [asked.method for asked in server.asked]
    assert methods[2:-1] == ["tools/call", "initialize", "notifications/initialized", "tools/call"]


def test_calls_that_meet_the_end_of_a_session_together_open_one_new_session() -> None:
    """`s1` is forgotten, every other session works."""
    count: list[int] = []

    def script(asked: Asked) -> Say | None:
        if asked.method == "tools/call" and asked.headers["mcp-session-id"] == "s1":
            return Say(404)
        if asked.method == "initialize":
            count.append(1)
            answer = says(asked, INTRODUCTION)
            answer.headers["mcp-session-id"] = f"s{len(count)}"
            return answer
        return None

    async def talk(session: McpSession) -> None:
        replies = await asyncio.gather(*(session.call_tool("t", {}, timeout=5) for _ in range(5)))
        assert all(isinstance(reply, Answer) for reply in replies)

    with odd_server(script) as server:
        in_session(server.url, talk)
    assert len(count) == 2


def test_an_answer_in_a_stream_cut_at_every_byte_arrives_and_so_do_notifications() -> None:
    def script(asked: Asked) -> Say:
        note = b'event: message\r\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\r\n\r\n'
        whole = b": hello\n\n" + note + message(asked, "täst")
        return events(*(whole[index : index + 1] for index in range(len(whole))))

    reply, _ = call(script)
    assert isinstance(reply, Answer)
    assert reply.result == "täst"


def test_a_stream_that_ends_early_is_resumed_where_it_ended() -> None:
    asked_first: list[Asked] = []

    def script(asked: Asked) -> Say:
        if asked.verb == "GET":
            return events(message(asked_first[0], "the rest"))
        asked_first.append(asked)
        return events(b"id: e1\nretry: 1\ndata:\n\n")

    reply, server = call(script)
    assert isinstance(reply, Answer)
    assert reply.result == "the rest"
    resumed = next(asked for asked in server.asked if asked.verb == "GET")
    assert (resumed.headers["last-event-id"], resumed.headers["mcp-session-id"]) == ("e1", "s1")


@pytest.mark.parametrize(
    ("say", "reason", "status"),
    [
        (events(b": nothing\n\n"), "the response ended without an answer", None),
        (Say(202), "HTTP 202 Accepted with an empty body", 202),
        (Say(500, b"oops", {"content-type": "text/plain"}), "HTTP 500 Internal Server Error with text/plain", 500),
        (Say(200, b"<html>", {"content-type": "text/html"}), "HTTP 200 OK with text/html, not with JSON-RPC", 200),
        (Say(200, b"[]", {"content-type": "application/json"}), "a batch array", 200),
        (Say(200, b'{"jsonrpc":"2.0","id":77,"result":{}}', {"content-type": "application/json"}), "names id 77", 200),
        (Say(401, b"{}", {"www-authenticate": 'Bearer realm="shop"'}), "HTTP 401 Unauthorized", 401),
        (Say(200, b"x" * 5_000_000, {"content-type": "application/json"}), "over the limit of 4,000,000", 200),
        (events(b"data: " + b"x" * 5_000_000), "an event is over the limit of 4,000,000", None),
        (Say(307, headers={"location": "http://localhost:1/mcp"}), "it redirects to http://localhost:1/mcp", 307),
        (Say(302, headers={"location": "/login?token=s"}), "it redirects to /login?token=***", 302),
    ],
)
def test_a_response_that_is_not_an_answer_is_malformed(say: Say, reason: str, status: int | None) -> None:
    reply, _ = call(lambda _: say)
    assert isinstance(reply, Malformed), reply
    assert reason in reply.reason
    assert reply.status == status
    assert reply.challenge == say.headers.get("www-authenticate", "")


def test_a_json_rpc_error_with_an_http_status_is_a_refusal_that_has_both() -> None:
    body = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"no"}}'
    reply, _ = call(lambda _: Say(403, body, {"content-type": "application/json"}))
    assert isinstance(reply, RpcError)
    assert (reply.code, reply.status) == (-32001, 403)


def test_a_redirect_at_the_same_origin_is_followed_with_message_and_headers() -> None:
    def script(asked: Asked) -> Say | None:
        return Say(308, headers={"location": "/mcp/"}) if asked.path == "/mcp" and asked.verb == "POST" else None

    async def talk(session: McpSession) -> None:
        assert isinstance(await session.call_tool("t", {}, timeout=5), Answer)

    with odd_server(script) as server:
        in_session(server.url, talk, headers={"Authorization": "Bearer x"})
    assert all(asked.headers["authorization"] == "Bearer x" for asked in server.asked)


@pytest.mark.parametrize("session_id", ["caf\xe9", "a b", "\x7f"])
def test_a_session_id_that_no_header_should_carry_is_noted_and_not_sent_back(session_id: str) -> None:
    def script(asked: Asked) -> Say | None:
        if asked.method != "initialize":
            return None
        answer = says(asked, INTRODUCTION)
        answer.headers["mcp-session-id"] = session_id
        return answer

    async def talk(session: McpSession) -> None:
        assert isinstance(await session.call_tool("t", {}, timeout=5), Answer)
        assert [anomaly.kind for anomaly in session.anomalies] == ["bad_session_id"]

    with odd_server(script) as server:
        in_session(server.url, talk)
    assert not any("mcp-session-id" in asked.headers for asked in server.asked)


def test_redirects_in_a_circle_end() -> None:
    reply, _ = call(lambda _: Say(307, headers={"location": "/mcp"}))
    assert isinstance(reply, ConnectionLost)
    assert "more than 5 redirects" in reply.reason


def test_a_connection_that_breaks_in_the_answer_is_lost_and_the_next_call_works() -> None:
    def script(asked: Asked) -> Say | None:
        broken = {"content-type": "application/json", "content-length": "99"}
        if asked.method == "tools/call" and asked.body["params"]["name"] == "break":
            return Say(200, headers=broken, parts=[b'{"jsonrpc"'])
        return None

    async def talk(session: McpSession) -> None:
        assert isinstance(await session.call_tool("break", {}, timeout=5), ConnectionLost)
        assert session.peer.alive
        assert isinstance(await session.call_tool("t", {}, timeout=5), Answer)

    with odd_server(script) as server:
        in_session(server.url, talk)


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_timeout_closes_the_stream_and_in_the_legacy_era_says_so(era: Era) -> None:
    def script(asked: Asked) -> Say | None:
        if asked.method == "tools/call":
            return events(b": wait\n\n", hold=True)
        if asked.method == "server/discover":
            return says(asked, {"supportedVersions": ["2026-07-28"], "capabilities": {}})
        return None

    async def talk(session: McpSession) -> bool:
        assert isinstance(await session.call_tool("t", {}, timeout=0.2), TimedOut)
        return await asyncio.to_thread(server.left.wait, 20)

    with odd_server(script) as server:
        assert in_session(server.url, talk, era)
    cancelled = [asked for asked in server.asked if asked.method == "notifications/cancelled"]
    assert len(cancelled) == (1 if era == "legacy" else 0)


def test_a_request_of_the_server_in_a_stream_is_answered_with_a_post() -> None:
    def script(asked: Asked) -> Say:
        return events(b'data: {"jsonrpc":"2.0","id":"q","method":"ping"}\n\n', message(asked, "done"))

    reply, server = call(script)
    assert isinstance(reply, Answer)
    posted = [asked.body for asked in server.asked if asked.verb == "POST" and asked.body.get("id") == "q"]
    assert posted == [{"jsonrpc": "2.0", "id": "q", "result": {}}]


def test_a_refused_notification_is_noted() -> None:
    async def talk(session: McpSession) -> None:
        assert [(anomaly.kind, anomaly.evidence) for anomaly in session.anomalies] == [
            ("notification_refused", "HTTP 406: no thanks")
        ]

    def script(asked: Asked) -> Say | None:
        return Say(406, b"no thanks") if asked.method == "notifications/initialized" else None

    with odd_server(script) as server:
        in_session(server.url, talk)


@pytest.mark.parametrize(
    ("say", "sentence"),
    [
        (
            Say(401, headers={"www-authenticate": 'Bearer realm="shop"'}),
            'wants credentials: HTTP 401 (it asks for Bearer realm="shop"); pass them with --header "Authorization: ',
        ),
        (Say(403), "wants credentials: HTTP 403; pass them with --header"),
        (
            Say(200, b"<!doctype html>", {"content-type": "text/html"}),
            "not an MCP endpoint: HTTP 200 OK with text/html, not with JSON-RPC; many servers listen at the path /mcp",
        ),
        (Say(404), "not an MCP endpoint: HTTP 404 Not Found with an empty body; many servers listen at the path /mcp"),
        (
            Say(301, headers={"location": "https://u:p@elsewhere.example/mcp"}),
            "it redirects to https://***@elsewhere.example/mcp, where credentials must not follow; give that ",
        ),
    ],
)
def test_an_endpoint_that_is_not_a_server_is_named_with_its_answer(say: Say, sentence: str) -> None:
    with odd_server(lambda _: say) as server:
        reason = why_not(server.url)
    assert reason.startswith(server.url)
    assert sentence in reason


def test_refused_credentials_are_distinguished_from_missing_ones() -> None:
    with odd_server(lambda _: Say(401)) as server:
        reason = why_not(server.url, {"Authorization": "Bearer secret"})
    assert reason == (f"{server.url} does not accept these credentials: HTTP 401; check the Authorization header")


def test_an_address_that_does_not_answer_is_named_with_the_cause() -> None:
    assert why_not("http://127.0.0.1:1/mcp?api_key=s3cret") == (
        "nothing answers at http://127.0.0.1:1/mcp?api_key=***: the connection was refused; "
        "is the server running, at this address?"
    )
    assert "the host name is unknown" in why_not("http://no-such-host.invalid/mcp")
    with odd_server(lambda _: None) as server:
        assert "TLS failed" in why_not(server.url.replace("http:", "https:"))


def test_loopback_is_never_asked_of_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")

    async def talk(session: McpSession) -> None:
        assert isinstance(await session.call_tool("t", {}, timeout=5), Answer)

    with odd_server(lambda _: None) as server:
        in_session(server.url, talk)
