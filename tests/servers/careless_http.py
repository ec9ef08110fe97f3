"""A hand-written server over Streamable HTTP, in a thread: correct in all that the probes look at, but for its faults.

    with careless_http({"any-origin"}) as server:
        assess(HttpTarget(server.url))          # server.asked holds every request

It speaks 2025-11-25 with sessions, and with `modern=True` 2026-07-28 as well. With `token` it wants that.
"""

import json
import threading
from collections.abc import Iterator, Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import count
from typing import Any
from uuid import uuid4

LEGACY = ("2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
SERVER = {"name": "careless", "version": "1"}
TOOL = {"name": "list_days", "description": "List the days of the week.", "inputSchema": {"type": "object"}}
TRACE = 'Traceback (most recent call last):\n  File "/srv/app/server.py", line 41, in handle\nValueError: no JSON'
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"


@dataclass
class HttpRequest:
    """One request as it came."""

    verb: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class CarelessServer:
    """Its address, its fault, and every request it received."""

    port: int
    faults: AbstractSet[str]
    modern: bool = False
    token: str = ""
    asked: list[HttpRequest] = field(default_factory=list)
    sessions: set[str] = field(default_factory=set)
    numbers: Iterator[int] = field(default_factory=lambda: count(1041))
    over: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        """The MCP endpoint."""
        return f"http://127.0.0.1:{self.port}/mcp"

    def new_session(self) -> str:
        """The id of a new session."""
        if "counted-ids" in self.faults:
            session = f"session-{next(self.numbers):08d}"
        else:
            session = f"s\u00e9ance-{uuid4().hex}" if "illegal-ids" in self.faults else uuid4().hex
        self.sessions.add(session)
        return session


@dataclass
class HttpRefusalError(Exception):
    """The request is answered with this."""

    status: int
    code: int | None = None
    words: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    data: Any = None


@contextmanager
def careless_http(
    faults: AbstractSet[str] = frozenset(), *, modern: bool = False, token: str = ""
) -> Iterator[CarelessServer]:
    """Serve on a free port of loopback."""
    ThreadingHTTPServer.request_queue_size = 64  # mcpscore and others ask many things at once.
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.daemon_threads = True
        http.state = CarelessServer(http.server_address[1], faults, modern, token)  # type: ignore[attr-defined]
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield http.state  # type: ignore[attr-defined]
        finally:
            http.state.over.set()  # type: ignore[attr-defined]
            http.shutdown()
            thread.join()


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def handle_one(self) -> None:
        """Take any request, and write the response."""
        self.state: CarelessServer = self.server.state  # type: ignore[attr-defined]
        self.faults = self.state.faults
        self.fields = {name.lower(): value for name, value in self.headers.items()}
        body = self.rfile.read(int(self.fields.get("content-length", 0)))
        self.state.asked.append(HttpRequest(self.command, self.path, self.fields, body))
        try:
            self.guard()
            getattr(self, f"take_{self.command.lower()}")(body)
        except HttpRefusalError as refusal:
            error = {"code": refusal.code, "message": refusal.words, "data": refusal.data}
            message = {"jsonrpc": "2.0", "id": None, "error": error} if refusal.code is not None else None
            self.write(refusal.status, message, refusal.headers, text=refusal.words)

    do_GET = do_POST = do_DELETE = do_OPTIONS = handle_one  # noqa: N815 - the names http.server looks for.

    def guard(self) -> None:
        """Host, Origin and credentials."""
        origin, own = self.fields.get("origin"), f"127.0.0.1:{self.state.port}"
        if "any-host" not in self.faults and self.fields.get("host") != own:
            raise HttpRefusalError(421)
        allowed = set() if "no-own-origin" in self.faults else {f"http://{own}"}
        if "null-origin" in self.faults:
            allowed.add("null")
        if origin is not None and "any-origin" not in self.faults and origin not in allowed:
            raise HttpRefusalError(403)
        allowed_token = {f"Bearer {self.state.token}"}
        if "any-token" in self.faults:
            allowed_token.add("Bearer toolvet-no-such-token")
        if (
            self.state.token
            and not self.path.startswith("/.well-known/")
            and self.fields.get("authorization") not in allowed_token
        ):
            challenge = {} if "no-challenge" in self.faults else {"www-authenticate": 'Bearer resource_metadata="x"'}
            raise HttpRefusalError(401, headers=challenge)

    def take_options(self, _body: bytes) -> None:
        """A preflight."""
        raise HttpRefusalError(405)

    def take_get(self, _body: bytes) -> None:
        """No stream is offered. A server card is public, and of an older version."""
        if "old-card" in self.faults and self.path == "/.well-known/mcp/server-card.json":
            card = {
                "name": "example.careless/mcp",
                "version": "0.0.1",
                "remotes": [{"url": f"http://{self.fields['host']}/mcp"}],
            }
            self.write(200, None, {"content-type": "application/json"}, text=json.dumps(card))
            return
        if "get-page" in self.faults:
            self.write(200, None, {"content-type": "text/html"}, text="<h1>Hello</h1>")
            return
        raise HttpRefusalError(405)

    def take_delete(self, _body: bytes) -> None:
        """End the session."""
        if "no-delete" in self.faults:
            raise HttpRefusalError(404)
        if "endless-sessions" not in self.faults:
            self.state.sessions.discard(self.fields.get("mcp-session-id", ""))
        self.write(204, None, {})

    def take_post(self, body: bytes) -> None:
        """A message."""
        if "any-type" not in self.faults and self.fields.get("content-type") != "application/json":
            raise HttpRefusalError(415)
        try:
            message = json.loads(body)
        except (ValueError, RecursionError):
            self.take_broken()
            return
        if isinstance(message, list):
            if "batches" not in self.faults:
                raise HttpRefusalError(400, -32600, "A batch")
            message = message[0]
        if "method" not in message:
            if "deaf" in self.faults:
                self.take_broken()
            if "accept-foreign" not in self.faults:
                raise HttpRefusalError(400, -32600, "Invalid Request")
            self.write(202, None, {})
            return
        if isinstance(message.get("params", {}), list):
            raise HttpRefusalError(400, -32602, "Invalid params")
        meta = message.get("params", {}).get("_meta", {})
        if self.state.modern and VERSION_KEY in meta:
            if len(meta) < 2 and "bare-metadata" not in self.faults:
                raise HttpRefusalError(400, -32602, "_meta is not complete")
            self.answer_modern(message, meta[VERSION_KEY])
        else:
            self.answer_legacy(message)

    def take_broken(self) -> None:
        """A body that is not JSON."""
        if "crash" in self.faults:
            self.write(500, None, {"content-type": "text/plain"}, text="Internal Server Error")
        elif "trace" in self.faults:
            self.write(400, None, {"content-type": "text/plain"}, text=TRACE)
        elif "accept-all" in self.faults:
            self.write(202, None, {})
        elif "deaf" in self.faults:
            self.state.over.wait(30)
            self.close_connection = True
        elif "cut" in self.faults:
            self.close_connection = True
        else:
            raise HttpRefusalError(400, -32700, "Parse error")

    def answer_modern(self, message: dict[str, Any], version: str) -> None:
        """2026-07-28: headers mirror the body."""
        asked = (self.fields.get("mcp-protocol-version"), self.fields.get("mcp-method"))
        if "unmirrored" not in self.faults and asked != (version, message["method"]):
            raise HttpRefusalError(400, -32020, "Header mismatch")
        if version != MODERN:
            code = -32600 if "plain-version-error" in self.faults else -32022
            raise HttpRefusalError(400, code, "Unsupported protocol version", data={"supported": [MODERN]})
        result: dict[str, Any] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        match message["method"]:
            case "server/discover":
                result |= {"supportedVersions": [MODERN], "capabilities": {"tools": {}}}
            case "tools/list":
                result |= {"tools": [TOOL]}
            case "tools/call":
                result = {"resultType": "complete", **self.call(message)}
            case _:
                raise HttpRefusalError(200 if "unknown-under-200" in self.faults else 404, -32601, "Method not found")
        self.write(200, {"jsonrpc": "2.0", "id": message["id"], "result": result}, {})

    def answer_legacy(self, message: dict[str, Any]) -> None:
        """2025-11-25: a session with a header for its revision."""
        method = message["method"]
        if method == "initialize":
            if "one-session" in self.faults and self.state.sessions:
                raise HttpRefusalError(400, -32600, "Server already initialized")
            info = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": SERVER}
            session = {"mcp-session-id": self.state.new_session()}
            self.write(200, {"jsonrpc": "2.0", "id": message["id"], "result": info}, session)
            return
        self.check_session()
        if "id" not in message:
            status = 200 if "notified-with-200" in self.faults else 202
            self.write(status, None, {})
            return
        match method:
            case "ping":
                result: dict[str, Any] = {}
            case "tools/list":
                result = {"tools": [TOOL]}
            case "tools/call":
                result = self.call(message)
            case _:
                raise HttpRefusalError(200, -32601, "Method not found")
        self.write(200, {"jsonrpc": "2.0", "id": message["id"], "result": result}, {})

    def check_session(self) -> None:
        """The session id and the header of the revision."""
        session, version = self.fields.get("mcp-session-id"), self.fields.get("mcp-protocol-version")
        if session is None and not {"illegal-ids", "any-token"} & self.faults:
            raise HttpRefusalError(400, -32600, "No session id")
        if session is not None and session not in self.state.sessions and "any-session" not in self.faults:
            raise HttpRefusalError(400 if "session-400" in self.faults else 404, -32600, "Unknown session")
        if version is None and "version-demanded" in self.faults:
            raise HttpRefusalError(400, -32600, "No version")
        if version is not None and version not in LEGACY and "any-version" not in self.faults:
            raise HttpRefusalError(400, -32600, "Unsupported version")

    def call(self, message: dict[str, Any]) -> dict[str, Any]:
        """The one tool."""
        if message["params"]["name"] != TOOL["name"]:
            raise HttpRefusalError(200, -32602, "Unknown tool")
        return {"content": [{"type": "text", "text": '{"days": ["Monday", "Tuesday"]}'}]}

    def write(self, status: int, message: object, headers: dict[str, str], *, text: str = "") -> None:
        """The response."""
        body = json.dumps(message).encode() if message is not None else text.encode()
        kind = {"content-type": "application/json"} if message is not None else {}
        cors: dict[str, str] = {}
        if "cors" in self.faults and "origin" in self.fields:
            origin = self.fields["origin"]
            cors = {"access-control-allow-origin": origin, "access-control-allow-credentials": "true"}
        self.send_response(status)
        for name, value in {**kind, **cors, **headers, "content-length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
