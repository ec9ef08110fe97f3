r"""One client's session with a process of its own (MCP up to 2025-11-25): streams that outlive their connections.

Each request is answered on a stream of its own, and the client may open one more by GET. When a connection breaks, the
session goes on, and what the server says meanwhile is kept: a GET with `Last-Event-ID` gets the rest of that stream.

On a pipe only answers and progress say which request they belong to. All other messages of the server go to the latest
request that a client still listens to, else to the stream by GET, where they wait if there is none.

`EventLog` keeps the events. Each stream has a number; 0 is the stream that a client opens by GET. An event's id is its
stream and its place in it:

    log.add(3, b"{}")            b"event: message\nid: 3-1\ndata: {}\n\n"
    log.add(3, b"[]")            b"event: message\nid: 3-2\ndata: []\n\n"
    log.after(EventId(3, 1))     the second event
"""

import asyncio
from collections import deque
from typing import Final, NamedTuple

import msgspec

from toolvet.core.json_value import members
from toolvet.mcp.wire import (
    ErrorReply,
    Id,
    Noise,
    Notification,
    Oversize,
    Request,
    Result,
    encode_error,
    encode_event,
    parse,
)
from toolvet.proxy.bridge.process import BridgedProcess
from toolvet.proxy.bridge.responses import EventStream, error_response, json_response, waiting_for, words_for
from toolvet.proxy.http.upstream import UpstreamError, UpstreamResponse

ENDED: Final = "The MCP server is unavailable: it ended before it answered."
_STANDALONE: Final = 0
_LISTENING: Final = b": listening\n\n"
# Older clients cannot read an event without a message.
_FIRST_WITH_OPENING: Final = "2025-11-25"
# Ends the stream of a request that its client cancelled, as the official Python SDK does: servers do not answer it.
_CANCELLED: Final = -32800
# Beyond that the oldest events are forgotten, except for the last one.
_MOST_BYTES: Final = 4 * 2**20
_MOST_EVENTS: Final = 4000
_MOST_DIGITS: Final = 15
# How soon a client may come back, in milliseconds.
_RETRY: Final = 1000


class EventId(NamedTuple):
    """The place of an event: its stream, and its number in it (0 for the event that opens the stream)."""

    stream: int
    number: int

    def encode(self) -> bytes:
        """Return the id as it is written into an event."""
        return b"%d-%d" % self


class SessionRequest(msgspec.Struct):
    """An open request of a session: its progress token, the number of its stream, and the stream."""

    token: object
    number: int
    stream: EventStream


