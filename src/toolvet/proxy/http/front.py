"""A request of a client over HTTP, and what becomes of it: denied, answered here, or passed on to the server.

Messages that the session has to see are read; all other bodies pass as they arrive, in both directions.
"""

from collections.abc import Callable, Mapping
from itertools import count
from typing import Final

import httptools

from toolvet.proxy.http.body import Body, BrokenBodyError
from toolvet.proxy.http.exchange import Exchange, is_event_stream, unreachable
from toolvet.proxy.http.guard import TOKEN_FIELD, Denied, Guard
from toolvet.proxy.http.server import Responder
from toolvet.proxy.http.service import Service
from toolvet.proxy.http.upstream import UpstreamError
from toolvet.proxy.record.recorder import RecordSource
from toolvet.wire.http_head import DROPPED, RequestHead, ResponseHead, passing

_TEXT: Final = b"text/plain; charset=utf-8"
_METRICS: Final = b"text/plain; version=0.0.4; charset=utf-8"
_CONTENT_TYPE: Final = b"content-type"
_ASKING: Final = frozenset({b"GET", b"HEAD"})


class Front:
    """Handles every request of every client. `render_metrics` gives what /metrics shows."""

    def __init__(self, service: Service, guard: Guard, render_metrics: Callable[[], str]) -> None:
        self.service = service
        self._guard = guard
        self._render_metrics = render_metrics
        self._replaced = _REPLACED | {name.lower() for name, _ in service.address.headers}
        self._numbers = count(1)

    async def handle(self, head: RequestHead, body: Body, responder: Responder) -> None:
        """One request from its head to the end of its answer."""
        # Whoever watches over processes has no token, and learns nothing here.
        if head.target == b"/healthz" and head.method in _ASKING:
            responder.send(_told(200, b"OK", _TEXT), b"ok\n")
            return
        denied = self._guard.denies(head)
        if denied is not None:
            _deny(denied, responder)
            return
        if not head.target.startswith(b"/") and not _reduce(head):
            responder.send(_told(400, b"Bad Request", _TEXT), b"the proxy serves paths only\n")
            return
        if head.target == b"/metrics" and head.method in _ASKING:
            responder.send(_told(200, b"OK", _METRICS), self._render_metrics().encode())
            return
        onward = self._onward(head)
        try:
            if head.method == b"POST" and _is_json(head):
                await Exchange(self.service, onward, responder, self._origin()).run(body)
            else:
                await self._pass(onward, body, responder)
        except UpstreamError as error:
            responder.send(*unreachable(error, None))
        except BrokenBodyError:
            responder.abort()

    async def _pass(self, onward: RequestHead, body: Body, responder: Responder) -> None:
        """No message of the client's: a stream that is opened, a session that is ended, a page of the server's."""
        response = await self.service.upstream.send(onward, body)
        try:
            if onward.method == b"GET" and is_event_stream(response.head):
                await Exchange(self.service, onward, responder, self._origin()).watch(response)
                return
            if onward.method == b"DELETE" and response.head.status < 300:
                self.service.callers.closed(onward)
            await self.service.stream(response, responder)
        finally:
            response.close()

    def _origin(self) -> RecordSource:
        return RecordSource(self.service.upstream.name, f"{self.service.prefix}{next(self._numbers)}", "tcp")

    def _onward(self, head: RequestHead) -> RequestHead:
        """The request as the server gets it."""
        address, guard = self.service.address, self._guard
        fields = [field for field in passing(head.fields, self._replaced) if not guard.is_token(*field)]
        # What is compressed cannot be read.
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


_REPLACED: Final = DROPPED | {b"accept-encoding", b"origin", TOKEN_FIELD}


def _is_json(head: RequestHead) -> bool:
    kind = (head.get(_CONTENT_TYPE) or b"").partition(b";")[0].strip().lower()
    return kind in {b"application/json", b""} and head.get(b"content-encoding") is None


def _reduce(head: RequestHead) -> bool:
    """`http://host/path` in the request line → its path. Whether that could be done."""
    try:
        url = httptools.parse_url(head.target)
    except httptools.HttpParserInvalidURLError:
        return False
    if head.method == b"CONNECT" or not url.schema:
        return False
    head.target = (url.path or b"/") + (b"?" + url.query if url.query else b"")
    return True


def _told(status: int, reason: bytes, kind: bytes, more: Mapping[bytes, bytes] | None = None) -> ResponseHead:
    return ResponseHead(status, reason, [(b"Content-Type", kind), *(more or {}).items()])


def _deny(denied: Denied, responder: Responder) -> None:
    reasons = {401: b"Unauthorized", 403: b"Forbidden", 421: b"Misdirected Request"}
    more = {b"WWW-Authenticate": b'Bearer realm="toolvet"'} if denied.status == 401 else None
    responder.send(_told(denied.status, reasons[denied.status], _TEXT, more), denied.why.encode() + b"\n")
