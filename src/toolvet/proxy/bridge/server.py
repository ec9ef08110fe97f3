"""One server on pipes as the bridge uses it: requests in, for each a response that may be a stream of events.

Messages that the server sends between request and answer have no address on a pipe, except progress and subscriptions.
In a process of one session they go to the latest open request, else to the session's own stream, else they are kept for
one. In a process that all clients share they go to the only open request or are dropped: a client must not receive
messages for another.
"""

import asyncio
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from toolvet.proxy.bridge.ids import number_of, renumber_request, restore_answer, restore_notification
from toolvet.proxy.http.body import Body, complete_body
from toolvet.proxy.http.upstream import UpstreamError, UpstreamResponse
from toolvet.proxy.stdio.process import ServerProcess
from toolvet.schema.json_value import members
from toolvet.wire import (
    ErrorReply,
    Id,
    LineFramer,
    Noise,
    Notification,
    Oversize,
    Request,
    Result,
    encode_error,
    encode_notification,
    parse,
    reply_hint,
)
from toolvet.wire.http_head import ResponseHead
from toolvet.wire.sse import encode_event

if TYPE_CHECKING:
    import msgspec

Sharing: TypeAlias = Literal["one session", "all"]

_EVENTS: Final = (b"Content-Type", b"text/event-stream")
_JSON: Final = (b"Content-Type", b"application/json")
_UNCACHED: Final = (b"Cache-Control", b"no-cache")
_MOST_BACKLOG: Final = 1000
_EOF_SECONDS: Final = 2.0
_SIGNAL_SECONDS: Final = 2.0
# The HTTP status for a JSON-RPC error code in the modern era (MCP 2026-07-28, transports).
_STATUS: Final[Mapping[int, tuple[int, bytes]]] = {
    -32601: (404, b"Not Found"),
    -32020: (400, b"Bad Request"),
    -32021: (400, b"Bad Request"),
    -32022: (400, b"Bad Request"),
}


class BridgedRequest:
    """A request that the server has not answered yet.

    `response` is set with the server's first message: JSON when that is the answer, else a stream of events.
    """

    def __init__(self, request: Request, forget: Callable[[], None]) -> None:
        self.id = request.id
        self._request = request
        # The progress token as the client wrote it, where it was replaced.
        self.token: msgspec.Raw | None = None
        self.response: asyncio.Future[UpstreamResponse] = asyncio.get_running_loop().create_future()
        self._body: Body | None = None
        self._forget = forget

    @property
    def progress_token(self) -> object:
        """The token under which the client wants progress notifications; None when it wants none."""
        return members(members(self._request.params).get("_meta")).get("progressToken")

    def pass_on(self, message: bytes) -> None:
        """Pass on a message that comes before the answer."""
        if self._body is None:
            self._body = Body()
            self._begin(ResponseHead(200, b"OK", [_EVENTS, _UNCACHED]), self._body)
        self._body.feed(encode_event(message))

    def answer(self, message: bytes, status: tuple[int, bytes]) -> None:
        """Pass on the answer; `status` is for an answer without events before it."""
        if self._body is not None:
            self._body.feed(encode_event(message))
            self._body.finish()
            return
        self._begin(ResponseHead(*status, [_JSON], len(message)), complete_body(message))

    def _begin(self, head: ResponseHead, body: Body) -> None:
        if not self.response.done():
            # A server on pipes has no statuses: a 502 is an error that we made in its place.
            self.response.set_result(UpstreamResponse(head, body, self._forget, is_ours=head.status == 502))


