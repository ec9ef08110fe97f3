"""`/live`: says to open pages that something was added, as server-sent events.

One task looks how far the store is while a page listens, once a second. A listener gets `event: changed` with that at
once, and whenever it is another; `event: lost` when the store cannot be read; and `changed` when it can be again.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from toolvet.core.envelope import error_response
from toolvet.errors import ToolvetError
from toolvet.server.access.gate import Gate
from toolvet.server.access.role import Role
from toolvet.server.context import ServerContext
from toolvet.server.dashboard.api.routing import allowed
from toolvet.server.failures import ApiError, failure
from toolvet.store.reading import StoreProgress, read_progress

MOST_LISTENERS: Final = 100
_LOOK_SECONDS: Final = 1.0
# Proxies close connections that say nothing for a minute.
_HEARTBEAT_SECONDS: Final = 15.0


class LiveUpdates:
    """Tells listeners when the store has something new.

    Args:
        server: Whose store.
        gate: Says who may listen.
        look_seconds: How often the store is looked at.
        heartbeat_seconds: After so long without news a comment is sent.
    """

    def __init__(
        self,
        server: ServerContext,
        gate: Gate,
        *,
        look_seconds: float = _LOOK_SECONDS,
        heartbeat_seconds: float = _HEARTBEAT_SECONDS,
    ) -> None:
        self._server = server
        self._gate = gate
        self._look_seconds = look_seconds
        self._heartbeat_seconds = heartbeat_seconds
        self._listeners: set[asyncio.Event] = set()
        self._looking: asyncio.Task[None] | None = None
        self._is_ending = False
        self._is_lost = False
        self._seen: StoreProgress | None = None

    def end(self) -> None:
        """End all streams, so that the server can stop. Call it from the server's own thread."""
        self._is_ending = True
        for news in self._listeners:
            news.set()

    async def serve(self, request: Request) -> Response:
        """Answer with a stream that ends when the page is closed or the server stops."""
        try:
            allowed(self._gate.caller(request).person, Role.VIEWER)
        except ApiError as error:
            return failure(error.status, error.envelope, error.headers)
        if self._is_ending or len(self._listeners) >= MOST_LISTENERS:
            return failure(503, error_response("too many pages listen; try again later"), {"retry-after": "30"})
        return StreamingResponse(
            self._stream(),
            media_type="text/event-stream",
            headers={"cache-control": "no-store", "x-accel-buffering": "no"},
        )

    async def _stream(self) -> AsyncIterator[bytes]:
        news = asyncio.Event()
        self._listeners.add(news)
        try:
            if self._looking is None or self._looking.done():
                self._is_lost, self._seen = False, None
                self._looking = asyncio.create_task(self._look())
            # A browser that lost the connection asks again after this number of milliseconds.
            yield b"retry: 3000\n: toolvet\n\n"
            if self._is_lost or self._seen is not None:
                yield self._state()
            while not self._is_ending:
                try:
                    await asyncio.wait_for(news.wait(), self._heartbeat_seconds)
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                news.clear()
                if not self._is_ending:
                    yield self._state()
        finally:
            self._listeners.discard(news)

    async def _look(self) -> None:
        while self._listeners and not self._is_ending:
            try:
                now = await run_in_threadpool(self._progress)
            except ToolvetError:
                # A locked, damaged or lost database.
                is_news, self._is_lost = not self._is_lost, True
            else:
                is_news = self._is_lost or now != self._seen
                self._is_lost, self._seen = False, now
            if is_news:
                for news in self._listeners:
                    news.set()
            await asyncio.sleep(self._look_seconds)

    def _state(self) -> bytes:
        if self._is_lost or self._seen is None:
            return b"event: lost\ndata: \n\n"
        return f"event: changed\ndata: {self._seen.mark}\n\n".encode()

    def _progress(self) -> StoreProgress:
        with self._server.store.reading() as connection:
            return read_progress(connection)
