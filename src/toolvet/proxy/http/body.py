"""The body of one message as it arrives: chunks in from a parser, chunks out to whoever reads, with a brake."""

import asyncio
from collections.abc import Callable

# So many unread bytes, and the connection is not read any further until they are.
_FULL = 256 * 1024


class BrokenBodyError(Exception):
    """The other side went away before the body was whole."""


class Body:
    """One writer, one reader. `pause` and `resume` stop and restart the connection that feeds it."""

    __slots__ = ("_chunks", "_discards", "_error", "_paused", "_resume", "_waiter", "done", "pause", "received", "size")

    def __init__(self, pause: Callable[[], None] | None = None, resume: Callable[[], None] | None = None) -> None:
        self.pause = pause
        self._resume = resume
        self._chunks: list[bytes] = []
        self._waiter: asyncio.Future[None] | None = None
        self._error: BrokenBodyError | None = None
        self._paused = False
        self._discards = False
        self.size = 0
        self.received = 0
        self.done = False

    def feed(self, chunk: bytes) -> None:
        """More of it came."""
        self.received += len(chunk)
        if self._discards:
            return
        self._chunks.append(chunk)
        self.size += len(chunk)
        if self.size > _FULL and not self._paused and self.pause is not None:
            self._paused = True
            self.pause()
        self._wake()

    def discard(self) -> None:
        """Nobody will read it: what comes is dropped, and the connection goes on."""
        self._discards = True
        self._chunks.clear()
        self.size = 0
        self._let_go()

    def finish(self) -> None:
        """It is whole. The connection that fed it may go on to other things, whoever reads here how slowly."""
        self.done = True
        self._let_go()
        self.pause = self._resume = None
        self._wake()

    def fail(self, why: str) -> None:
        """It will never be whole."""
        if not self.done:
            self._error = BrokenBodyError(why)
            self.done = True
            self._wake()

    async def read(self) -> bytes:
        """What came since the last time, at least a byte; b"" at the end. Raises BrokenBodyError."""
        while not self._chunks:
            if self._error is not None:
                raise self._error
            if self.done:
                return b""
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        data = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
        self._chunks.clear()
        self.size = 0
        self._let_go()
        return data

    async def take(self, limit: int) -> tuple[bytes, bool]:
        """All of it and True; or what came first and False, where there is more than `limit` bytes."""
        parts: list[bytes] = []
        length = 0
        while not self.done or self._chunks:
            part = await self.read()
            parts.append(part)
            length += len(part)
            if length > limit:
                return b"".join(parts), False
        if self._error is not None:
            raise self._error
        return parts[0] if len(parts) == 1 else b"".join(parts), True

    def _let_go(self) -> None:
        if self._paused and self._resume is not None:
            self._paused = False
            self._resume()

    def _wake(self) -> None:
        waiter = self._waiter
        if waiter is not None:
            self._waiter = None
            if not waiter.done():
                waiter.set_result(None)


def whole(data: bytes) -> Body:
    """A body that is there already."""
    body = Body()
    if data:
        body.feed(data)
    body.finish()
    return body
