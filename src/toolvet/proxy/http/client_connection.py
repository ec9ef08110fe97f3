"""The HTTP side that listens: connections of clients in, one request at a time to a handler, its answer out.

Everything that a slow or a hostile client could make grow has a limit: the head in bytes and in seconds, the pauses
within a body and its time in all, what is between the chunks of a body, the connections. How long a call may take has
no limit here: that is between client and server.
"""

import asyncio
import re
from collections import deque
from typing import TYPE_CHECKING, Final, NamedTuple, cast

import httptools

from toolvet.mcp.wire import Field, RequestHead, ResponseHead, encode_response_head
from toolvet.proxy.http.body import Body, ClientGoneError, Handler, Responder
from toolvet.proxy.http.handling import Handling, in_turn
from toolvet.proxy.http.known_head import KnownRequest

if TYPE_CHECKING:
    from toolvet.proxy.http.open_connections import OpenConnections

# A request that is answered already is read on for this many bytes, so that closing does not take the answer away.
_LEFT_OVER: Final = 1 << 20
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
# A client that is refused while it still sends gets this many seconds to read why.
_LINGER_SECONDS: Final = 2.0
# The line break and `: ` of a field.
_AROUND_FIELD: Final = 4


class RequestRefusal(NamedTuple):
    """Why a request cannot be read: the status line of its answer and its text."""

    status: int
    reason: bytes
    words: bytes


class RequestRefusedError(Exception):
    """The request that is being read is not served."""

    def __init__(self, refusal: RequestRefusal) -> None:
        super().__init__()
        self.refusal = refusal


NO_HTTP: Final = RequestRefusal(400, b"Bad Request", b"this is no HTTP/1.1 request")
NO_VERSION: Final = RequestRefusal(505, b"HTTP Version Not Supported", b"the proxy serves HTTP/1.1 and HTTP/1.0")
NO_CODING: Final = RequestRefusal(501, b"Not Implemented", b"the only transfer coding here is chunked, once")
LONG_TARGET: Final = RequestRefusal(414, b"URI Too Long", b"the request's target is too long")
LARGE_HEAD: Final = RequestRefusal(431, b"Request Header Fields Too Large", b"the request's head is too large")
LATE_HEAD: Final = RequestRefusal(408, b"Request Timeout", b"the request's head took too long")
LATE_BODY: Final = RequestRefusal(408, b"Request Timeout", b"the request's body took too long")
CROWDED: Final = RequestRefusal(503, b"Service Unavailable", b"too many connections")


