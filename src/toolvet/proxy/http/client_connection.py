"""One connection of a client: aiohttp reads and answers its requests, and this limits what it may use.

aiohttp bounds the fields of a head and the size of what is buffered. Added here are the size of a whole head, the time
that a head and a body may take, the number of connections, and the few requests that aiohttp reads and RFC 9112 lets a
proxy refuse. A connection is looked at once in a while, so that a request sets no timer.
"""

import asyncio
import re
from collections import deque
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import aiohttp
import msgspec
from aiohttp import HttpVersion, HttpVersion10, HttpVersion11, web
from aiohttp.helpers import reify
from aiohttp.http_exceptions import LineTooLong
from aiohttp.http_parser import RawRequestMessage
from aiohttp.web_protocol import ERROR

from toolvet.proxy.http.callers import Requester
from toolvet.proxy.http.message import BrokenBodyError, Field, RequestHead, WholeResponse

if TYPE_CHECKING:
    from toolvet.proxy.http.open_connections import OpenConnections

# A request that is refused is read on for this many bytes and seconds, so that closing does not take the answer away.
_LEFT_OVER: Final = 1 << 20
_LINGER_SECONDS: Final = 2.0
# While nothing reads a body, aiohttp buffers twice as much of it.
_READ_BUFFER: Final = 1 << 16
# More requests than that are not read before the first of them is answered.
_MOST_QUEUED: Final = 2
_TAB_IN_CODING: Final = re.compile(rb"(?im)^transfer-encoding:[^\r\n]*\t")
_NOT_HTTP: Final = re.compile(rb"(?m)^[A-Z-]+ +[^ \r\n]+ +(?!HTTP/)")
# No head, chunk or trailer may have it.
_MALFORMED: Final = b"\0"
_HEAD_END: Final = b"\r\n\r\n"


class RequestRefusal(NamedTuple):
    """Why a request cannot be read: the status of its answer and its text."""

    status: int
    words: str


NO_HTTP: Final = RequestRefusal(400, "this is not an HTTP/1.1 request")
NO_VERSION: Final = RequestRefusal(505, "the proxy serves HTTP/1.1 and HTTP/1.0")
NO_CODING: Final = RequestRefusal(501, "the only transfer coding here is chunked, once")
LONG_TARGET: Final = RequestRefusal(414, "the request's target is too long")
LARGE_HEAD: Final = RequestRefusal(431, "the request's head is too large")
LATE_HEAD: Final = RequestRefusal(408, "the request's head took too long")
LATE_BODY: Final = RequestRefusal(408, "the request's body took too long")
FAILED: Final = RequestRefusal(500, "the proxy failed")
CROWDED: Final = RequestRefusal(503, "too many connections")


class KnownHead(NamedTuple):
    """The head of the last message on a connection, and what was made of it.

    Clients send the same head with each message, but for its length. Reading it again would be a fifth of what a call
    costs. It may have credentials, so it is kept for its own connection, until another head comes.
    """

    target: str
    # The fields before and after `Content-Length`.
    before: tuple[Field, ...]
    after: tuple[Field, ...]
    onward: RequestHead
    sender: Requester

    @classmethod
    def of(cls, request: web.BaseRequest, onward: RequestHead, sender: Requester) -> "KnownHead | None":
        """Return what is kept of a message; None for one whose head has to be read each time."""
        fields = request.raw_headers
        names = [name.lower() for name, _ in fields]
        if b"content-length" not in names or b"expect" in names or request.version < HttpVersion11:
            return None
        at = names.index(b"content-length")
        return cls(request.raw_path, fields[:at], fields[at + 1 :], onward, sender)

    def onward_head(self, request: web.BaseRequest) -> RequestHead | None:
        """Return the head for the server of a request with the same head; None for any other request."""
        fields, at = request.raw_headers, len(self.before)
        is_same = request.method == "POST" and request.raw_path == self.target and request.version == HttpVersion11
        if not is_same or fields[:at] != self.before or fields[at + 1 :] != self.after:
            return None
        name, length = fields[at]
        return msgspec.structs.replace(self.onward, length=int(length)) if name.lower() == b"content-length" else None


class ClientRequest(web.BaseRequest):
    """A request as aiohttp reads it. Its answer has a version that the proxy serves, even if it cannot be read."""

    @reify
    def version(self) -> HttpVersion:
        """The version of the answer."""
        return HttpVersion10 if self._version == HttpVersion10 and self.method != ERROR.method else HttpVersion11