class BridgedSession:
    """One client and its process. `version` is the negotiated revision of MCP, empty before the handshake."""

    def __init__(self, process: BridgedProcess) -> None:
        self.process = process
        self.version = ""
        self._log = EventLog()
        self._open: dict[Id, SessionRequest] = {}
        # The streams that are not complete, by number.
        self._streams: dict[int, EventStream] = {_STANDALONE: EventStream()}
        self._delivered = 0
        self._handshake: tuple[Id, asyncio.Future[bytes]] | None = None
        process.connect(self._receive, self.end)

    @property
    def is_over(self) -> bool:
        """Whether the process has ended."""
        return self.process.over.is_set()

    @property
    def is_busy(self) -> bool:
        """Whether the client is connected at the moment."""
        return any(stream.is_connected for stream in self._streams.values())

    async def initialize(self, request: Request) -> UpstreamResponse:
        """Shake hands, and return the server's answer. `version` is set when it agreed."""
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._handshake = (request.id, future)
        if self.is_over:
            self.end()
        self.process.send(request.raw)
        answer = await future
        self._handshake = None
        message = parse(answer)
        if isinstance(message, Result):
            self.version = str(members(message.result).get("protocolVersion") or "0")
        return json_response(answer, 502 if self.is_over else 200)

    def ask(self, request: Request) -> UpstreamResponse:
        """Send a request and return the stream of its answer. Raises UpstreamError when the server has ended."""
        if self.is_over:
            raise UpstreamError("the server ended", sent=False)
        if request.id in self._open:
            return error_response(400, request.id, -32600, "this id is in use: its request is not answered yet")
        token = members(members(request.params).get("_meta")).get("progressToken")
        opened = SessionRequest(token, self._log.open_stream(), EventStream())
        self._open[request.id] = opened
        self._streams[opened.number] = opened.stream
        response = opened.stream.connect()
        if self.version >= _FIRST_WITH_OPENING:
            opened.stream.feed(self._log.opening(opened.number))
        self.process.send(request.raw)
        return response

    def tell(self, message: bytes) -> None:
        """Send a message that needs no answer."""
        self.process.send(message)
        note = parse(message)
        if isinstance(note, Notification) and note.method == "notifications/cancelled":
            cancelled = members(note.params).get("requestId")
            if isinstance(cancelled, str | int) and cancelled in self._open:
                self._answer(cancelled, encode_error(cancelled, _CANCELLED, "Request cancelled"))

    def listen(self, last_event_id: bytes | None) -> UpstreamResponse:
        """Return the stream for messages without a request; or, with the id of its last event, the rest of any."""
        if last_event_id is None:
            if self._streams[_STANDALONE].is_connected:
                return error_response(409, None, -32600, "This session has a stream already")
            id_: EventId | None = EventId(_STANDALONE, self._delivered)
        else:
            id_ = read_event_id(last_event_id.strip())
        events = self._log.after(id_) if id_ is not None else None
        if id_ is None or events is None:
            return error_response(400, None, -32600, "The events after this Last-Event-ID are not kept, or not ours")
        stream = self._streams.get(id_.stream)
        is_complete = stream is None
        stream = stream or EventStream()
        response = stream.connect()
        # A comment, so that the head goes out at once.
        stream.feed(_LISTENING)
        for event in events:
            stream.feed(event)
        if id_.stream == _STANDALONE:
            self._delivered = self._log.last(_STANDALONE)
        if is_complete:
            stream.finish()
        return response

    def end(self) -> None:
        """Answer the open requests with an error, and end all streams: the server or the session ended."""
        if self._handshake is not None:
            self._answer(self._handshake[0], encode_error(self._handshake[0], -32603, ENDED))
        for id_ in list(self._open):
            self._answer(id_, encode_error(id_, -32603, ENDED))
        for stream in self._streams.values():
            stream.finish()

    # Towards the client.

    def _receive(self, line: bytes | Oversize) -> None:
        if isinstance(line, Oversize):
            for id_ in waiting_for(line, [*self._open, *([self._handshake[0]] if self._handshake is not None else [])]):
                self._answer(id_, encode_error(id_, -32603, words_for(line)))
            return
        message = parse(line)
        if isinstance(message, Result | ErrorReply):
            if message.id is not None:
                self._answer(message.id, line)
        elif isinstance(message, Noise) and message.reply_to is not None:
            # An answer that cannot be parsed here, for one because it is nested too deeply: its client waits for it.
            self._answer(message.reply_to, line)
        else:
            number, stream = self._addressee(message)
            stream.feed(self._log.add(number, line))
            if number == _STANDALONE and stream.is_connected:
                self._delivered = self._log.last(_STANDALONE)

    def _answer(self, id_: Id, line: bytes) -> None:
        if self._handshake is not None and self._handshake[0] == id_:
            if not self._handshake[1].done():
                self._handshake[1].set_result(line)
            return
        opened = self._open.pop(id_, None)
        if opened is not None:
            opened.stream.feed(self._log.add(opened.number, line))
            opened.stream.finish()
            del self._streams[opened.number]

    def _addressee(self, message: object) -> tuple[int, EventStream]:
        if isinstance(message, Notification) and message.method == "notifications/progress":
            token = members(message.params).get("progressToken")
            for opened in self._open.values():
                if token is not None and opened.token == token:
                    return opened.number, opened.stream
        for opened in reversed(self._open.values()):
            if opened.stream.is_connected:
                return opened.number, opened.stream
        return _STANDALONE, self._streams[_STANDALONE]


def read_event_id(text: bytes) -> EventId | None:
    """Read a `Last-Event-ID`; None for one that is not ours.

    >>> read_event_id(b"3-12"), read_event_id(b"twelve")
    (EventId(stream=3, number=12), None)
    """
    stream, dash, number = text.partition(b"-")
    if not dash or not stream.isdigit() or not number.isdigit() or len(text) > _MOST_DIGITS:
        return None
    return EventId(int(stream), int(number))


class EventLog:
    """The latest events of one session, of all its streams."""

    def __init__(self) -> None:
        self._events: deque[tuple[EventId, bytes]] = deque()
        self._size = 0
        self._numbers: dict[int, int] = {}
        # The number of the last event of a stream that was forgotten.
        self._forgotten: dict[int, int] = {}
        self._streams = 0

    def open_stream(self) -> int:
        """Return the number of a new stream."""
        self._streams += 1
        return self._streams

    def opening(self, stream: int) -> bytes:
        """Return an event without a message, after which the stream can be resumed."""
        return b"id: %s\nretry: %d\ndata: \n\n" % (EventId(stream, 0).encode(), _RETRY)

    def add(self, stream: int, message: bytes) -> bytes:
        """Keep a message, and return the event that carries it."""
        id_ = EventId(stream, self.last(stream) + 1)
        self._numbers[stream] = id_.number
        event = encode_event(message, id_.encode())
        self._events.append((id_, event))
        self._size += len(event)
        while (self._size > _MOST_BYTES or len(self._events) > _MOST_EVENTS) and len(self._events) > 1:
            forgotten, oldest = self._events.popleft()
            self._size -= len(oldest)
            self._forgotten[forgotten.stream] = forgotten.number
        return event

    def last(self, stream: int) -> int:
        """Return the number of the last event of a stream, 0 before the first."""
        return self._numbers.get(stream, 0)

    def after(self, id_: EventId) -> list[bytes] | None:
        """Return the events of a stream that came after this one; None when some were forgotten, or it never was."""
        if id_.stream > self._streams or not self._forgotten.get(id_.stream, 0) <= id_.number <= self.last(id_.stream):
            return None
        return [event for (stream, number), event in self._events if stream == id_.stream and number > id_.number]
