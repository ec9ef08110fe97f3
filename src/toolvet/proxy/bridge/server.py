"""One server on pipes, as a bridge sees it: requests in, each with a stream for its answer; the rest to who listens.

What the server says between request and answer has no address on a pipe, except progress and subscriptions. In a
process of one session it goes to the request that came last, else to the session's own stream, else it waits for one.
In a process that all share it goes to the one request under way, or to nobody: no client may hear what another is told.
"""

import asyncio
import os
import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from toolvet.proxy.bridge.ids import number_of, renamed, renumbered, restored
from toolvet.proxy.http.body import Body
from toolvet.proxy.http.upstream import UpstreamError, UpstreamResponse
from toolvet.proxy.stdio.process import ServerProcess
from toolvet.proxy.stdio.relay import Lines
from toolvet.schema.json_value import members
from toolvet.wire import ErrorReply, Id, Noise, Notification, Request, Result, encode_error, encode_notification, parse
from toolvet.wire.http_head import ResponseHead
from toolvet.wire.sse_blocks import event_of

if TYPE_CHECKING:
    import msgspec

Sharing: TypeAlias = Literal["one session", "all"]

_EVENTS: Final = (b"Content-Type", b"text/event-stream")
_JSON: Final = (b"Content-Type", b"application/json")
_UNCACHED: Final = (b"Cache-Control", b"no-cache")
_MOST_BACKLOG: Final = 1000
_EOF_SECONDS: Final = 2.0
_SIGNAL_SECONDS: Final = 2.0
# How HTTP says what a JSON-RPC error says, in the modern era (MCP 2026-07-28, transports).
_STATUS: Final[Mapping[int, tuple[int, bytes]]] = {
    -32601: (404, b"Not Found"),
    -32020: (400, b"Bad Request"),
    -32021: (400, b"Bad Request"),
    -32022: (400, b"Bad Request"),
}


class Waiting:
    """A request under way. `response` comes with the first that is heard: JSON when it is the answer, else events."""

    def __init__(self, request: Request, forget: Callable[[], None]) -> None:
        self.id = request.id
        self._request = request
        # As the client wrote it, where it was replaced.
        self.token: msgspec.Raw | None = None
        self.response: asyncio.Future[UpstreamResponse] = asyncio.get_running_loop().create_future()
        self._body: Body | None = None
        self._forget = forget

    @property
    def progress_token(self) -> object:
        """By what name the client wants to hear of progress; None for not at all."""
        return members(members(self._request.params).get("_meta")).get("progressToken")

    def hear(self, message: bytes) -> None:
        """Something that comes before the answer."""
        if self._body is None:
            self._body = Body()
            self._begin(ResponseHead(200, b"OK", [_EVENTS, _UNCACHED]), self._body)
        self._body.feed(event_of(message))

    def answer(self, message: bytes, status: tuple[int, bytes]) -> None:
        """The answer."""
        if self._body is not None:
            self._body.feed(event_of(message))
            self._body.finish()
            return
        body = Body()
        body.feed(message)
        body.finish()
        self._begin(ResponseHead(*status, [_JSON], len(message)), body)

    def _begin(self, head: ResponseHead, body: Body) -> None:
        if not self.response.done():
            self.response.set_result(UpstreamResponse(head, body, self._forget))


