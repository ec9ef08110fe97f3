"""The answer to one request of a client, as a handler writes it: complete, or piece by piece."""

from collections.abc import Callable, Coroutine
from typing import Any, Protocol, TypeAlias

from toolvet.mcp.wire import BodyWriter, Length, RequestHead, ResponseHead, encode_response_head, response_framing
from toolvet.proxy.http.body import Body


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
