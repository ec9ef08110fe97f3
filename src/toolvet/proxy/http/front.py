"""The first handler of each HTTP request: it denies the request, answers it here, or passes it on to the server.

Messages that the session has to check are read; all other bodies pass as they arrive, in both directions.
"""

import re
from collections.abc import Callable, Mapping
from itertools import count
from typing import Final
from urllib.parse import unquote_to_bytes, urlsplit

from aiohttp import HttpVersion11, web

from toolvet.proxy.http.callers import sender_of
from toolvet.proxy.http.client_connection import KnownHead, connection_of
from toolvet.proxy.http.exchange import Exchange, is_event_stream, unreachable
from toolvet.proxy.http.message import (
    DROPPED,
    BrokenBodyError,
    ReceivedBody,
    RequestHead,
    Responder,
    ResponseHead,
    is_legal,
    passed_fields,
)
from toolvet.proxy.http.proxied_server import ProxiedServer
from toolvet.proxy.http.request_filter import TOKEN_FIELD, Denied, RequestFilter
from toolvet.proxy.http.unread import UnreadRequest, is_endpoint, why_unread
from toolvet.proxy.http.upstream import UpstreamError
from toolvet.proxy.record.recorder import RecordSource

_TEXT: Final = b"text/plain; charset=utf-8"
_METRICS: Final = b"text/plain; version=0.0.4; charset=utf-8"
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_READING: Final = frozenset({b"GET", b"HEAD"})
# A tunnel would lead past the proxy; the answer to TRACE repeats credentials.
_NEVER: Final = frozenset({b"CONNECT", b"TRACE"})
_REPLACED: Final = DROPPED | {b"accept-encoding", b"origin", TOKEN_FIELD}
_REASONS: Final = {
    400: b"Bad Request",
    401: b"Unauthorized",
    403: b"Forbidden",
    405: b"Method Not Allowed",
    421: b"Misdirected Request",
}
# A NUL ends a path for programs in C.
_WRONG_ESCAPE: Final = re.compile(rb"%(?:00|(?![0-9A-Fa-f]{2}))")


