"""A stream of events to one client, which may lose its connection and get another."""

import asyncio
from collections.abc import Callable
from typing import Final

from toolvet.proxy.bridge.responses import stream_response
from toolvet.proxy.http.body import Body
from toolvet.proxy.http.upstream import UpstreamResponse

# What is silent for longer may be closed on the way; both official SDKs write a comment as often.
PING_SECONDS: Final = 15.0
_PING: Final = b": ping\n\n"


class EventStream:
    """Feeds events to the connection that it has at the moment, and a comment now and then while it is silent."""

    def __init__(self) -> None:
        self._body: Body | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def is_connected(self) -> bool:
        """Whether a client reads it."""
        return self._body is not None

    def connect(self, left: Callable[[], None] | None = None) -> UpstreamResponse:
        """Return a response with what is fed from now on; an older connection ends. `left` is called when it closes."""
        self.finish()
        body = self._body = Body()
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
