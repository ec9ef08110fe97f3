"""The HTTP responses that the bridge itself makes: one message, or a stream of events whose client may come back."""

import asyncio
from collections.abc import Callable, Collection
from typing import Final

from toolvet.mcp.wire import Id, Oversize, encode_error, reply_hint
from toolvet.proxy.http.message import Body, FedBody, Field, ResponseHead
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
# An intermediary may close a stream that is silent for longer; both official SDKs send a comment this often.
PING_SECONDS: Final = 15.0
_PING: Final = b": ping\n\n"


def text_response(status: int, words: bytes = b"", *more: Field) -> UpstreamResponse:
    """Return a response in plain text; without words it has no body."""
    fields = [*([(b"Content-Type", b"text/plain; charset=utf-8")] if words else []), *more]
    return UpstreamResponse(_head(status, fields, len(words)), FedBody(words, done=True), _nothing)


def error_response(status: int, reply_to: Id | None, code: int, words: str) -> UpstreamResponse:
    """Return a JSON-RPC error of the bridge."""
    return json_response(encode_error(reply_to, code, words), status)


def json_response(message: bytes, status: int = 200) -> UpstreamResponse:
    """Return one message."""
    # A server on pipes has no statuses: a 502 is an error that we made in its place.
    return UpstreamResponse(_head(status, [_JSON], len(message)), FedBody(message, done=True), _nothing, status == 502)


def stream_response(body: Body, close: Callable[[], None]) -> UpstreamResponse:
    """Return a stream of events. `close` is called when the client no longer reads it."""
    return UpstreamResponse(_head(200, list(_EVENTS)), body, close)


def _head(status: int, fields: list[Field], length: int | None = None) -> ResponseHead:
    return ResponseHead(status, _REASONS[status], fields, length)


def _nothing() -> None:
    pass


class EventStream:
    """Feeds events to the connection that it has at the moment, and a comment now and then while it is silent."""

    def __init__(self) -> None:
        self._body: FedBody | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_connected(self) -> bool:
        """Whether a client reads it."""
        return self._body is not None

    def connect(self, left: Callable[[], None] | None = None) -> UpstreamResponse:
        """Return a response with what is fed from now on; an older connection ends. `left` is called when it closes."""
        self.finish()
        body = self._body = FedBody()
        self._timer = asyncio.get_running_loop().call_later(PING_SECONDS, self._ping)

        def close() -> None:
            if self._body is body:
                self._disconnect()
                if left is not None:
                    left()

        return stream_response(body, close)

    def feed(self, event: bytes) -> None:
        """Send an event; nothing happens without a connection."""
        if self._body is not None:
            self._body.feed(event)

    def finish(self) -> None:
        """End the connection after what was fed."""
        if self._body is not None:
            self._body.finish()
            self._disconnect()

    def _disconnect(self) -> None:
        self._body = None
        if self._timer is not None:
            self._timer.cancel()

    def _ping(self) -> None:
        self.feed(_PING)
        self._timer = asyncio.get_running_loop().call_later(PING_SECONDS, self._ping)


def waiting_for(line: Oversize, waiting: Collection[Id]) -> list[Id]:
    """Return which of the waiting requests a line answers that was too long to be kept.

    Its beginning or its end shows the id. Where neither does, any of them may wait for it, and none must wait for ever.
    """
    hint = reply_hint(line.head + b" " + line.tail)
    if hint is not None:
        return [id_ for id_ in waiting if id_ == hint]
    return list(waiting) if line.is_endless or line.head.lstrip()[:1] in {b"{", b"["} else []


def words_for(line: Oversize) -> str:
    """Return the words for the client."""
    limit = f"longer than the limit of {line.limit} bytes (max_message_bytes)"
    return f"The answer of the MCP server is {limit}. Ask for less."