class BridgedServer(asyncio.Protocol):
    """A process and who waits for it. `over` is set once it ended. Raises UnreachableError if it cannot be started."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str] | None, cwd: str | None, sharing: Sharing
    ) -> None:
        self._process = ServerProcess(command, env, cwd)
        self._sharing = sharing
        self._lines = Lines()
        self._waiting: dict[Id, Waiting] = {}
        self._stream: Body | None = None
        self._backlog: deque[bytes] = deque(maxlen=_MOST_BACKLOG)
        self._numbers = 0
        self._writing: asyncio.WriteTransport | None = None
        self._reading: asyncio.ReadTransport | None = None
        self.over = asyncio.Event()

    async def start(self) -> None:
        """Connect to its pipes."""
        loop = asyncio.get_running_loop()
        # The transports close what they get, and so does the process.
        written, read = os.dup(self._process.stdin.fd), os.dup(self._process.stdout)
        self._process.stdin.close()
        self._writing, _ = await loop.connect_write_pipe(_Ignoring, os.fdopen(written, "wb", 0))
        self._reading, _ = await loop.connect_read_pipe(lambda: self, os.fdopen(read, "rb", 0))

    @property
    def is_busy(self) -> bool:
        """Whether somebody waits for an answer, or listens."""
        return bool(self._waiting) or self._stream is not None

    async def ask(self, request: Request) -> UpstreamResponse:
        """Send a request. Raises UpstreamError when the server ends before it says anything."""
        if self.over.is_set():
            raise UpstreamError("the server ended", sent=False)
        if self._sharing == "all":
            self._numbers += 1
            key: Id = self._numbers
            line, token = renumbered(request, self._numbers)
        else:
            key, line, token = request.id, request.raw, None
            if key in self._waiting:
                told = encode_error(request.id, -32600, "this id is in use: its request is not answered yet")
                body = Body()
                body.feed(told)
                body.finish()
                return UpstreamResponse(ResponseHead(400, b"Bad Request", [_JSON], len(told)), body, lambda: None)
        waiting = Waiting(request, lambda: self._forget(key))
        waiting.token = token
        self._waiting[key] = waiting
        self.tell(line)
        try:
            return await waiting.response
        except asyncio.CancelledError:
            self._forget(key)
            raise

    def tell(self, message: bytes) -> None:
        """Send what wants no answer. A message is one line, however the client wrote it."""
        if self._writing is not None and not self._writing.is_closing():
            # JSON has no line feed but between its tokens.
            line = message.replace(b"\n", b" ").replace(b"\r", b" ") if b"\n" in message else message
            self._writing.write(line + b"\n")

    def listen(self) -> UpstreamResponse | None:
        """A stream for what nobody asked for; None when somebody listens already."""
        if self._stream is not None:
            return None
        stream = self._stream = Body()
        # A comment, so that the head goes out at once.
        stream.feed(b": listening\n\n")
        while self._backlog:
            stream.feed(event_of(self._backlog.popleft()))
        return UpstreamResponse(ResponseHead(200, b"OK", [_EVENTS, _UNCACHED]), stream, self._unlisten)

    async def close(self) -> None:
        """End it: by the end of its stdin, then by signals."""
        if self._writing is not None:
            self._writing.close()
        for seconds, number in ((_EOF_SECONDS, signal.SIGTERM), (_SIGNAL_SECONDS, signal.SIGKILL)):
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self.over.wait()
                break
            self._process.send_signal(number)
        if self._reading is not None:
            self._reading.close()
        # It leads a group of its own: nothing that it started is left.
        self._process.send_signal(signal.SIGKILL)
        # It was killed, and nothing else tells when that is done.
        while self._process.exit_code is None:  # noqa: ASYNC110 - as said
            await asyncio.sleep(0.01)
        self._process.close()

    # asyncio.Protocol, for its stdout

    def data_received(self, data: bytes) -> None:
        """What the server writes."""
        for line in self._lines.feed(data):
            if line.strip():
                self._heard(line.removesuffix(b"\r"))

    def connection_lost(self, exc: Exception | None) -> None:
        """It ended."""
        del exc
        self.over.set()
        for waiting in list(self._waiting.values()):
            told = encode_error(waiting.id, -32603, "The MCP server ended before it answered.")
            waiting.answer(told, (502, b"Bad Gateway"))
        self._waiting.clear()
        if self._stream is not None:
            self._stream.finish()
            self._stream = None

    def _heard(self, line: bytes) -> None:
        message = parse(line)
        if isinstance(message, Result | ErrorReply):
            waiting = self._waiting.pop(message.id, None) if message.id is not None else None
            if waiting is not None:
                shared = self._sharing == "all"
                code = message.code if shared and isinstance(message, ErrorReply) else 0
                waiting.answer(restored(line, waiting.id) if shared else line, _STATUS.get(code, (200, b"OK")))
            return
        if isinstance(message, Noise) and message.reply_to in self._waiting:
            # An answer that nobody here can read, for one because it is nested too deeply: whoever asked waits for it.
            waiting = self._waiting.pop(message.reply_to)
            if self._sharing == "all":
                told = encode_error(waiting.id, -32603, f"The MCP server's answer cannot be read: {message.reason}.")
                waiting.answer(told, (502, b"Bad Gateway"))
            else:
                waiting.answer(line, (200, b"OK"))
            return
        if self._sharing == "all":
            self._heard_shared(line, message)
        elif self._waiting:
            self._addressee(message).hear(line)
        elif self._stream is not None:
            self._stream.feed(event_of(line))
        else:
            self._backlog.append(line)

    def _addressee(self, message: object) -> Waiting:
        """The request whose progress this is, else the last one."""
        if isinstance(message, Notification) and message.method == "notifications/progress":
            token = members(message.params).get("progressToken")
            for waiting in self._waiting.values():
                if token is not None and waiting.progress_token == token:
                    return waiting
        return next(reversed(self._waiting.values()))

    def _heard_shared(self, line: bytes, message: object) -> None:
        number = number_of(message) if isinstance(message, Notification) else None
        waiting = self._waiting.get(number) if number is not None else None
        if waiting is not None:
            waiting.hear(renamed(line, waiting.id, waiting.token))
        elif number is None and len(self._waiting) == 1:
            next(iter(self._waiting.values())).hear(line)

    def _forget(self, key: Id) -> None:
        """Nobody reads the answer any more. In the modern era that cancels the request."""
        waiting = self._waiting.pop(key, None)
        if waiting is not None and self._sharing == "all":
            self.tell(encode_notification("notifications/cancelled", {"requestId": key}))

    def _unlisten(self) -> None:
        self._stream = None


class _Ignoring(asyncio.BaseProtocol):
    pass
