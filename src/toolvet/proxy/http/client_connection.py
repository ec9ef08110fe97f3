"""The HTTP side that listens: connections of clients in, one request at a time to a handler, its answer out.

Everything that a slow or a hostile client could make grow has a limit: the head in bytes and in seconds, the pause
within a body, the connections. How long a call may take has no limit here: that is between client and server.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Final, cast

import httptools
import msgspec

from toolvet.proxy.http.body import Body
from toolvet.wire.http_body import BodyWriter, response_framing
from toolvet.wire.http_head import Field, Length, RequestHead, ResponseHead, encode_response_head

# A request that is answered already is read on for so many bytes, so that closing does not take the answer away.
_LEFT_OVER: Final = 1 << 20
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much a client may use. Times are in seconds."""

    head_bytes: int = 64 * 1024
    fields: int = 200
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    idle_seconds: float = 75.0
    connections: int = 1000


class ClientGoneError(Exception):
    """The client closed the connection, so the answer has no reader."""


Handler = Callable[[RequestHead, Body, "Responder"], Awaitable[None]]


class Responder:
    """Writes the answer to one request: `send` for a complete one, or `start`, `write` and `end`.

    `begun` and `ended` say how far the answer got.
    """

    __slots__ = ("_connection", "_head", "_writer", "begun", "ended")

    def __init__(self, connection: "ClientConnection", head: RequestHead) -> None:
        self._connection = connection
        self._head = head
        self._writer = BodyWriter("none")
        self.begun = False
        self.ended = False

    def send(self, head: ResponseHead, data: bytes = b"") -> None:
        """Send a complete answer. Sets `head.length`."""
        head.length = None if head.status in {204, 304} else len(data)
        self.start(head, data)
        self.end()

    def start(self, head: ResponseHead, data: bytes = b"") -> None:
        """Send the head and `data`, the beginning of the body. A body without a length ends with `end`."""
        self.begun = True
        framing = response_framing(self._head, head)
        if framing == "close":
            self._head.keep_alive = False
        writer = self._writer = BodyWriter(framing)
        length: Length = "chunked" if framing == "chunked" else head.length
        encoded = encode_response_head(head, length, close=not self._head.keep_alive)
        self._connection.write(encoded + writer.write(data) if data else encoded)

    def write(self, data: bytes) -> None:
        """Send a part of the body, at least one byte."""
        self._connection.write(self._writer.write(data))

    async def drain(self) -> None:
        """Wait until the client has read most of the answer. Raises ClientGoneError when it closed the connection."""
        await self._connection.drain()

    def end(self) -> None:
        """End the body, and with it the answer."""
        self.ended = True
        last = self._writer.end()
        if last:
            self._connection.write(last)
        self._connection.finish_answer(self)

    def abort(self) -> None:
        """Cut the connection, so that the client does not take a body that broke off for a complete one."""
        self._connection.abort()


