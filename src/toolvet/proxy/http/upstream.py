"""The HTTP side that asks: requests to one origin over kept connections, answers as they arrive."""

import asyncio
import ssl
from collections.abc import Callable
from time import monotonic
from typing import Final, Protocol, cast
from urllib.parse import urlsplit

import httptools
import msgspec

from toolvet.errors import UsageError
from toolvet.mcp.transport import check_certificates, mask_url
from toolvet.mcp.wire import (
    BodyWriter,
    Field,
    RequestHead,
    ResponseHead,
    announced_length,
    answer_framing,
    encode_request_head,
)
from toolvet.proxy.http.body import Body, BrokenBodyError
from toolvet.proxy.http.handling import OneTimeEvent, in_turn, need_task
from toolvet.proxy.http.known_head import KnownAnswer

# Servers close idle connections, uvicorn and Node after five seconds. A request on such a connection is lost, and a
# call must not be sent twice, so the proxy drops an idle connection earlier.
_IDLE_SECONDS: Final = 4.0
# As many as there may be connections of clients: with fewer kept, each burst of answers closed some, and the next burst
# of requests opened them again, which doubled the processor's time of a call with 300 clients.
_MOST_IDLE: Final = 1000
_CONNECT_SECONDS: Final = 10.0
_SAFE_METHODS: Final = frozenset({b"GET", b"HEAD", b"OPTIONS"})


class UpstreamError(Exception):
    """The server did not answer; the message says why. `sent` is True when it may have received the request."""

    def __init__(self, why: str, *, sent: bool) -> None:
        self.sent = sent
        super().__init__(why)


class UpstreamResponse(msgspec.Struct):
    """An answer: its head, and its body as it arrives. Call `close` when no more of it is wanted.

    `is_ours` is set for an error that the proxy made, because the server does not answer.
    """

    head: ResponseHead
    body: Body
    close: Callable[[], None]
    is_ours: bool = False


class Upstream(Protocol):
    """Where requests go: a server at a URL, or one on pipes behind a bridge."""

    @property
    def name(self) -> str:
        """The server's name for the record, safe to print."""
        ...

    async def send(self, head: RequestHead, body: Body) -> UpstreamResponse:
        """Send a request whose fields are ready and return the answer. Raises UpstreamError."""
        ...

    async def close(self, seconds: float) -> None:
        """Close all connections, or end all processes: each has this many seconds to end by itself."""
        ...


class HttpUpstream:
    """A server at a URL. Raises UsageError for a URL that cannot be used."""

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise UsageError(f"{mask_url(url)} is no URL: {error}") from error
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise UsageError(f"{mask_url(url)} is no URL of an MCP server: it needs http:// or https:// and a host")
        if parts.username is not None:
            raise UsageError(f"{mask_url(url)} names a user: let the client send credentials, the proxy passes them on")
        if not url.isascii() or not url.isprintable() or " " in url:
            raise UsageError(f"{mask_url(url)} has characters that no URL may have")
        self.name = mask_url(url)
        self._is_tls = parts.scheme == "https"
        if self._is_tls:
            check_certificates()
        self._host = parts.hostname
        self._port = port if port is not None else 443 if self._is_tls else 80
        self._authority = parts.netloc.encode()
        self.path = (parts.path or "/").encode()
        self.target = self.path + (b"?" + parts.query.encode() if parts.query else b"")
        self.origin = f"{parts.scheme}://{parts.netloc}".encode()
        self._ssl: ssl.SSLContext | None = None
        # In the order in which they came to rest; the last is taken first, so that the others can be closed.
        self._idle: dict[ServerConnection, None] = {}
        # The head of the last answer, which mostly is that of the next one.
        self.known: KnownAnswer | None = None
        self._sweep: asyncio.TimerHandle | None = None
        self._busy: set[ServerConnection] = set()

    async def send(self, head: RequestHead, body: Body) -> UpstreamResponse:
        """Send a request and return the answer. Raises UpstreamError.

        A request that the server cannot have acted on is sent again, over a new connection.
        """
        while True:
            connection = self._take()
            is_fresh = connection is None
            if connection is None:
                connection = await self._connect()
            self._busy.add(connection)
            try:
                return await connection.ask(head, self._authority, body)
            except BrokenBodyError as error:
                connection.abort()
                if is_fresh or head.method not in _SAFE_METHODS or body.received:
                    raise UpstreamError(str(error), sent=True) from error
            except BaseException:
                connection.abort()
                raise

    async def close(self, seconds: float) -> None:
        """Close all connections, at once."""
        del seconds
        if self._sweep is not None:
            self._sweep.cancel()
        for connection in (*self._idle, *self._busy):
            connection.abort()

    def release(self, connection: "ServerConnection") -> None:
        """Keep a connection for the next request."""
        self._busy.discard(connection)
        if len(self._idle) < _MOST_IDLE:
            connection.idle_until = monotonic() + min(_IDLE_SECONDS, connection.patience)
            self._idle[connection] = None
            if self._sweep is None:
                self._sweep = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._close_rested)
        else:
            connection.abort()

    def forget(self, connection: "ServerConnection") -> None:
        """Forget a connection that was closed."""
        self._busy.discard(connection)
        self._idle.pop(connection, None)

    def _close_rested(self) -> None:
        """Close the connections that rested for too long, and come again as long as there are any."""
        now = monotonic()
        for connection in [each for each in self._idle if now >= each.idle_until]:
            del self._idle[connection]
            connection.abort()
        loop = asyncio.get_running_loop()
        self._sweep = loop.call_later(_IDLE_SECONDS, self._close_rested) if self._idle else None

    def _take(self) -> "ServerConnection | None":
        now = monotonic()
        while self._idle:
            connection = self._idle.popitem()[0]
            if connection.is_open and now < connection.idle_until:
                return connection
            connection.abort()
        return None

    async def _connect(self) -> "ServerConnection":
        if self._is_tls and self._ssl is None:
            # 18 ms for all root certificates: once, and only where they are needed.
            self._ssl = ssl.create_default_context()
            self._ssl.set_alpn_protocols(["http/1.1"])
        loop = asyncio.get_running_loop()
        await need_task()
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                _, connection = await loop.create_connection(
                    lambda: ServerConnection(self), self._host, self._port, ssl=self._ssl
                )
        except TimeoutError as error:
            raise UpstreamError("no connection could be made in time", sent=False) from error
        except OSError as error:
            raise UpstreamError(_describe_error(error), sent=False) from error
        return connection