class BridgedServer(asyncio.Protocol):
    """A process and its open requests. `over` is set once it ended. Raises UnreachableError if it cannot be started."""

    def __init__(
        self, command: Sequence[str], env: Mapping[str, str] | None, cwd: str | None, sharing: Sharing, limit: int
    ) -> None:
        self._process = ServerProcess(command, env, cwd)
        self._sharing = sharing
        self._framer = LineFramer(limit)
        # Whether the unfinished line, which is too long, was reported already.
        self._is_told = False
        self._has_complained = False
        self._open: dict[Id, BridgedRequest] = {}
        self._stream: Body | None = None
        self._backlog: deque[bytes] = deque(maxlen=_MOST_BACKLOG)
        self._numbers = 0
        self._writing: asyncio.WriteTransport | None = None
        self._reading: asyncio.ReadTransport | None = None
        self.over = asyncio.Event()

    async def start(self) -> None:
        """Connect to the pipes of the process."""
        loop = asyncio.get_running_loop()
        # Both the transports and the process close their descriptors, so each gets its own.
        written, read = os.dup(self._process.stdin.fd), os.dup(self._process.stdout)
        self._process.stdin.close()
        self._writing, _ = await loop.connect_write_pipe(_IgnoringProtocol, os.fdopen(written, "wb", 0))
        self._reading, _ = await loop.connect_read_pipe(lambda: self, os.fdopen(read, "rb", 0))

    @property
    def is_busy(self) -> bool:
        """Whether a request is open or a client listens."""
        return bool(self._open) or self._stream is not None

    async def ask(self, request: Request) -> UpstreamResponse:
        """Send a request and return its response. Raises UpstreamError when the server has ended."""
        if self.over.is_set():
            raise UpstreamError("the server ended", sent=False)
        if self._sharing == "all":
            self._numbers += 1
            key: Id = self._numbers
            line, token = renumber_request(request, self._numbers)
        else:
            key, line, token = request.id, request.raw, None
            if key in self._open:
                error = encode_error(request.id, -32600, "this id is in use: its request is not answered yet")
                head = ResponseHead(400, b"Bad Request", [_JSON], len(error))
                return UpstreamResponse(head, complete_body(error), lambda: None)
        bridged = BridgedRequest(request, lambda: self._forget(key))
        bridged.token = token
        self._open[key] = bridged
        self.send(line)
        try:
            return await bridged.response
        except asyncio.CancelledError:
            self._forget(key)
            raise

    def send(self, message: bytes) -> None:
        """Send a message that needs no answer, as one line, however the client wrote it."""
        if self._writing is not None and not self._writing.is_closing():
            # JSON has line feeds only between its tokens.
            line = message.replace(b"\n", b" ").replace(b"\r", b" ") if b"\n" in message else message
            self._writing.write(line + b"\n")

    def listen(self) -> UpstreamResponse | None:
        """Return a stream for messages without a request; None when the session has such a stream already."""
        if self._stream is not None:
            return None
        stream = self._stream = Body()
        # A comment, so that the head goes out at once.
        stream.feed(b": listening\n\n")
        while self._backlog:
            stream.feed(encode_event(self._backlog.popleft()))
        return UpstreamResponse(ResponseHead(200, b"OK", [_EVENTS, _UNCACHED]), stream, self._unlisten)

    async def close(self) -> None:
        """End the process: by the end of its stdin, then by signals."""
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
        # The process leads a group of its own: all that it started is killed, too.
        self._process.send_signal(signal.SIGKILL)
        # It was killed, and nothing else reports when that is done.
        while self._process.exit_code is None:  # noqa: ASYNC110 - as above
            await asyncio.sleep(0.01)
        self._process.close()

    # asyncio.Protocol, for its stdout

    def data_received(self, data: bytes) -> None:
        """The server wrote something: handle the lines that it completes."""
        for line in self._framer.feed(data):
            if isinstance(line, Oversize):
                if not self._is_told:
                    self._drop(line)
                self._is_told = False
            elif line.strip():
                self._handle(line)
        begun = self._framer.oversize
        if begun is not None and not self._is_told and (begun.is_endless or reply_hint(begun.head) is not None):
            # The end of such a line may never come, and its client must not wait for it.
            self._is_told = True
            self._drop(begun)

    def connection_lost(self, exc: Exception | None) -> None:
        """The server ended: answer its open requests with an error."""
        del exc
        self.over.set()
        for bridged in list(self._open.values()):
            error = encode_error(bridged.id, -32603, "The MCP server is unavailable: it ended before it answered.")
            bridged.answer(error, (502, b"Bad Gateway"))
        self._open.clear()
        if self._stream is not None:
            self._stream.finish()
            self._stream = None

    def _drop(self, line: Oversize) -> None:
        """Answer whoever waits for a line that is too long: its own request, else all that are open."""
        words = f"longer than the limit of {line.limit} bytes (max_message_bytes)"
        hint = reply_hint(line.head + b" " + line.tail)
        waiting = [hint] if hint is not None else list(self._open) if line.is_endless or _is_json(line.head) else []
        for key in waiting:
            bridged = self._open.pop(key, None)
            if bridged is not None:
                error = encode_error(bridged.id, -32603, f"The answer of the MCP server is {words}. Ask for less.")
                bridged.answer(error, (502, b"Bad Gateway"))
        if not self._has_complained:
            self._has_complained = True
            sys.stderr.write(f"toolvet: a message of the server is {words}: it was dropped\n")

    def _handle(self, line: bytes) -> None:
        message = parse(line)
        if isinstance(message, Result | ErrorReply):
            bridged = self._open.pop(message.id, None) if message.id is not None else None
            if bridged is not None:
                shared = self._sharing == "all"
                code = message.code if shared and isinstance(message, ErrorReply) else 0
                bridged.answer(restore_answer(line, bridged.id) if shared else line, _STATUS.get(code, (200, b"OK")))
            return
        if isinstance(message, Noise) and message.reply_to in self._open:
            # An answer that cannot be parsed here, for one because it is nested too deeply: its client waits for it.
            bridged = self._open.pop(message.reply_to)
            if self._sharing == "all":
                error = encode_error(bridged.id, -32603, f"The MCP server's answer cannot be read: {message.reason}.")
                bridged.answer(error, (502, b"Bad Gateway"))
            else:
                bridged.answer(line, (200, b"OK"))
            return
        if self._sharing == "all":
            self._handle_shared(line, message)
        elif self._open:
            self._addressee(message).pass_on(line)
        elif self._stream is not None:
            self._stream.feed(encode_event(line))
        else:
            self._backlog.append(line)

    def _addressee(self, message: object) -> BridgedRequest:
        """Return the request whose progress this is, else the latest one."""
        if isinstance(message, Notification) and message.method == "notifications/progress":
            token = members(message.params).get("progressToken")
            for bridged in self._open.values():
                if token is not None and bridged.progress_token == token:
                    return bridged
        return next(reversed(self._open.values()))

    def _handle_shared(self, line: bytes, message: object) -> None:
        number = number_of(message) if isinstance(message, Notification) else None
        bridged = self._open.get(number) if number is not None else None
        if bridged is not None:
            bridged.pass_on(restore_notification(line, bridged.id, bridged.token))
        elif number is None and len(self._open) == 1:
            next(iter(self._open.values())).pass_on(line)

    def _forget(self, key: Id) -> None:
        """Drop a request whose client went away. In the modern era that cancels it."""
        bridged = self._open.pop(key, None)
        if bridged is not None and self._sharing == "all":
            self.send(encode_notification("notifications/cancelled", {"requestId": key}))

    def _unlisten(self) -> None:
        self._stream = None


def _is_json(head: bytes) -> bool:
    return head.lstrip()[:1] in {b"{", b"["}


class _IgnoringProtocol(asyncio.BaseProtocol):
    """For the pipe that is only written to."""
