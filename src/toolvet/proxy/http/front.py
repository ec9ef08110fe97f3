"""The first handler of each HTTP request: it denies the request, answers it here, or passes it on to the server.

Messages that the session has to check are read; all other bodies pass as they arrive, in both directions.
"""

import re
from collections.abc import Callable, Mapping
from itertools import count
from typing import Final
from urllib.parse import unquote_to_bytes

import httptools
import msgspec

from toolvet.mcp.wire import DROPPED, HeadForm, RequestHead, ResponseHead, passed_fields
from toolvet.proxy.http.body import Body, BrokenBodyError, Responder
from toolvet.proxy.http.callers import Requester, sender_of
from toolvet.proxy.http.exchange import Exchange, is_event_stream, unreachable
from toolvet.proxy.http.proxied_server import ProxiedServer
from toolvet.proxy.http.request_filter import TOKEN_FIELD, Denied, RequestFilter
from toolvet.proxy.http.unread import UnreadRequest, is_endpoint, why_unread
from toolvet.proxy.http.upstream import UpstreamError
from toolvet.proxy.record.recorder import RecordSource

_TEXT: Final = b"text/plain; charset=utf-8"
_METRICS: Final = b"text/plain; version=0.0.4; charset=utf-8"
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


class _CachedHead(msgspec.Struct, frozen=True):
    """The form of a message's head as it came, and what was made of it."""

    form: HeadForm
    onward: RequestHead
    sender: Requester


class ConnectionHandler:
    """Handles the requests of one connection.

    Clients send the same head with each message, but for its length. What the first one said is remembered until
    another head comes: that is half of what an exchange costs. It may have credentials, so it is not kept any longer,
    nor for other connections.
    """

    __slots__ = ("_front", "_seen")

    def __init__(self, front: "FrontEnd") -> None:
        self._front = front
        self._seen: _CachedHead | None = None

    async def handle(self, head: RequestHead, body: Body, responder: Responder) -> None:
        """Handle one request from its head to the end of its answer."""
        front, seen = self._front, self._seen
        if seen is not None and head.form is seen.form:
            onward = msgspec.structs.replace(seen.onward, length=head.length)
            await front.exchange(onward, seen.sender, body, responder)
            return
        self._seen = None
        message = await front.handle(head, body, responder)
        if message is not None and head.form is not None:
            self._seen = _CachedHead(head.form, *message)


class FrontEnd:
    """Handles every request of every client. `render_metrics` returns the text for /metrics."""

    def __init__(self, server: ProxiedServer, request_filter: RequestFilter, render_metrics: Callable[[], str]) -> None:
        self.server = server
        self._filter = request_filter
        self._render_metrics = render_metrics
        self._replaced = _REPLACED | {name.lower() for name, _ in server.address.headers}
        self._numbers = count(1)

    async def handle(self, head: RequestHead, body: Body, responder: Responder) -> tuple[RequestHead, Requester] | None:
        """Handle one request from its head to the end of its answer.

        Returns the head for the server and the sender for a message that was read; None for any other request.
        """
        # Health probes carry no token, and /healthz reveals nothing.
        if head.target == b"/healthz" and head.method in _READING:
            responder.send(_head(200, b"OK", _TEXT), b"ok\n")
            return None
        if head.method in _NEVER:
            self._deny(Denied(405, "the proxy does not serve this method"), responder)
            return None
        denied = self._filter.denies(head)
        if denied is not None:
            self._deny(denied, responder)
            return None
        if not head.target.startswith(b"/") and not _reduce(head):
            self._deny(Denied(400, "the proxy serves paths only"), responder)
            return None
        if not _is_sound(head.target):
            self._deny(Denied(400, "the path is malformed"), responder)
            return None
        if head.target == b"/metrics" and head.method in _READING:
            metrics = self._render_metrics() + self.server.refusals.render()
            responder.send(_head(200, b"OK", _METRICS), metrics.encode())
            return None
        onward = self._onward_head(head)
        try:
            unread = why_unread(head)
            # Gateways from HTTP/2 announce a body in chunks for a GET or DELETE, and send none.
            if unread is not None and head.get(b"transfer-encoding") is not None and await body.is_empty():
                unread = None
            if unread is not None and self._refuses(unread, head, responder):
                return None
            if head.method != b"POST" or unread is not None:
                await self._pass(onward, body, responder)
                return None
        except UpstreamError as error:
            responder.send(*unreachable(error, None))
            return None
        except BrokenBodyError:
            responder.abort()
            return None
        sender = sender_of(onward, self.server.callers)
        await self.exchange(onward, sender, body, responder)
        return onward, sender

    async def exchange(self, onward: RequestHead, sender: Requester, body: Body, responder: Responder) -> None:
        """Pass a message on, through a session."""
        try:
            await Exchange(self.server, onward, sender, responder, self._origin()).run(body)
        except UpstreamError as error:
            responder.send(*unreachable(error, None))
        except BrokenBodyError:
            responder.abort()

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

    async def _pass(self, onward: RequestHead, body: Body, responder: Responder) -> None:
        """Pass on a request that is not a message: a stream is opened, a session is ended, a page is read."""
        response = await self.server.upstream.send(onward, body)
        try:
            if onward.method == b"GET" and is_event_stream(response.head):
                sender = sender_of(onward, self.server.callers)
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
        return RequestHead(
            head.method, target, fields, version=head.version, length=int(length) if length is not None else None
        )


def _reduce(head: RequestHead) -> bool:
    """Replace `http://host/path` in the request line with its path. Returns False where that is not possible."""
    try:
        url = httptools.parse_url(head.target)
    except httptools.HttpParserInvalidURLError:
        return False
    if not url.schema:
        return False
    head.target = (url.path or b"/") + (b"?" + url.query if url.query else b"")
    return True


def _is_sound(target: bytes) -> bool:
    """Whether the path of a target has right escapes, and leads nowhere above the root; as nginx sees it.

    >>> [_is_sound(target) for target in (b"/a/%2e%2e/b", b"/..", b"/%2e./a", b"/%zz", b"/a%00", b"/a?b=%zz")]
    [True, False, False, False, False, True]
    """
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