class ServerConnection(asyncio.Protocol):
    """One connection to the server, one request at a time."""

    def __init__(self, owner: HttpUpstream) -> None:
        self._owner = owner
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._fields: list[Field] = []
        self._reason = b""
        # Comes with the head of the answer, or with the end of the connection; None while nothing was asked.
        self._answer: OneTimeEvent | None = None
        self._response: UpstreamResponse | None = None
        self._broken = ""
        self._body: Body | None = None
        self._method = b""
        self._until_eof = False
        self._in_head = True
        # The segments that the head came in; `_begun` from its first byte to the end of the message.
        self._segments: list[bytes] = []
        self._begun = False
        # How much of a body is missing that came after a known head: neither is parsed.
        self._missing = 0
        self._keep = False
        self._upload: asyncio.Task[None] | None = None
        self._drained: asyncio.Future[None] | None = None
        self._paused_writing = False
        self.is_open = False
        self.idle_until = 0.0
        self.patience = _IDLE_SECONDS

    async def ask(self, head: RequestHead, authority: bytes, body: Body) -> UpstreamResponse:
        """Send a request and wait for the head of its answer. Raises BrokenBodyError when the connection ends first."""
        self._method = head.method
        answer = self._answer = OneTimeEvent()
        if body.done:
            # A body that failed meanwhile raises here, before any of it is sent.
            data = await body.read()
            length = len(data) if data or head.method == b"POST" else None
            self._write(encode_request_head(head, authority, length) + data)
        else:
            self._upload = self._loop.create_task(self._send_body(head, authority, body))
        await answer
        response, self._response = self._response, None
        if response is None:
            raise BrokenBodyError(self._broken)
        return response

    async def _send_body(self, head: RequestHead, authority: bytes, body: Body) -> None:
        length = head.length
        writer = BodyWriter("chunked" if length is None else "length")
        self._write(encode_request_head(head, authority, "chunked" if length is None else length))
        try:
            while data := await body.read():
                self._write(writer.write(data))
                if self._paused_writing and self.is_open:
                    self._drained = self._loop.create_future()
                    await self._drained
        except BrokenBodyError:
            # Half a request must not look like a complete one.
            self.abort()
            return
        last = writer.end()
        if last:
            self._write(last)

    def abort(self) -> None:
        """Close the connection at once."""
        self.is_open = False
        if self._upload is not None:
            self._upload.cancel()
        if self._transport is not None:
            self._transport.abort()

    def _write(self, data: bytes) -> None:
        if self._transport is not None and self.is_open:
            self._transport.write(data)

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection is open."""
        self._transport = cast("asyncio.Transport", transport)
        self.is_open = True

    def connection_lost(self, exc: Exception | None) -> None:
        """Connection closed: fail what still waits for the server."""
        self.is_open = False
        self._owner.forget(self)
        why = "the server closed the connection" if exc is None else _describe_error(exc)
        if self._upload is not None:
            self._upload.cancel()
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)
        if self._body is not None:
            if self._until_eof and exc is None:
                self._body.finish()
            else:
                self._body.fail(f"{why} in the middle of its answer")
        else:
            self._break_off(f"{why} before it answered")

    def _break_off(self, why: str) -> None:
        """Tell the one who asked that no answer will come."""
        if self._answer is not None and not self._answer.is_set:
            self._broken = why
            self._answer.set()

    def data_received(self, data: bytes) -> None:
        """Bytes of the server came: parse them, and let the one go on who asked."""
        in_turn(self._receive, data)

    def _receive(self, data: bytes) -> None:
        if self._answer is None:
            # Bytes without a request: the connection cannot be trusted any more.
            self.abort()
            return
        while data:
            data = self._feed_part(data)

    def _feed_part(self, data: bytes) -> bytes:
        """Read the head of an answer that came before, or its body, or parse all there is. Returns the rest."""
        answer, known = self._answer, self._owner.known
        if self._missing:
            part, rest = data[: self._missing], data[self._missing :]
            self._missing -= len(part)
            self.on_body(part)
            if not self._missing:
                self.on_message_complete()
            return rest
        if known is not None and not self._begun and self._method == b"POST" and answer is not None:
            found = None if answer.is_set else known.form.find_length(data)
            if found is not None and found[0]:
                self._missing = found[0]
                self._until_eof, self._keep = False, True
                self._begin(known.head(found[0]), known.patience)
                return data[found[1] :]
        if not self._begun:
            self._segments.clear()
        if self._body is None:
            self._segments.append(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._fail("what it sent is not HTTP/1.1")
        return b""

    def pause_writing(self) -> None:
        """The server reads more slowly than the client sends."""
        self._paused_writing = True

    def resume_writing(self) -> None:
        """The server caught up."""
        self._paused_writing = False
        if self._drained is not None and not self._drained.done():
            self._drained.set_result(None)

    # httptools

    def on_message_begin(self) -> None:
        """An answer begins."""
        self._fields, self._reason, self._in_head, self._begun = [], b"", True, True

    def on_status(self, reason: bytes) -> None:
        """Add a part of the reason phrase."""
        self._reason += reason

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header field; trailers are dropped."""
        if self._in_head:
            self._fields.append((name, value))

    def on_headers_complete(self) -> None:
        """The head is complete: hand the answer over."""
        self._in_head = False
        status = self._parser.get_status_code()
        answer = self._answer
        if status < 200 or answer is None or answer.is_set:
            return
        head = ResponseHead(status, self._reason, self._fields)
        head.length = announced_length(head)
        self._until_eof = answer_framing(self._method, head) == "close"
        self._keep = self._parser.should_keep_alive() and not self._until_eof
        patience = _patience(head.get(b"keep-alive"))
        if self._keep and answer_framing(b"POST", head) == "length":
            self._owner.known = KnownAnswer.of(head, b"".join(self._segments), patience)
        self._begin(head, patience)
        if self._method == b"HEAD":
            # The parser would wait for the body that Content-Length announces.
            self._keep = False
            self._finish()

    def _begin(self, head: ResponseHead, patience: float) -> None:
        """Hand the answer over with this head; its body follows."""
        self.patience = patience
        self._body = Body(self._pause, self._resume)
        self._response = UpstreamResponse(head, self._body, self._close_response)
        if self._answer is not None:
            self._answer.set()

    def on_body(self, data: bytes) -> None:
        """Add a part of the body."""
        if self._body is not None:
            self._body.feed(data)

    def on_message_complete(self) -> None:
        """The message is complete; 100 Continue was not the answer yet."""
        self._begun = False
        if self._body is not None and not self._until_eof:
            self._finish()

    def _finish(self) -> None:
        body, self._body = self._body, None
        self._answer = None
        uploading = self._upload is not None and not self._upload.done()
        self._upload = None if not uploading else self._upload
        if self._keep and self.is_open and not uploading:
            self._owner.release(self)
        else:
            self.abort()
        if body is not None:
            body.finish()

    def _close_response(self) -> None:
        """Stop reading: with the rest of the answer under way, the connection cannot be used again."""
        if self._body is not None:
            self.abort()

    def _fail(self, why: str) -> None:
        if self._body is not None:
            self._body.fail(why)
        else:
            self._break_off(why)
        self.abort()

    def _pause(self) -> None:
        if self._transport is not None and self.is_open:
            self._transport.pause_reading()

    def _resume(self) -> None:
        if self._transport is not None and self.is_open:
            self._transport.resume_reading()


def _patience(value: bytes | None) -> float:
    """Return how many seconds to keep an idle connection: a second less than the server's `Keep-Alive: timeout=…`."""
    for part in (value or b"").split(b","):
        name, _, seconds = part.strip().partition(b"=")
        if name.lower() == b"timeout" and seconds.isdigit() and len(seconds) < 9:
            return max(0.0, float(seconds) - 1.0)
    return _IDLE_SECONDS


def _describe_error(error: BaseException) -> str:
    match error:
        case ConnectionRefusedError():
            return "the connection was refused"
        case ConnectionResetError() | BrokenPipeError():
            return "the connection was reset"
        case ssl.SSLCertVerificationError():
            return f"its TLS certificate is not trusted ({error.verify_message})"
        case ssl.SSLError():
            return "TLS failed; does it speak https?"
        case _:
            return f"it cannot be reached ({type(error).__name__})"