class ClientConnection(asyncio.Protocol):
    """One connection of a client. Requests that come before the last one is answered are queued."""

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
        # The request that is being read.
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
        """A client connected: start the timer for its first head, or refuse it."""
        self._transport = cast("asyncio.Transport", transport)
        if len(self._all) >= self._limits.connections:
            self._refuse(503, b"Service Unavailable", b"too many connections")
            return
        self._all.add(self)
        self._set_timer(self._limits.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Connection closed: cancel its handler and timers."""
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
        """Bytes of the client came: parse them, within the limits."""
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
            # Java's client asks for HTTP/2 with every first request. An answer in HTTP/1.1 is allowed.
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
        """The client will send no more: close. Clients that half-close and then read are too rare to serve."""
        return False

    def pause_writing(self) -> None:
        """The client reads more slowly than the server answers."""
        self._paused_writing = True

    def resume_writing(self) -> None:
        """The client caught up."""
        self._paused_writing = False
        self._wake_drained()

    # httptools

    def on_message_begin(self) -> None:
        """A request begins."""
        self._target, self._fields, self._in_head = b"", [], True

    def on_url(self, url: bytes) -> None:
        """Add a part of the target."""
        self._target += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header field; trailers are dropped."""
        if self._in_head:
            self._fields.append((name, value))
            if len(self._fields) > self._limits.fields:
                raise _TooMuchError

    def on_headers_complete(self) -> None:
        """The head is complete: handle the request, or queue it."""
        self._in_head = False
        self._head_size = 0
        parser = self._parser
        version = parser.get_http_version()
        head = RequestHead(
            method=parser.get_method(),
            target=self._target,
            fields=self._fields,
            keep_alive=parser.should_keep_alive() and version != "1.0",
            version=version.encode(),
        )
        self._body = Body(self._pause_reading, self._resume_reading)
        self._clear_timer()
        if (head.get(b"expect") or b"").lower() == b"100-continue":
            self.write(_CONTINUE)
        if self._current is None:
            self._start(head, self._body)
        else:
            self._waiting.append((head, self._body))
            self._pause_reading()

    def on_body(self, data: bytes) -> None:
        """Add a part of the body."""
        body = self._body
        if body is not None:
            body.feed(data)
            if self._current is not None and self._current[2].ended and body.received > _LEFT_OVER:
                self.abort()

    def on_message_complete(self) -> None:
        """The request is complete."""
        body, self._body = self._body, None
        self._clear_timer()
        if body is not None:
            body.finish()
            if self._current is not None and self._current[2].ended and self._current[1] is body:
                self._next()

    # Writing

    def write(self, data: bytes) -> None:
        """Write `data`; the transport queues what the client does not take yet."""
        if self._transport is not None and not self._gone:
            self._transport.write(data)

    async def drain(self) -> None:
        """Wait while too much is queued. Raises ClientGoneError when the connection is closed."""
        if self._paused_writing and not self._gone:
            self._drained = self._loop.create_future()
            await self._drained
        if self._gone:
            raise ClientGoneError

    def finish_answer(self, responder: Responder) -> None:
        """Go on to the next request, once the answered one was read to its end."""
        current = self._current
        if current is None or current[2] is not responder:
            return
        if current[1].done:
            self._next()
        else:
            # The client still sends: closing now could take the answer away from it.
            self._set_timer(self._limits.head_seconds)
            current[1].discard()

    def abort(self) -> None:
        """Cut the connection."""
        if self._transport is not None:
            self._transport.abort()

    def shut(self) -> None:
        """Close the connection after the answer that is under way, or now if there is none."""
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
            # An answer may be under way; an error cannot be written in the middle of it.
            self.abort()
        elif isinstance(error, _TooMuchError) or isinstance(error.__context__, _TooMuchError):
            self._refuse(431, b"Request Header Fields Too Large", b"the request's head is too large")
        else:
            self._refuse(400, b"Bad Request", b"this is no HTTP/1.1 request")

    def _refuse(self, status: int, reason: bytes, words: bytes) -> None:
        fields = [(b"Content-Type", b"text/plain; charset=utf-8")]
        head = ResponseHead(status, reason, fields, len(words) + 1)
        self.write(encode_response_head(head, head.length, close=True) + words + b"\n")
        self._close()

    def _time_out(self) -> None:
        if self._current is None and self._in_head and self._head_size:
            self._refuse(408, b"Request Timeout", b"the request's head took too long")
        elif self._current is None and not self._in_head:
            self._close()
        else:
            self.abort()

    def _set_timer(self, seconds: float) -> None:
        """Set the deadline. One timer per connection that checks the clock costs less than one for each request."""
        deadline = self._deadline = self._loop.time() + seconds
        if self._timer is None:
            self._timer = self._loop.call_at(deadline, self._check_deadline)
        elif self._timer.when() > deadline:
            self._timer.cancel()
            self._timer = self._loop.call_at(deadline, self._check_deadline)

    def _check_deadline(self) -> None:
        self._timer = None
        if self._deadline is None:
            return
        if self._loop.time() < self._deadline:
            self._timer = self._loop.call_at(self._deadline, self._check_deadline)
        else:
            self._deadline = None
            self._time_out()

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
    """The head is larger than the limits allow."""
