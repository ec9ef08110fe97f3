r"""The events of one session, kept so that a client can resume a stream after its connection broke (`Last-Event-ID`).

Each stream has a number; 0 is the stream that a client opens by GET. An event's id is its stream and its place in it:

    log.add(3, b"{}")            b"event: message\nid: 3-1\ndata: {}\n\n"
    log.add(3, b"[]")            b"event: message\nid: 3-2\ndata: []\n\n"
    log.after(EventId(3, 1))     the second event

Pure: no I/O, and total over what clients send.
"""

from collections import deque
from typing import Final, NamedTuple

from toolvet.mcp.wire import encode_event

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
            self._forget_oldest()
        return event

    def last(self, stream: int) -> int:
        """Return the number of the last event of a stream, 0 before the first."""
        return self._numbers.get(stream, 0)

    def after(self, id_: EventId) -> list[bytes] | None:
        """Return the events of a stream that came after this one; None when some were forgotten, or it never was."""
        if id_.stream > self._streams or not self._forgotten.get(id_.stream, 0) <= id_.number <= self.last(id_.stream):
            return None
        return [event for (stream, number), event in self._events if stream == id_.stream and number > id_.number]

    def _forget_oldest(self) -> None:
        id_, event = self._events.popleft()
        self._size -= len(event)
        self._forgotten[id_.stream] = id_.number
