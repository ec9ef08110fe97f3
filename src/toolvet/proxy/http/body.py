"""The body of one HTTP message as it arrives: a connection feeds chunks, a reader awaits them, backpressure between."""

from collections.abc import Callable
from typing import Final

from toolvet.proxy.http.handling import OneTimeEvent

# With more unread bytes than that, the connection is paused until they were read.
_FULL: Final = 256 * 1024


class BrokenBodyError(Exception):
    """The sender closed the connection before the body was complete."""


class Body:
    """A body with one writer and one reader.

    `pause` and `resume` stop and restart the connection that feeds it. `size` is how many bytes are unread, `received`
    how many came in all, `done` whether no more will come.
    """

    __slots__ = ("_chunks", "_discards", "_error", "_paused", "_resume", "_waiter", "done", "pause", "received", "size")

    def __init__(self, pause: Callable[[], None] | None = None, resume: Callable[[], None] | None = None) -> None:
        self.pause = pause
        self._resume = resume
        self._chunks: list[bytes] = []
        self._waiter: OneTimeEvent | None = None
        self._error: BrokenBodyError | None = None
        self._paused = False
        self._discards = False
        self.size = 0
        self.received = 0
        self.done = False

    def feed(self, chunk: bytes) -> None:
        """Add a part of the body."""
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
        """Drop what was and will be fed, so that the connection goes on without a reader."""
        self._discards = True
        self._chunks.clear()
        self.size = 0
        self._unpause()

    def finish(self) -> None:
        """Mark the body as complete. However slow the reader is, the connection is free for its next message."""
        self.done = True
        self._unpause()
        self.pause = self._resume = None
        self._wake()

    def fail(self, why: str) -> None:
        """Mark the body as broken off: `read` raises BrokenBodyError with `why` as its message."""
        if not self.done:
            self._error = BrokenBodyError(why)
            self.done = True
            self._wake()

    async def read(self) -> bytes:
        """Return what was fed since the last call, waiting for at least one byte; b"" at the end.

        Raises BrokenBodyError when the body broke off.
        """
        if not self._chunks and await self.is_empty():
            return b""
        data = self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks)
        self._chunks.clear()
        self.size = 0
        self._unpause()
        return data

    async def is_empty(self) -> bool:
        """Wait for the first byte that is not read yet, or for the end. Returns True at the end.

        Raises BrokenBodyError when the body broke off.
        """
        while not self._chunks:
            if self._error is not None:
                raise self._error
            if self.done:
                return True
            self._waiter = OneTimeEvent()
            await self._waiter
        return False

    async def take(self, limit: int) -> tuple[bytes, bool]:
        """Read the body up to `limit` bytes.

        Returns the whole body and True; or, where it has more than `limit` bytes, its beginning and False. Raises
        BrokenBodyError when the body broke off.
        """
        if self.done and len(self._chunks) == 1 and self._error is None and self.size <= limit:
            # As nearly all messages.
            self.size = 0
            return self._chunks.pop(), True
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

    def _unpause(self) -> None:
        if self._paused and self._resume is not None:
            self._paused = False
            self._resume()

    def _wake(self) -> None:
        waiter = self._waiter
        if waiter is not None:
            self._waiter = None
            waiter.set()


def complete_body(data: bytes) -> Body:
    """Return a body that holds all its bytes already."""
    body = Body()
    if data:
        body.feed(data)
    body.done = True
    return body
