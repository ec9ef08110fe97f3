"""`toolvet proxy --listen ADDRESS -- COMMAND`: a server on pipes, offered over Streamable HTTP.

For the exchanges the bridge is one more server over HTTP (`Upstream`), so that policies, record and guard are the same.

Each legacy session has a process of its own, started by `initialize` and ended by DELETE: what a server keeps belongs
to one client, as on a pipe. The modern era has no sessions; its requests share one process under ids of the bridge, and
the process is started again when it ended. A server that knows one era only refuses the other itself, as clients
expect it. Streams cannot be resumed: there is no event store.
"""

import asyncio
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from toolvet.errors import UnreachableError
from toolvet.meta import PROTOCOL_VERSION_KEY
from toolvet.proxy.bridge.server import BridgedServer, Sharing
from toolvet.proxy.http.body import Body, complete_body
from toolvet.proxy.http.callers import SESSION_ID
from toolvet.proxy.http.front import Front
from toolvet.proxy.http.guard import Guard, read_listen
from toolvet.proxy.http.proxied_server import Address, ProxiedServer
from toolvet.proxy.http.serve import run_front
from toolvet.proxy.http.upstream import UpstreamError, UpstreamResponse
from toolvet.proxy.record.recorder import Recorder
from toolvet.schema.json_value import members
from toolvet.session import Policies
from toolvet.transport import StdioTarget
from toolvet.transport.introduction import request_meta
from toolvet.wire import DEFAULT_MESSAGE_BYTES, Noise, Request, encode_error, encode_request, parse
from toolvet.wire.header import request_headers
from toolvet.wire.http_head import Field, RequestHead, ResponseHead

_PATH: Final = b"/mcp"
_MOST_SESSIONS: Final = 64
_UNREADABLE: Final = frozenset({"empty", "not_utf8", "not_json", "too_deep"})
_REASONS: Final = {400: b"Bad Request", 404: b"Not Found", 409: b"Conflict", 503: b"Service Unavailable"}


def run_bridge(  # noqa: PLR0917 - what the other drivers take, in their order
    command: Sequence[str],
    env: Mapping[str, str] | None,
    cwd: str | None,
    listen: str,
    policies: Policies,
    recorder: Recorder,
    token: str | None = None,
    *,
    hosts: Iterable[str] = (),
    origins: Iterable[str] = (),
    ready: Callable[[str], None] | None = None,
) -> int:
    """Serve the command over HTTP until SIGINT or SIGTERM. Returns the exit code.

    Args:
        command: The server's program and its arguments.
        env: The server's environment; None passes our entire environment on.
        cwd: The server's folder; None for ours.
        listen: HOST:PORT to listen on.
        policies: What to do with each tool's calls.
        recorder: Gets what happened.
        token: The secret that clients must send; needed beyond the loopback.
        hosts: Further `Host` names to accept.
        origins: Further `Origin` pages to accept.
        ready: Called with the URL for clients once the proxy listens; by default it is written to stderr.

    Raises:
        UsageError: For an address or token that cannot be used.
    """
    where = read_listen(listen)
    guard = Guard(where, token, hosts=hosts, origins=origins)
    bridge = Bridge(command, env, cwd, policies.settings.max_message_bytes)
    front = Front(ProxiedServer(bridge, Address(_PATH, _PATH), policies, recorder), guard, recorder.render_metrics)
    return run_front(front, where, _PATH.decode(), ready)


