"""The body of one HTTP message as it arrives, and the answer to one request as a handler writes it.

`Body`: a connection feeds chunks, a reader awaits them, with backpressure between. `Responder` writes an answer:
complete, or piece by piece.
"""

from collections.abc import Callable, Coroutine
from typing import Any, Final, Protocol, TypeAlias

from toolvet.mcp.wire import BodyWriter, Length, RequestHead, ResponseHead, encode_response_head, response_framing
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


class ClientGoneError(Exception):
    """The client closed the connection, so the answer has no reader."""


class _AnsweredConnection(Protocol):
    """What an answer needs of the connection that it is written to."""

    def write(self, data: bytes) -> None: ...

    async def drain(self) -> None: ...

    def finish_answer(self, responder: "Responder") -> None: ...

    def abort(self) -> None: ...


class Responder:
    """Writes the answer to one request: `send` for a complete one, or `start`, `write` and `end`.

    `begun` and `ended` say how far the answer got.
    """

    __slots__ = ("_connection", "_head", "_writer", "begun", "ended")

    def __init__(self, connection: "_AnsweredConnection", head: RequestHead) -> None:
        self._connection = connection
        self._head = head
        self._writer = BodyWriter("none")
        self.begun = False
        self.ended = False

    def send(self, head: ResponseHead, data: bytes = b"") -> None:
        """Send a complete answer. Sets `head.length`."""
        head.length = None if head.status in {204, 304} else len(data)
        self.start(head, data)
        self.end()

    def start(self, head: ResponseHead, data: bytes = b"") -> None:
        """Send the head and `data`, the beginning of the body. A body without a length ends with `end`."""
        self.begun = True
        framing = response_framing(self._head, head)
        if framing == "close":
            self._head.keep_alive = False
        writer = self._writer = BodyWriter(framing)
        length: Length = "chunked" if framing == "chunked" else head.length
        encoded = encode_response_head(head, length, close=not self._head.keep_alive)
        self._connection.write(encoded + writer.write(data) if data else encoded)

    def write(self, data: bytes) -> None:
        """Send a part of the body, at least one byte."""
        self._connection.write(self._writer.write(data))

    async def drain(self) -> None:
        """Wait until the client has read most of the answer. Raises ClientGoneError when it closed the connection."""
        await self._connection.drain()

    def end(self) -> None:
        """End the body, and with it the answer."""
        self.ended = True
        last = self._writer.end()
        if last:
            self._connection.write(last)
        self._connection.finish_answer(self)

    def abort(self) -> None:
        """Cut the connection, so that the client does not take a body that broke off for a complete one."""
        if not self.ended:
            self._connection.abort()


Handler: TypeAlias = Callable[[RequestHead, Body, Responder], Coroutine[Any, Any, None]]
"""Handles one request from its head to the end of its answer."""