class ClientConnection(web.RequestHandler):
    """One connection. Requests that come before the last one is answered are queued."""

    def __init__(
        self, server: web.Server, connections: "OpenConnections[ClientConnection]", loop: asyncio.AbstractEventLoop
    ) -> None:
        limits = connections.limits
        super().__init__(
            server,
            loop=loop,
            keepalive_timeout=limits.idle_seconds,
            access_log=cast("Any", None),
            max_line_size=limits.head_bytes,
            max_field_size=limits.head_bytes,
            max_headers=limits.fields,
            lingering_time=_LINGER_SECONDS,
            read_bufsize=_READ_BUFFER,
            auto_decompress=False,
        )
        self._limits = limits
        self._all = connections
        self._socket: asyncio.Transport | None = None
        # The head that is being read: its segments, their bytes, and when it has to be complete.
        self._segments: list[bytes] = []
        self._head_bytes = 0
        self._head_due: float | None = None
        # How many requests were noted. Whether the head may offer another protocol, and how long the body of a request
        # is that does; -1 for chunks.
        self._noted = 0
        self._is_offer = False
        self._offered_length: int | None = None
        # The body of the last head.
        self._reading: aiohttp.StreamReader | None = None
        # The fault of each queued request that aiohttp has read; None if it has none.
        self._faults: deque[RequestRefusal | None] = deque()
        # The body of the request that is being handled: when its time began, and when which bytes of it came last.
        self._body: aiohttp.StreamReader | None = None
        self._body_since = self._body_moved = 0.0
        self._body_bytes: int = 0
        # The body of the last request that was answered.
        self._answered: aiohttp.StreamReader | None = None
        self.refusal: RequestRefusal | None = None
        # The head of the last message, for the front end.
        self.known: KnownHead | None = None
        # The last answer is written: what still comes is counted.
        self._is_lingering = False
        self._left_over = 0
        self._is_ending = False

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """A client connected: admit it, or refuse it."""
        super().connection_made(transport)
        self._socket = cast("asyncio.Transport", transport)
        self._head_due = self._loop.time() + self._limits.head_seconds
        if not self._all.admit(self):
            self.make_room()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Connection closed: aiohttp cancels its handler."""
        self._all.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Bytes of the client came: let aiohttp read them, a head no further than its limit."""
        if self.refusal is not None or self._force_close:
            # Nothing more is read.
            self._left_over += len(data) if self._is_lingering else 0
            if self._left_over > _LEFT_OVER:
                self.abort()
            return
        while True:
            is_head = self._reading is None or self._reading.is_eof()
            size = self._portion(data, is_head=is_head)
            part, data = data[:size], data[size:]
            if is_head and part:
                self._head_bytes += len(part)
                self._segments.append(part)
            super().data_received(part)
            if self._request_count != self._noted:
                self._note_heads(b"".join(self._segments) if is_head else part)
            elif is_head and part:
                if self._head_bytes >= self._limits.head_bytes:
                    self._refuse(LARGE_HEAD if b"\n" in b"".join(self._segments).strip() else LONG_TARGET)
                    return
                if self._head_due is None:
                    self._head_due = self._loop.time() + self._limits.head_seconds
            if not data:
                return

    # aiohttp

    def begin(self, request: web.BaseRequest) -> RequestRefusal | None:
        """Note that this request is handled now. Returns why it must not be; None for one that may be."""
        self._body = None if request.content.is_eof() else request.content
        if self._body is not None:
            self._body_since = self._body_moved = self._loop.time()
            self._body_bytes = self._body.total_bytes
        return self._faults.popleft() if self._faults else None

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Return the answer to a request that cannot be read, or whose handler failed."""
        del message
        if isinstance(exc, ConnectionError):
            # The client is gone.
            raise exc
        if status >= 500:
            self._loop.call_exception_handler({"message": "a request could not be handled", "exception": exc})
        if request.writer.output_size > 0:
            raise ConnectionError
        refusal = self.refusal = self.refusal or (NO_HTTP if status < 500 else FAILED)
        self._all.on_refused(*refusal)
        response = WholeResponse(status=refusal.status, text=refusal.words + "\n")
        response.force_close()
        return response

    async def finish_response(
        self, request: web.BaseRequest, resp: web.StreamResponse, start_time: float | None
    ) -> tuple[web.StreamResponse, bool]:
        """Write the answer. A client that is refused while it still sends gets some seconds to read why."""
        if self._is_ending or request.method == "CONNECT":
            resp.force_close()
        self._body, self._answered = None, request.content
        # What follows an offer to speak WebSocket is read now, as HTTP.
        tail = self._message_tail  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        answered = await super().finish_response(request, resp, start_time)
        if self._request_count != self._noted:
            self._note_heads(tail)  # pyright: ignore[reportUnknownArgumentType]
        if self.refusal is not None and not resp.keep_alive:
            self._is_lingering = True
            if self.transport is not None and self.transport.can_write_eof():
                self.transport.write_eof()
                await asyncio.sleep(_LINGER_SECONDS)
            self.force_close()
        elif not self._messages:
            self._all.note_idle(self)
        return answered

    # The limits on what it may use.

    def check(self, now: float) -> None:
        """Refuse a head or a body that takes too long."""
        if self._head_due is not None and now > self._head_due:
            self._head_due = None
            if self._head_bytes:
                self._refuse(LATE_HEAD)
            elif self._request_count == 0:
                self.force_close()
        body, limits = self._body, self._limits
        if body is None or body.is_eof():
            return
        if self._reading_paused:
            # The client cannot send meanwhile.
            self._body_since += now - self._body_moved
            self._body_moved = now
        elif body.total_bytes != self._body_bytes:
            self._body_bytes, self._body_moved = body.total_bytes, now
        in_all = limits.body_start_seconds + body.total_bytes / limits.body_rate
        if now - self._body_moved > limits.body_seconds or now - self._body_since > in_all:
            self._break_body(body, LATE_BODY)

    def make_room(self) -> None:
        """Close the connection, on which no request is complete, because there are too many."""
        status, words = CROWDED
        self._all.on_refused(status, words)
        head = f"HTTP/1.1 {status} Service Unavailable\r\nContent-Type: text/plain\r\nContent-Length: {len(words) + 1}"
        if self._socket is not None and not self._is_lingering:
            self._socket.write(f"{head}\r\nConnection: close\r\n\r\n{words}\n".encode())
        self.force_close()

    def shut(self) -> None:
        """Close the connection after the answer that is under way, or now if there is none."""
        self._is_ending = True
        if self._current_request is None and not self._messages:
            self.force_close()

    def abort(self) -> None:
        """Cut the connection."""
        if self._socket is not None:
            self._socket.abort()

    def _portion(self, data: bytes, *, is_head: bool) -> int:
        """Return how much of `data` the parser may get at once.

        Of a head no more than its limit. When a client offers another protocol, as Java's does with each first request,
        the parser drops what follows the request in the same piece: so it gets its head, and its body, by themselves.
        """
        if is_head:
            size = self._limits.head_bytes - self._head_bytes
            # The words that are looked for may be cut.
            before = self._segments[-1][-5:] if self._segments else b""
            window = before + data
            self._is_offer = self._is_offer or b"pgrade" in window.lower()
            if self._is_offer:
                end = window.find(_HEAD_END, max(0, len(before) - 3))
                size = size if end < 0 else min(size, end + len(_HEAD_END) - len(before))
            return size
        if self._offered_length is None or self._reading is None:
            return len(data)
        if self._offered_length < 0:
            return data.find(b"\n") + 1 or len(data)
        return max(1, self._offered_length - self._reading.total_bytes)

    def _note_heads(self, raw: bytes) -> None:
        """Note the requests that aiohttp has just queued, whose heads are in `raw`; the last may be an error."""
        number, self._noted = self._request_count - self._noted, self._request_count
        self._segments.clear()
        self._head_bytes, self._head_due = 0, None
        self._is_offer, self._offered_length = False, None
        for message, body in list(self._messages)[-number:]:
            error = getattr(message, "exc", None)
            if isinstance(message, RawRequestMessage):
                self._all.note_request(self)
                self._reading = body
                self._faults.append(_find_fault(message, raw))
                if message.upgrade:
                    self._offered_length = int(message.headers.get("Content-Length", "-1"))
                continue
            refusal = LARGE_HEAD if isinstance(error, LineTooLong) or "Too many" in str(error) else NO_HTTP
            if self._reading is not None and not self._reading.is_eof():
                if self._reading is not self._answered:
                    self._break_body(self._reading, refusal)
            elif self.refusal is None:
                self.refusal = refusal
        if len(self._messages) > _MOST_QUEUED and not self._buffer_paused:
            self._pause_reading_for_buffer()

    def _refuse(self, refusal: RequestRefusal) -> None:
        """Refuse the head that is being read, after the answers to the requests before it."""
        self.refusal = refusal
        super().data_received(_MALFORMED)

    def _break_body(self, body: aiohttp.StreamReader, refusal: RequestRefusal) -> None:
        """Let the reader of a body fail: the request is refused, or its answer cut."""
        self.refusal = refusal
        body.set_exception(BrokenBodyError(refusal.words))


def connection_of(request: web.BaseRequest) -> ClientConnection:
    """Return the connection that a request came over."""
    return cast("ClientConnection", request.protocol)


def _find_fault(message: RawRequestMessage, raw: bytes) -> RequestRefusal | None:
    """Return why a request must not be served that aiohttp has read; `raw` has its head.

    The parser takes whatever ends in `chunked`, with tabs around it, and the coding below would reach the server
    unannounced. In HTTP/1.0, which has no codings, something in front of us may have found another end of the body. It
    also takes RTSP/1.0 for HTTP/1.0.
    """
    coding = message.headers.get("Transfer-Encoding")
    if message.version == HttpVersion11 and coding is None:
        return None
    is_old = message.version == HttpVersion10
    if not is_old and message.version != HttpVersion11:
        return NO_VERSION
    if coding is not None and (coding.strip().lower() != "chunked" or is_old or _TAB_IN_CODING.search(raw)):
        return NO_CODING
    return NO_HTTP if is_old and _NOT_HTTP.search(raw) else None
