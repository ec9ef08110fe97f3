"""`toolvet proxy --listen ADDRESS -- COMMAND`: a server on pipes, offered over Streamable HTTP.

For the exchanges the bridge is one more server over HTTP (`Upstream`): policies, record and filter are the same.

Each legacy session has a process of its own, started by `initialize` and ended by DELETE: what a server keeps belongs
to one client, as on a pipe. The modern era has no sessions; its requests share one process under ids of the bridge, and
the process is started again when it ended. A server that knows one era only refuses the other itself, as clients
expect it.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import Final

from toolvet.errors import UnreachableError
from toolvet.mcp.transport import StdioTarget
from toolvet.mcp.wire import DEFAULT_MESSAGE_BYTES, Noise, Notification, Request, parse
from toolvet.proxy.bridge.headers import find_mismatch, is_complete, is_modern, names_modern_era
from toolvet.proxy.bridge.process import BridgedProcess, SpareProcesses
from toolvet.proxy.bridge.responses import error_response, text_response
from toolvet.proxy.bridge.session import BridgedSession
from toolvet.proxy.bridge.shared import SharedServer
from toolvet.proxy.http.callers import SESSION_ID
from toolvet.proxy.http.front import FrontEnd
from toolvet.proxy.http.message import RequestHead, take
from toolvet.proxy.http.proxied_server import Address, ProxiedServer
from toolvet.proxy.http.request_filter import RequestFilter, read_listen
from toolvet.proxy.http.serve import run_front_end
from toolvet.proxy.http.upstream import Sent, UpstreamError, UpstreamResponse
from toolvet.proxy.interception import Interception
from toolvet.proxy.record.recorder import Recorder
from toolvet.proxy.session import Policies

_PATH: Final = b"/mcp"
_MOST_SESSIONS: Final = 64
_UNREADABLE: Final = frozenset({"empty", "not_utf8", "not_json", "too_deep"})
_JSON: Final = frozenset({b"*/*", b"application/*", b"application/json"})
_EVENTS: Final = frozenset({b"*/*", b"text/*", b"text/event-stream"})
_ALLOW: Final = (b"Allow", b"GET, POST, DELETE")
_ALLOW_MODERN: Final = (b"Allow", b"POST")
_INVALID_REQUEST: Final = -32600


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
    interception: Interception | None = None,
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
        interception: The interceptors to ask.
        ready: Called with the URL for clients once the proxy listens; by default it is written to stderr.

    Raises:
        UsageError: For an address or token that cannot be used.
    """
    where = read_listen(listen)
    request_filter = RequestFilter(where, token, hosts=hosts, origins=origins)
    bridge = Bridge(command, env, cwd, policies.settings.max_message_bytes)
    front = FrontEnd(
        ProxiedServer(bridge, Address(_PATH, _PATH), policies, recorder, interception),
        request_filter,
        recorder.render_metrics,
    )
    return run_front_end(front, where, _PATH.decode(), ready)


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
        # A pipe cannot carry a message in pieces, so that all of it has to be in memory.
        self._limit = max_message_bytes
        self._processes = SpareProcesses(lambda: BridgedProcess(command, env, cwd, max_message_bytes))
        self._shared: SharedServer | None = None
        self._starting = asyncio.Lock()
        # The longest idle first.
        self._sessions: dict[bytes, BridgedSession] = {}

    async def send(self, head: RequestHead, body: Sent) -> UpstreamResponse:
        """Answer a request: by the server, or here for what a pipe cannot know. Raises UpstreamError."""
        if head.target.partition(b"?")[0] != _PATH:
            return text_response(404, b"the MCP endpoint is at /mcp\n")
        match head.method:
            case b"POST":
                return await self._post(head, body)
            case b"GET" | b"DELETE" if names_modern_era(head):
                return text_response(405, b"", _ALLOW_MODERN)
            case b"GET":
                if not _accepted(head) & _EVENTS:
                    return error_response(406, None, _INVALID_REQUEST, "The header Accept must list text/event-stream")
                session = self._known(head.get(SESSION_ID))
                return session if isinstance(session, UpstreamResponse) else session.listen(head.get(b"last-event-id"))
            case b"DELETE":
                session = self._known(head.get(SESSION_ID))
                if isinstance(session, UpstreamResponse):
                    return session
                self._end_session(head.get(SESSION_ID) or b"")
                return text_response(200)
            case _:
                return text_response(405, b"", _ALLOW)

    async def close(self, seconds: float) -> None:
        """End all processes; each has this many seconds to end by itself."""
        self._processes.patience = seconds
        for session_id in list(self._sessions):
            self._end_session(session_id)
        if self._shared is not None:
            self._processes.end(self._shared.process)
        await self._processes.close()

    # Messages.

    async def _post(self, head: RequestHead, body: Sent) -> UpstreamResponse:
        accepted = _accepted(head)
        if not accepted & _JSON or not accepted & _EVENTS:
            return error_response(
                406, None, _INVALID_REQUEST, "The header Accept must list application/json and text/event-stream"
            )
        kind = (head.get(b"content-type") or b"").partition(b";")[0].strip().lower()
        if kind != b"application/json":
            return text_response(415, b"send application/json\n")
        data, is_whole = (body, len(body) <= self._limit) if isinstance(body, bytes) else await take(body, self._limit)
        if not is_whole:
            return text_response(413, b"the message is too large for a pipe\n")
        message = parse(data)
        if isinstance(message, Noise):
            code = -32700 if message.kind in _UNREADABLE else _INVALID_REQUEST
            return error_response(400, None, code, f"Not a message: {message.reason}")
        if isinstance(message, Request) and is_modern(head, message):
            return await self._ask_shared(head, message)
        if not isinstance(message, Request) and names_modern_era(head):
            # That era has no answers of clients, and cancels by closing the stream: a notification changes nothing.
            if isinstance(message, Notification):
                return text_response(202)
            return error_response(400, None, _INVALID_REQUEST, "Only requests and notifications can be sent")
        return await self._session_message(head, message if isinstance(message, Request) else None, data)

    async def _ask_shared(self, head: RequestHead, request: Request) -> UpstreamResponse:
        if request.method == "initialize":
            return error_response(404, request.id, -32601, "This revision of MCP has no method initialize")
        # Not left to the server: some take the first request without its `_meta` for the other era, and keep to that.
        if not is_complete(request):
            return error_response(
                400, request.id, -32602, "params._meta must have a protocolVersion and clientCapabilities"
            )
        problem = find_mismatch(head, request)
        if problem is not None:
            return error_response(400, request.id, -32020, problem)
        return await (await self._shared_server()).ask(head, request)

    async def _session_message(self, head: RequestHead, request: Request | None, data: bytes) -> UpstreamResponse:
        session_id = head.get(SESSION_ID)
        if request is not None and request.method == "initialize" and session_id is None:
            return await self._open(request)
        session = self._known(session_id)
        if isinstance(session, UpstreamResponse):
            return session
        if request is not None:
            return session.ask(request)
        session.tell(data)
        return text_response(202)

    # Sessions.

    async def _open(self, request: Request) -> UpstreamResponse:
        if len(self._sessions) >= _MOST_SESSIONS and not self._evict():
            return error_response(503, request.id, -32603, f"{_MOST_SESSIONS} sessions are busy; try again later")
        session = BridgedSession(await _reachable(self._processes.take()))
        session_id = secrets.token_hex(16).encode()
        self._sessions[session_id] = session
        try:
            response = await session.initialize(request)
        finally:
            if not session.version:
                # The server refused, or the client went away: the session has no user.
                self._end_session(session_id)
        if session.version:
            response.head.fields.append((b"Mcp-Session-Id", session_id))
        return response

    def _known(self, session_id: bytes | None) -> BridgedSession | UpstreamResponse:
        if session_id is None:
            return error_response(400, None, _INVALID_REQUEST, "The header Mcp-Session-Id is missing")
        session = self._sessions.get(session_id)
        if session is not None and session.is_over:
            self._end_session(session_id)
            session = None
        if session is None:
            return error_response(404, None, _INVALID_REQUEST, "There is no such session, or no longer")
        self._sessions[session_id] = self._sessions.pop(session_id)
        return session

    def _evict(self) -> bool:
        for session_id, session in self._sessions.items():
            if not session.is_busy:
                self._end_session(session_id)
                return True
        return False

    def _end_session(self, session_id: bytes) -> None:
        session = self._sessions.pop(session_id, None)
        if session is not None:
            session.end()
            self._processes.end(session.process)

    # Processes.

    async def _shared_server(self) -> SharedServer:
        async with self._starting:
            server = self._shared
            if server is None or server.is_over:
                if server is not None:
                    self._processes.end(server.process)
                server = self._shared = SharedServer(await _reachable(self._processes.start()))
                await server.open()
            return server


async def _reachable(starting: Awaitable[BridgedProcess]) -> BridgedProcess:
    try:
        return await starting
    except UnreachableError as error:
        raise UpstreamError(str(error), sent=False) from error


def _accepted(head: RequestHead) -> set[bytes]:
    listed = b",".join(head.values(b"accept") or [b"*/*"]).split(b",")
    return {kind.partition(b";")[0].strip().lower() for kind in listed}