class Bridge:
    """An `Upstream` of processes: Streamable HTTP on one side, pipes on the other."""

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None,
        cwd: str | None,
        max_message_bytes: int = DEFAULT_MESSAGE_BYTES,
    ) -> None:
        self.name = StdioTarget(command[0], tuple(command[1:])).describe()
        self._command = command
        # A pipe cannot carry a message in pieces, so that all of it has to be in memory.
        self._limit = max_message_bytes
        self._env = env
        self._cwd = cwd
        self._shared: BridgedServer | None = None
        self._starting = asyncio.Lock()
        # The longest idle first.
        self._sessions: dict[bytes, BridgedServer] = {}
        self._ending: set[asyncio.Task[None]] = set()

    async def send(self, head: RequestHead, body: Body) -> UpstreamResponse:
        """Answer a request: by the server, or here for what a pipe cannot know. Raises UpstreamError."""
        if head.target.partition(b"?")[0] != _PATH:
            return _text_response(404, b"Not Found", b"the MCP endpoint is at /mcp\n")
        match head.method:
            case b"POST":
                return await self._post(head, body)
            case b"GET":
                return self._listen(head)
            case b"DELETE":
                return self._delete(head)
            case _:
                return _text_response(405, b"Method Not Allowed", b"", (b"Allow", b"GET, POST, DELETE"))

    async def close(self) -> None:
        """End all processes."""
        servers = [*self._sessions.values(), *([self._shared] if self._shared is not None else [])]
        self._sessions.clear()
        await asyncio.gather(*(server.close() for server in servers), *self._ending)

    async def _post(self, head: RequestHead, body: Body) -> UpstreamResponse:
        kind = (head.get(b"content-type") or b"").partition(b";")[0].strip().lower()
        if kind != b"application/json":
            return _text_response(415, b"Unsupported Media Type", b"send application/json\n")
        data, is_complete = await body.take(self._limit)
        if not is_complete:
            return _text_response(413, b"Content Too Large", b"the message is too large for a pipe\n")
        message = parse(data)
        if isinstance(message, Noise):
            code = -32700 if message.kind in _UNREADABLE else -32600
            return _error_response(400, None, code, f"Not a message: {message.reason}")
        modern = head.get(b"mcp-method") is not None and head.get(SESSION_ID) is None
        if isinstance(message, Request) and (modern or _modern_version(message) is not None):
            return await self._ask_shared(head, message)
        return await self._session_message(head, message if isinstance(message, Request) else None, data)

    async def _ask_shared(self, head: RequestHead, request: Request) -> UpstreamResponse:
        version = _modern_version(request)
        if version is None:
            # A modern request whose body does not name its version: the server words the complaint.
            response = await (await self._shared_server()).ask(request)
            response.head.status, response.head.reason = 400, b"Bad Request"
            return response
        expected = request_headers(str(version), request.method, request.params)
        for name, value in expected.items():
            given = head.get(name.lower().encode())
            if given is None or given.strip() != value.encode():
                problem = "is missing" if given is None else "says something else"
                return _error_response(
                    400, request.id, -32020, f"The header {name} {problem}; the message says {value}"
                )
        return await (await self._shared_server()).ask(request)

    async def _session_message(self, head: RequestHead, request: Request | None, data: bytes) -> UpstreamResponse:
        session_id = head.get(SESSION_ID)
        if request is not None and request.method == "initialize" and session_id is None:
            return await self._open(request)
        if session_id is None:
            return _error_response(400, request.id if request else None, -32600, "The header Mcp-Session-Id is missing")
        server = self._known(session_id)
        if server is None:
            return _error_response(
                404, request.id if request else None, -32600, "There is no such session, or no longer"
            )
        if request is not None:
            return await server.ask(request)
        server.send(data)
        return _text_response(202, b"Accepted", b"")

    async def _open(self, request: Request) -> UpstreamResponse:
        if len(self._sessions) >= _MOST_SESSIONS and not self._evict():
            return _error_response(503, request.id, -32603, f"{_MOST_SESSIONS} sessions are busy; try again later")
        server = await self._start("one session")
        session_id = secrets.token_hex(16).encode()
        self._sessions[session_id] = server
        response = await server.ask(request)
        response.head.fields.append((b"Mcp-Session-Id", session_id))
        return response

    def _listen(self, head: RequestHead) -> UpstreamResponse:
        session_id = head.get(SESSION_ID)
        if session_id is None:
            return _text_response(405, b"Method Not Allowed", b"", (b"Allow", b"POST"))
        server = self._known(session_id)
        if server is None:
            return _error_response(404, None, -32600, "There is no such session, or no longer")
        return server.listen() or _error_response(409, None, -32600, "This session has a stream already")

    def _delete(self, head: RequestHead) -> UpstreamResponse:
        server = self._sessions.pop(head.get(SESSION_ID) or b"", None)
        if server is None:
            return _error_response(404, None, -32600, "There is no such session, or no longer")
        self._end(server)
        return _text_response(200, b"OK", b"")

    def _known(self, session_id: bytes) -> BridgedServer | None:
        server = self._sessions.pop(session_id, None)
        if server is None or server.over.is_set():
            if server is not None:
                self._end(server)
            return None
        self._sessions[session_id] = server
        return server

    def _evict(self) -> bool:
        """End the session that was idle for longest. Returns whether there was one."""
        for session_id, server in self._sessions.items():
            if not server.is_busy:
                del self._sessions[session_id]
                self._end(server)
                return True
        return False

    async def _shared_server(self) -> BridgedServer:
        async with self._starting:
            server = self._shared
            if server is None or server.over.is_set():
                if server is not None:
                    self._end(server)
                server = await self._start("all")
                # Servers of the SDK fix their era at the first request, and a client's may be malformed.
                opening = parse(encode_request("toolvet:opening", "server/discover", {"_meta": request_meta({})}))
                if isinstance(opening, Request):
                    await server.ask(opening)
                self._shared = server
            return server

    async def _start(self, sharing: Sharing) -> BridgedServer:
        try:
            server = BridgedServer(self._command, self._env, self._cwd, sharing, self._limit)
        except UnreachableError as error:
            raise UpstreamError(str(error), sent=False) from error
        await server.start()
        return server

    def _end(self, server: BridgedServer) -> None:
        task = asyncio.create_task(server.close())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)


def _modern_version(request: Request) -> object:
    return members(members(request.params).get("_meta")).get(PROTOCOL_VERSION_KEY)


def _text_response(status: int, reason: bytes, words: bytes, *more: Field) -> UpstreamResponse:
    fields = [*([(b"Content-Type", b"text/plain; charset=utf-8")] if words else []), *more]
    return UpstreamResponse(ResponseHead(status, reason, fields, len(words)), complete_body(words), lambda: None)


def _error_response(status: int, reply_to: "int | str | None", code: int, words: str) -> UpstreamResponse:
    error = encode_error(reply_to, code, words)
    head = ResponseHead(status, _REASONS[status], [(b"Content-Type", b"application/json")], len(error))
    return UpstreamResponse(head, complete_body(error), lambda: None)
