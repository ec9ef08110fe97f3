"""The side of HTTP that listens: connections of clients in, one request at a time to a handler, its answer out.

Everything that a slow or a hostile client could make grow has a limit: the head in bytes and in seconds, the pause
within a body, the connections. How long a call may take is not our business, so nothing limits that.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, cast

import httptools
import msgspec

from toolvet.proxy.http.body import Body
from toolvet.wire.http_head import Field, RequestHead, ResponseHead, written_response

_LEFT_OVER: Final = 1 << 20


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What a client may use. Times are in seconds."""

    head_bytes: int = 64 * 1024
    fields: int = 200
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    idle_seconds: float = 75.0
    connections: int = 1000


class ClientGoneError(Exception):
    """The client closed the connection: nobody waits for this answer."""


Handler = Callable[[RequestHead, Body, "Responder"], Awaitable[None]]


class Responder:
    """The answer to one request: `send` for one that is there, or `start`, `write` and `end`."""

    __slots__ = ("_chunked", "_connection", "_head", "_length", "begun", "ended")

    def __init__(self, connection: "ClientConnection", head: RequestHead) -> None:
        self._connection = connection
        self._head = head
        self._chunked = False
        self._length: int | None = 0
        self.begun = False
        self.ended = False

    def send(self, head: ResponseHead, data: bytes = b"") -> None:
        """The whole answer at once."""
        head.length = None if head.status in {204, 304} else len(data)
        self.start(head, data)
        self.end()

    def start(self, head: ResponseHead, data: bytes = b"") -> None:
        """The head, and what is there of the body. A body without a length ends with `end`."""
        self.begun = True
        bodiless = self._head.method == b"HEAD" or head.status in {204, 304} or head.status < 200
        self._chunked = head.length is None and not bodiless and self._head.version != b"1.0"
        if head.length is None and not bodiless and not self._chunked:
            self._head.keep_alive = False
        written = written_response(head, chunked=self._chunked, close=not self._head.keep_alive)
        self._length = 0 if bodiless else head.length
        if data and not bodiless:
            self._connection.write(written + self._framed(data))
        else:
            self._connection.write(written)

    def write(self, data: bytes) -> None:
        """More of the body."""
        self._connection.write(self._framed(data))

    async def drain(self) -> None:
        """Wait until the client took most of what was written. Raises ClientGoneError."""
        await self._connection.drain()

    def end(self) -> None:
        """That was all."""
        self.ended = True
        if self._chunked:
            self._connection.write(b"0\r\n\r\n")
        self._connection.answered(self)

    def abort(self) -> None:
        """Cut the connection: whoever reads a body that broke off must not take it for a whole one."""
        self._connection.abort()

    def _framed(self, data: bytes) -> bytes:
        return b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data