class ClientConnection(asyncio.Protocol):
    """One connection of a client. Requests that come before the last one is answered are queued."""

    def __init__(self, handler: Handler, open_connections: "OpenConnections[ClientConnection]") -> None:
        self._handler = handler
        self._limits = open_connections.limits
        self._all = open_connections
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._deadline: float | None = None
        self._drained: asyncio.Future[None] | None = None
        self._paused_writing = False
        self._gone = False
        self.handling: Handling | None = None
        self._current: tuple[RequestHead, Body, Responder] | None = None
        self._waiting: deque[tuple[RequestHead, Body]] = deque()
        # The request that is being read.
        self._target = b""
        self._fields: list[Field] = []
        self._method = self._version = b""
        # Bytes of the head that came, and those of them that are kept; the first are more, by spaces.
        self._head_size = 0
        self._kept = 0
        self._in_head = False
        # The segments that its head came in; `_begun` from its first byte to the end of the head.
        self._segments: list[bytes] = []
        self._begun = False
        self._body: Body | None = None
        # The last head, and how much of the body is missing that came after one of its form: neither is parsed.
        self._known: KnownRequest | None = None
        self._missing = 0
        # When the body has to be complete, if no more of it came; None until the first look at the clock.
        self._body_due: float | None = None
        self._paused_since: float | None = None
        # Bytes since the last part of the body that were none of it: chunk heads and trailers.
        self._between = 0
        # The client offered another protocol: its head is read again without the offer.
        self._is_offer = False
        # A request could not be read: the answers to those before it come first.
        self._refusal: RequestRefusal | None = None
        self._closing = False
        self._lingering = 0

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client connected: start the timer for its first head, or refuse it."""
        self._transport = cast("asyncio.Transport", transport)
        if not self._all.admit(self):
            self.make_room()
            return
        self._set_timer(self._limits.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Connection closed: cancel its handler and timers."""
        del exc
        self._gone = True
        self._all.remove(self)
        self._clear_timer()
        if self._timer is not None:
            self._timer.cancel()
        if self._body is not None:
            self._body.fail("the client went away in the middle of its request")
        self._wake_drained()
        if self.handling is not None:
            self.handling.cancel()

    def data_received(self, data: bytes) -> None:
        """Bytes of the client came: parse them, within the limits, and handle what is complete with them."""
        in_turn(self._receive, data)

    def _receive(self, data: bytes) -> None:
        if self._closing or self._refusal is not None:
            self._lingering += len(data)
            if self._lingering > _LEFT_OVER:
                self.abort()
            return
        try:
            while data:
                data = self._feed_part(data)
        except (httptools.HttpParserError, RequestRefusedError) as error:
            self._reading_failed(error)
        else:
            if self._body is not None:
                self._await_body(self._body)
            elif self._in_head and self._deadline is None:
                self._set_timer(self._limits.head_seconds)

    def _feed_part(self, data: bytes) -> bytes:
        """Parse as much of `data` as the limit of the head allows, and return the rest."""
        if self._missing:
            return self._feed_missing(data)
        known = self._known
        if known is not None and self._body is None and not self._begun and not self._head_size:
            found = known.form.find_length(data)
            if found is not None and found[0]:
                self._missing = found[0]
                self._begin(known.head(found[0]))
                return data[found[1] :]
        if self._body is None and not self._in_head:
            self._in_head = True
            self._set_timer(self._limits.head_seconds)
        rest = b""
        if not self._begun:
            self._segments.clear()
        if self._body is None:
            room = self._limits.head_bytes - self._head_size
            if room <= 0:
                raise RequestRefusedError(LARGE_HEAD if self._fields else LONG_TARGET)
            if len(data) > room:
                data, rest = data[:room], data[room:]
            self._head_size += len(data)
        else:
            self._between += len(data)
        self._segments.append(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            return self._read_on(data[cast("int", upgrade.args[0]) :] + rest)
        if self._body is not None and self._between > self._limits.head_bytes:
            raise RequestRefusedError(LARGE_HEAD)
        return rest

    def _feed_missing(self, data: bytes) -> bytes:
        """Read a body whose length is known. Returns what is behind it."""
        part, rest = (data, b"") if len(data) <= self._missing else (data[: self._missing], data[self._missing :])
        self._missing -= len(part)
        self.on_body(part)
        if not self._missing:
            self.on_message_complete()
        return rest

    def _read_on(self, rest: bytes) -> bytes:
        """Go on where the parser stopped, because the client offered another protocol. Returns what is to be parsed.

        Java's client offers HTTP/2 with every first request, and may be answered in HTTP/1.1. The parser takes the
        message to end with its head then; the same head without the offer tells it how long the body is.
        """
        if not self._is_offer:
            # After CONNECT no request follows.
            return b""
        self._is_offer = False
        self._parser = parser = httptools.HttpRequestParser(self)
        fields = [field for field in self._fields if field[0].lower() != b"upgrade"]
        lines = [b"%s %s HTTP/%s" % (self._method, self._target, self._version)]
        lines += [name + b": " + value for name, value in fields]
        parser.feed_data(b"\r\n".join(lines) + b"\r\n\r\n")
        return rest

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
        self._target, self._fields, self._in_head, self._kept, self._begun = b"", [], True, 0, True

    def on_url(self, url: bytes) -> None:
        """Add a part of the target."""
        self._target += url
        self._kept += len(url)
        if self._kept > self._limits.head_bytes:
            raise RequestRefusedError(LONG_TARGET)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header field; trailers are dropped."""
        if self._in_head:
            self._fields.append((name, value))
            self._kept += len(name) + len(value) + _AROUND_FIELD
            if len(self._fields) > self._limits.fields or self._kept > self._limits.head_bytes:
                raise RequestRefusedError(LARGE_HEAD)

    def on_headers_complete(self) -> None:
        """The head is complete: handle the request, or queue it."""
        parser = self._parser
        version = parser.get_http_version()
        method = parser.get_method()
        is_tunnel = method == b"CONNECT"
        if parser.should_upgrade() and not is_tunnel:
            self._is_offer, self._method, self._version = True, method, version.encode()
            return
        if version not in {"1.0", "1.1"}:
            raise RequestRefusedError(NO_VERSION)
        head = RequestHead(
            method=method,
            target=self._target,
            fields=self._fields,
            keep_alive=parser.should_keep_alive() and version != "1.0" and not is_tunnel,
            version=version.encode(),
        )
        # The parser takes whatever ends in `chunked`, and the coding below would reach the server unannounced. In
        # HTTP/1.0, which has no codings, something in front of us may have found another end of the body.
        codings = head.values(b"transfer-encoding")
        if codings and (b",".join(codings).strip().lower() != b"chunked" or version == "1.0"):
            raise RequestRefusedError(NO_CODING)
        if version == "1.0" and self._is_another_protocol():
            raise RequestRefusedError(NO_HTTP)
        self._known = KnownRequest.of(head, b"".join(self._segments), self._known)
        self._begin(head)

    def _begin(self, head: RequestHead) -> None:
        """Handle the request of this head, or queue it. Its body follows."""
        self._in_head = self._begun = False
        self._head_size = self._between = 0
        self._body = Body(self._pause_reading, self._resume_reading)
        self._body_due = None
        self._clear_timer()
        self._all.note_request(self)
        if self._current is None:
            self._start(head, self._body)
        else:
            self._waiting.append((head, self._body))
            self._pause_reading()

    def _is_another_protocol(self) -> bool:
        """Whether the request line names another protocol than HTTP: the parser takes RTSP/1.0 for HTTP/1.0."""
        line = rb"(?m)^[A-Z-]+ +%s +HTTP/" % re.escape(self._target)
        return re.search(line, b"".join(self._segments)) is None

    def on_body(self, data: bytes) -> None:
        """Add a part of the body."""
        body = self._body
        self._between = 0
        if body is not None:
            body.feed(data)
            if self._current is not None and self._current[2].ended and body.received > _LEFT_OVER:
                self.abort()

    def on_message_complete(self) -> None:
        """The request is complete."""
        if self._is_offer:
            return
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
            current[1].discard()
            self._set_timer(self._limits.head_seconds)

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

    def make_room(self) -> None:
        """Close the connection, on which no request is complete, because there are too many."""
        self._write_refusal(CROWDED)
        self._close()

    def _start(self, head: RequestHead, body: Body) -> None:
        # Only now: before that, it would stand before the answer to an earlier request. HTTP/1.0 has no such answer.
        if head.form is None and head.version != b"1.0" and (head.get(b"expect") or b"").lower() == b"100-continue":
            self.write(_CONTINUE)
        responder = Responder(self, head)
        self._current = (head, body, responder)
        self.handling = Handling(self._handle(head, body, responder), self._loop)
        self.handling.start()

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
        self._current = self.handling = None
        if current is None or not current[0].keep_alive:
            self._close()
        elif self._waiting:
            head, body = self._waiting.popleft()
            self._start(head, body)
            if self._refusal is None:
                self._resume_reading()
        elif self._refusal is not None:
            self._refuse(self._refusal)
        else:
            self._all.note_idle(self)
            self._set_timer(self._limits.idle_seconds)

    def _close(self) -> None:
        self._closing = True
        self._clear_timer()
        if self._transport is not None:
            self._transport.close()

    # Limits

    def _reading_failed(self, error: Exception) -> None:
        """Refuse the request that is being read, after the answers to those before it."""
        cause = error if isinstance(error, RequestRefusedError) else error.__context__
        refusal = cause.refusal if isinstance(cause, RequestRefusedError) else NO_HTTP
        body, self._body = self._body, None
        if body is not None:
            body.fail("the client's request was malformed")
            if self._waiting and self._waiting[-1][1] is body:
                self._waiting.pop()
        current = self._current
        if current is None:
            self._refuse(refusal)
        elif current[1] is not body:
            self._refusal = refusal
            self._clear_timer()
            self._pause_reading()
        elif current[2].begun:
            # An answer is under way; an error cannot be written in the middle of it.
            self.abort()
        else:
            current[2].ended = True
            if self.handling is not None:
                self.handling.cancel()
            self._refuse(refusal)

    def _refuse(self, refusal: RequestRefusal) -> None:
        """Answer with `refusal`, and read on for a while: closing while the client sends would take the answer away."""
        self._write_refusal(refusal)
        self._closing = True
        if self._transport is not None and not self._gone and not self._transport.is_closing():
            if self._transport.can_write_eof():
                self._transport.write_eof()
            self._resume_reading()
            self._set_timer(_LINGER_SECONDS)

    def _write_refusal(self, refusal: RequestRefusal) -> None:
        status, reason, words = refusal
        fields = [(b"Content-Type", b"text/plain; charset=utf-8")]
        head = ResponseHead(status, reason, fields, len(words) + 1)
        self.write(encode_response_head(head, head.length, close=True) + words + b"\n")
        self._all.on_refused(status, words.decode())

    def _time_out(self) -> None:
        if self._closing:
            self.abort()
        elif self._body is not None:
            self._reading_failed(RequestRefusedError(LATE_BODY))
        elif self._in_head:
            self._reading_failed(RequestRefusedError(LATE_HEAD))
        elif self._current is None:
            self._close()

    def _await_body(self, body: Body) -> None:
        """Set the deadline for the next part of the body: by the limit of a pause, or by that of its time in all."""
        if self._paused_since is not None:
            return
        now = self._loop.time()
        if self._body_due is None:
            self._body_due = now + self._limits.body_start_seconds
        left = self._body_due + body.received / self._limits.body_rate - now
        self._set_timer(min(self._limits.body_seconds, left))

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
            self._paused_since = self._loop.time()
            self._clear_timer()

    def _resume_reading(self) -> None:
        if self._transport is not None and not self._gone and not self._transport.is_closing():
            self._transport.resume_reading()
            since, self._paused_since = self._paused_since, None
            if self._body is not None and not self._body.done:
                # The client could not send meanwhile.
                if since is not None and self._body_due is not None:
                    self._body_due += self._loop.time() - since
                self._await_body(self._body)

    def _wake_drained(self) -> None:
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        self._drained = None