class FrontEnd:
    """Handles every request of every client. `render_metrics` returns the text for /metrics."""

    def __init__(self, server: ProxiedServer, request_filter: RequestFilter, render_metrics: Callable[[], str]) -> None:
        self.server = server
        self._filter = request_filter
        self._render_metrics = render_metrics
        self._replaced = _REPLACED | {name.lower() for name, _ in server.address.headers}
        self._numbers = count(1)

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """Handle one request from its head to the end of its answer."""
        connection = connection_of(request)
        responder = Responder(request)
        try:
            fault = connection.begin(request)
            if fault is not None:
                connection.refusal = fault
                return connection.handle_error(request, 400)
            await self._answer(request, responder)
        except UpstreamError as error:
            responder.send(*unreachable(error, None))
        except BrokenBodyError:
            if responder.begun:
                responder.abort()
            else:
                return connection.handle_error(request, 400)
        if responder.response is None:
            raise ConnectionError
        return responder.response

    async def _answer(self, request: web.BaseRequest, responder: Responder) -> None:
        """Answer here, or pass the request on. Raises UpstreamError and BrokenBodyError."""
        connection = connection_of(request)
        body = ReceivedBody(request.content, "client")
        known = connection.known
        if known is not None:
            onward = known.onward_head(request)
            if onward is not None:
                await Exchange(self.server, onward, known.sender, responder, self._origin()).run(body)
                return
            connection.known = None
        head = read_head(request)
        # Health probes carry no token, and /healthz reveals nothing.
        if head.target == b"/healthz" and head.method in _READING:
            responder.send(_head(200, b"OK", _TEXT), b"ok\n")
            return
        denied = self._denies(head)
        if denied is not None:
            self._deny(denied, responder)
            return
        if head.target == b"/metrics" and head.method in _READING:
            metrics = self._render_metrics() + self.server.refusals.render()
            responder.send(_head(200, b"OK", _METRICS), metrics.encode())
            return
        onward = self._onward_head(head)
        unread = why_unread(head)
        if (head.get(b"expect") or b"").lower() == b"100-continue" and request.version >= HttpVersion11:
            await request.writer.write(_CONTINUE)
            request.writer.output_size = 0
        is_empty = request.content.at_eof()
        # Gateways from HTTP/2 announce a body in chunks for a GET or DELETE, and send none.
        if unread is not None and head.get(b"transfer-encoding") is not None:
            is_empty = await body.is_empty()
            unread = None if is_empty else unread
        if unread is not None and self._refuses(unread, head, responder):
            return
        if head.method != b"POST" or unread is not None:
            await self._pass(onward, b"" if is_empty else body, responder)
            return
        sender = sender_of(onward, self.server.callers, self.server.complain)
        connection.known = KnownHead.of(request, onward, sender)
        await Exchange(self.server, onward, sender, responder, self._origin()).run(body)

    def _denies(self, head: RequestHead) -> Denied | None:
        """Return why this request is denied, as its head is; None for one that may pass."""
        if head.method in _NEVER:
            return Denied(405, "the proxy does not serve this method")
        denied = self._filter.denies(head)
        if denied is not None:
            return denied
        if not head.target.startswith(b"/") and not _reduce(head):
            return Denied(400, "the proxy serves paths only")
        if not _is_sound(head.target):
            return Denied(400, "the path is malformed")
        if not all(map(is_legal, head.fields)):
            return Denied(400, "a field has a control character in it")
        return None

    def _deny(self, denied: Denied, responder: Responder) -> None:
        """Refuse a request by what its head says."""
        self.server.refusals.take(denied.status, denied.why)
        more = {b"WWW-Authenticate": b'Bearer realm="toolvet"'} if denied.status == 401 else None
        head = _head(denied.status, _REASONS[denied.status], _TEXT, more)
        responder.send(head, denied.why.encode() + b"\n")

    def _refuses(self, unread: UnreadRequest, head: RequestHead, responder: Responder) -> bool:
        """Refuse a request that cannot be checked, or record that it passes; other paths than the endpoint's pass."""
        if is_endpoint(head.target, self.server.address.path):
            return self.server.refuses(unread, self._origin(), responder)
        self.server.record_unread(unread, self._origin())
        return False

    async def _pass(self, onward: RequestHead, body: ReceivedBody | bytes, responder: Responder) -> None:
        """Pass on a request that is not a message: a stream is opened, a session is ended, a page is read."""
        response = await self.server.upstream.send(onward, body)
        try:
            if onward.method == b"GET" and is_event_stream(response.head):
                sender = sender_of(onward, self.server.callers, self.server.complain)
                await Exchange(self.server, onward, sender, responder, self._origin()).watch(response)
                return
            if onward.method == b"DELETE" and response.head.status < 300:
                self.server.callers.forget(onward)
            await self.server.stream(response, responder)
        finally:
            response.close()

    def _origin(self) -> RecordSource:
        return RecordSource(self.server.upstream.name, f"{self.server.prefix}{next(self._numbers)}", "tcp")

    def _onward_head(self, head: RequestHead) -> RequestHead:
        """Return the head as the server gets it."""
        address, request_filter = self.server.address, self._filter
        fields = [field for field in passed_fields(head.fields, self._replaced) if not request_filter.is_token(*field)]
        # A compressed answer could not be checked.
        fields.append((b"Accept-Encoding", b"identity"))
        origin = head.get(b"origin")
        if origin is not None:
            ours = origin.partition(b"://")[2] == head.get(b"host")
            fields.append((b"Origin", address.origin if ours and address.origin else origin))
        fields += address.headers
        target = address.target if head.target in {b"/", address.path} else head.target
        length = head.get(b"content-length")
        return RequestHead(head.method, target, fields, length=int(length) if length is not None else None)


def read_head(request: web.BaseRequest) -> RequestHead:
    """Return the head of a request, as the bytes that came."""
    target = request.raw_path.encode("utf-8", "surrogateescape")
    return RequestHead(request.method.encode(), target, list(request.raw_headers))


def _reduce(head: RequestHead) -> bool:
    """Replace `http://host/path` in the request line with its path. Returns False if that is not possible."""
    url = urlsplit(head.target)
    if url.scheme not in {b"http", b"https"}:
        return False
    head.target = (url.path or b"/") + (b"?" + url.query if url.query else b"")
    return True


def _is_sound(target: bytes) -> bool:
    """Whether a target is ASCII without a fragment, has right escapes in its path, and leads nowhere above the root.

    >>> [_is_sound(target) for target in (b"/a/%2e%2e/b", b"/..", b"/%2e./a", b"/%zz", b"/a%00", b"/a?b=%zz", b"/#a")]
    [True, False, False, False, False, True, False]
    """
    if not target.isascii() or b"#" in target:
        return False
    path = target.partition(b"?")[0]
    if b"%" in path:
        if _WRONG_ESCAPE.search(path):
            return False
        path = unquote_to_bytes(path)
    if b"/.." not in path:
        return True
    depth = 0
    for part in path.split(b"/"):
        depth += -1 if part == b".." else part not in {b"", b"."}
        if depth < 0:
            return False
    return True


def _head(status: int, reason: bytes, media_type: bytes, more: Mapping[bytes, bytes] | None = None) -> ResponseHead:
    return ResponseHead(status, reason, [(b"Content-Type", media_type), *(more or {}).items()])