class ClientConnection(asyncio.Protocol):
    """One connection of a client. Requests that come before the last one is answered wait their turn."""

    def __init__(self, handler: Handler, limits: Limits, open_connections: "set[ClientConnection]") -> None:
        self._handler = handler
        self._limits = limits
        self._all = open_connections
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._deadline: float | None = None
        self._drained: asyncio.Future[None] | None = None
        self._paused_writing = False
        self._gone = False
        self.task: asyncio.Task[None] | None = None
        self._current: tuple[RequestHead, Body, Responder] | None = None
        self._waiting: deque[tuple[RequestHead, Body]] = deque()
        # What is being read.
        self._target = b""
        self._fields: list[Field] = []
        self._head_size = 0
        self._in_head = False
        self._body: Body | None = None
        self._closing = False

    @property
    def is_idle(self) -> bool:
        """Whether no request is being read or answered."""
        return self._current is None and not self._in_head

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client came."""
        self._transport = cast("asyncio.Transport", transport)
        if len(self._all) >= self._limits.connections:
            self._refuse(503, b"Service Unavailable", b"too many connections")
            return
        self._all.add(self)
        self._set_timer(self._limits.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone, and with it everybody who worked for it."""
        del exc
        self._gone = True
        self._all.discard(self)
        self._clear_timer()
        if self._timer is not None:
            self._timer.cancel()
        if self._body is not None:
            self._body.fail("the client went away in the middle of its request")
        self._wake_drained()
        if self.task is not None:
            self.task.cancel()

    def data_received(self, data: bytes) -> None:
        """Bytes of the client."""
        if self._closing:
            return
        if self._body is None:
            if not self._in_head:
                self._in_head = True
                self._set_timer(self._limits.head_seconds)
            self._head_size += len(data)
        elif not self._body.done:
            self._set_timer(self._limits.body_seconds)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            # Java's client asks for HTTP/2 with every first request. We answer in HTTP/1.1, as we may.
            self._parser = httptools.HttpRequestParser(self)
            rest = data[cast("int", upgrade.args[0]) :]
            if rest:
                self.data_received(rest)
        except (httptools.HttpParserError, _TooMuchError) as error:
            self._reading_failed(error)
        else:
            if self._in_head:
                if self._head_size > self._limits.head_bytes:
                    self._reading_failed(_TooMuchError())
                elif self._deadline is None:
                    self._set_timer(self._limits.head_seconds)

    def eof_received(self) -> bool:
        """The client will send no more. Those who half-close still want their answer, but hardly any is left."""
        return False

    def pause_writing(self) -> None:
        """The client is slower than the server."""
        self._paused_writing = True

    def resume_writing(self) -> None:
        """It caught up."""
        self._paused_writing = False
        self._wake_drained()

    # httptools

    def on_message_begin(self) -> None:
        """A request begins."""
        self._target, self._fields, self._in_head = b"", [], True

    def on_url(self, url: bytes) -> None:
        """A part of the target."""
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header field, or a trailer, which nobody here needs."""
        if self._in_head:
            self._fields.append((name, value))
            if len(self._fields) > self._limits.fields:
                raise _TooMuchError

    def on_headers_complete(self) -> None:
        """The head is whole."""
        self._in_head = False
        self._head_size = 0
        parser = self._parser
        head = RequestHead(
            parser.get_method(),
            self._target,
            self._fields,
            parser.should_keep_alive() and parser.get_http_version() != "1.0",
            parser.get_http_version().encode(),
        )
        self._body = Body(self._pause_reading, self._resume_reading)
        self._clear_timer()
        if (head.get(b"expect") or b"").lower() == b"100-continue":
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if self._current is None:
            self._start(head, self._body)
        else:
            self._waiting.append((head, self._body))
            self._pause_reading()

    def on_body(self, data: bytes) -> None:
        """A part of the body."""
        body = self._body
        if body is not None:
            body.feed(data)
            if self._current is not None and self._current[2].ended and body.received > _LEFT_OVER:
                self.abort()

    def on_message_complete(self) -> None:
        """The request is whole."""
        body, self._body = self._body, None
        self._clear_timer()
        if body is not None:
            body.finish()
            if self._current is not None and self._current[2].ended and self._current[1] is body:
                self._next()

    # Writing

    def write(self, data: bytes) -> None:
        """Write, or queue."""
        if self._transport is not None and not self._gone:
            self._transport.write(data)

    async def drain(self) -> None:
        """Wait while too much is queued. Raises ClientGoneError."""
        if self._paused_writing and not self._gone:
            self._drained = self._loop.create_future()
            await self._drained
        if self._gone:
            raise ClientGoneError

    def answered(self, responder: Responder) -> None:
        """This answer is written. The next request's turn, once this one was read to its end."""
        current = self._current
        if current is None or current[2] is not responder:
            return
        if current[1].done:
            self._next()
        else:
            # The client still sends: closing now could take the answer from it.
            self._set_timer(self._limits.head_seconds)
            current[1].discard()

    def abort(self) -> None:
        """Cut the connection."""
        if self._transport is not None:
            self._transport.abort()

    def shut(self) -> None:
        """The proxy ends: close after the answer that is under way, or now."""
        if self._current is None:
            self._close()
        else:
            self._current[0].keep_alive = False

    def _start(self, head: RequestHead, body: Body) -> None:
        responder = Responder(self, head)
        self._current = (head, body, responder)
        self.task = self._loop.create_task(self._handle(head, body, responder))

    async def _handle(self, head: RequestHead, body: Body, responder: Responder) -> None:
        try:
            await self._handler(head, body, responder)
        except ClientGoneError:
            return
        finally:
            if not responder.ended:
                self.abort()

    def _next(self) -> None:
        current = self._current
        self._current = self.task = None
        if current is None or not current[0].keep_alive:
            self._close()
        elif self._waiting:
            head, body = self._waiting.popleft()
            self._start(head, body)
            self._resume_reading()
        else:
            self._set_timer(self._limits.idle_seconds)

    def _close(self) -> None:
        self._closing = True
        self._clear_timer()
        if self._transport is not None:
            self._transport.close()

    # Limits

    def _reading_failed(self, error: Exception) -> None:
        if self._current is not None:
            # An answer may be under way; nothing can be said in the middle of it.
            self.abort()
        elif isinstance(error, _TooMuchError) or isinstance(error.__context__, _TooMuchError):
            self._refuse(431, b"Request Header Fields Too Large", b"the request's head is too large")
        else:
            self._refuse(400, b"Bad Request", b"this is no HTTP/1.1 request")

    def _refuse(self, status: int, reason: bytes, words: bytes) -> None:
        fields = [(b"Content-Type", b"text/plain; charset=utf-8")]
        head = ResponseHead(status, reason, fields, len(words) + 1)
        self.write(written_response(head, chunked=False, close=True) + words + b"\n")
        self._close()

    def _timed_out(self) -> None:
        if self._current is None and self._in_head and self._head_size:
            self._refuse(408, b"Request Timeout", b"the request's head took too long")
        elif self._current is None and not self._in_head:
            self._close()
        else:
            self.abort()

    def _set_timer(self, seconds: float) -> None:
        """A timer of the loop for each request costs more than to look at the clock and let one timer go on."""
        deadline = self._deadline = self._loop.time() + seconds
        if self._timer is None:
            self._timer = self._loop.call_at(deadline, self._look_at_clock)
        elif self._timer.when() > deadline:
            self._timer.cancel()
            self._timer = self._loop.call_at(deadline, self._look_at_clock)

    def _look_at_clock(self) -> None:
        self._timer = None
        if self._deadline is None:
            return
        if self._loop.time() < self._deadline:
            self._timer = self._loop.call_at(self._deadline, self._look_at_clock)
        else:
            self._deadline = None
            self._timed_out()

    def _clear_timer(self) -> None:
        self._deadline = None

    def _pause_reading(self) -> None:
        if self._transport is not None and not self._gone and self._transport.is_reading():
            self._transport.pause_reading()
            self._clear_timer()

    def _resume_reading(self) -> None:
        if self._transport is not None and not self._gone and not self._transport.is_closing():
            self._transport.resume_reading()

    def _wake_drained(self) -> None:
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        self._drained = None


class _TooMuchError(Exception):
    """The head is larger than we read."""
