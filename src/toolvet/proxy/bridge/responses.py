"""The HTTP responses that the bridge itself makes."""

from collections.abc import Callable
from typing import Final

from toolvet.mcp.wire import Field, Id, ResponseHead, encode_error
from toolvet.proxy.http.body import Body, complete_body
from toolvet.proxy.http.upstream import UpstreamResponse

_JSON: Final = (b"Content-Type", b"application/json")
# Nothing between us and the client may keep events back.
_EVENTS: Final = (
    (b"Content-Type", b"text/event-stream"),
    (b"Cache-Control", b"no-cache, no-transform"),
    (b"X-Accel-Buffering", b"no"),
)
_REASONS: Final = {
    200: b"OK",
    202: b"Accepted",
    400: b"Bad Request",
    404: b"Not Found",
    405: b"Method Not Allowed",
    406: b"Not Acceptable",
    409: b"Conflict",
    413: b"Content Too Large",
    415: b"Unsupported Media Type",
    502: b"Bad Gateway",
    503: b"Service Unavailable",
}


def text_response(status: int, words: bytes = b"", *more: Field) -> UpstreamResponse:
    """Return a response in plain text; without words it has no body."""
    fields = [*([(b"Content-Type", b"text/plain; charset=utf-8")] if words else []), *more]
    return UpstreamResponse(_head(status, fields, len(words)), complete_body(words), _nothing)


def error_response(status: int, reply_to: Id | None, code: int, words: str) -> UpstreamResponse:
    """Return a JSON-RPC error of the bridge."""
    return json_response(encode_error(reply_to, code, words), status)


def json_response(message: bytes, status: int = 200) -> UpstreamResponse:
    """Return one message."""
    # A server on pipes has no statuses: a 502 is an error that we made in its place.
    return UpstreamResponse(_head(status, [_JSON], len(message)), complete_body(message), _nothing, status == 502)


def stream_response(body: Body, close: Callable[[], None]) -> UpstreamResponse:
    """Return a stream of events. `close` is called when the client no longer reads it."""
    return UpstreamResponse(_head(200, list(_EVENTS)), body, close)


def _head(status: int, fields: list[Field], length: int | None = None) -> ResponseHead:
    return ResponseHead(status, _REASONS[status], fields, length)


def _nothing() -> None:
    pass
