r"""Server-sent events (WHATWG HTML standard §9.2.6), as MCP uses them over HTTP: chunks in, events out. No I/O.

Both framers are one state machine over lines, which end at CR, LF or CR LF. An event is a block of lines up to an empty
line. Feed chunks of any size; what comes out does not depend on the cuts.

    state    line of bytes     empty line                        end of the stream
    -------  ----------------  --------------------------------  --------------------------------------
    between  keep it → within  nothing                           nothing
    within   keep it           the event, if any data → between  the unfinished event is not dispatched

`SseFramer` is for a client: it reads fields and dispatches events with data. `RawSseFramer` is for a proxy, which must
pass on each byte: it cuts the stream into blocks unchanged, so blocks without data come out, too, and `rest()`
returns the unfinished one. The functions below read a block, or write one with other data.
"""

import re
from collections.abc import Sequence
from typing import Final

import msgspec

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
# The end of a line and an empty line behind it. A CR LF that is cut in two leaves its LF to the next block, where an
# empty line means nothing.
_BLOCK_END: Final = re.compile(rb"\r\n(?:\r\n|\r|\n)|\n(?:\r\n|\r|\n)|\r\r")
_MESSAGE: Final = (b"", b"message")
# The longest end has four bytes; this many of them may be at the end of what was searched already.
_OVERLAP: Final = 3


class SseEvent(msgspec.Struct, frozen=True):
    """One event. `data` is the data lines joined with newlines; `id` is the last event id seen so far ("" for none)."""

    data: bytes
    event: str = "message"
    id: str = ""


class SseFramer:
    r"""Events that carry data. Linear in the bytes fed, however they are cut; no upper size.

    `last_event_id` and `retry` (milliseconds, None until the server sets it) belong to the whole stream: a server may
    set them in an event that carries no data, and such an event is not dispatched.

        >>> SseFramer().feed(b"id: 7\ndata: one\ndata: two\n\ndata: cut")
        [SseEvent(data=b'one\ntwo', event='message', id='7')]
    """

    def __init__(self) -> None:
        self.last_event_id = ""
        self.retry: int | None = None
        self._partial: list[bytes] = []
        self._after_cr = False
        self._at_start = True
        self._data: list[bytes] = []
        self._event = ""
        self._held = 0

    @property
    def pending_bytes(self) -> int:
        """How many bytes of an unfinished event are kept."""
        return self._held

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """Return the events that `chunk` completes, oldest first."""
        if self._after_cr and chunk:
            self._after_cr = False
            chunk = chunk.removeprefix(b"\n")
        if not chunk:
            return []
        events: list[SseEvent] = []
        # bytes.splitlines ends lines at CR, LF and CRLF only, which is exactly what the standard says.
        lines = chunk.splitlines(keepends=True)
        self._after_cr = lines[-1].endswith(b"\r")
        for part in lines:
            self._partial.append(part)
            self._held += len(part)
            if not part.endswith((b"\n", b"\r")):
                continue
            line = (part if len(self._partial) == 1 else b"".join(self._partial)).rstrip(b"\r\n")
            self._partial.clear()
            if self._at_start:
                self._at_start = False
                line = line.removeprefix(_BYTE_ORDER_MARK)
            if not line:
                if self._data:
                    events.append(SseEvent(b"\n".join(self._data), self._event or "message", self.last_event_id))
                self._data, self._event, self._held = [], "", 0
                continue
            name, value = _split_field(line)
            if name == b"data":
                self._data.append(value)
            elif name == b"event":
                self._event = value.decode(errors="replace")
            elif name == b"id" and b"\0" not in value:
                self.last_event_id = value.decode(errors="replace")
            # Eighteen digits are 30 million years: int() of what a hostile server sends stays cheap.
            elif name == b"retry" and value.isdigit() and len(value) <= 18:
                self.retry = int(value)
        return events


class RawSseFramer:
    r"""Blocks as they came, each with its end. Linear in the bytes fed, however they are cut.

    `size` is how many bytes of an unfinished block are kept.

        >>> framer = RawSseFramer()
        >>> framer.feed(b": comment\n\ndata: {}\r\n\r\ndata"), framer.rest()
        ([b': comment\n\n', b'data: {}\r\n\r\n'], b'data')
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._at_start = True
        self.size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the blocks that `chunk` completes, oldest first."""
        if self._at_start:
            return self._feed_start(chunk)
        parts = self._parts
        received = len(chunk)
        # An end may lie across two chunks: the last bytes of the old one are searched again.
        if parts:
            last = parts.pop()
            chunk = last[-_OVERLAP:] + chunk
            if last[:-_OVERLAP]:
                parts.append(last[:-_OVERLAP])
        blocks: list[bytes] = []
        start = 0
        for found in _BLOCK_END.finditer(chunk):
            block = chunk[start : found.end()]
            if parts:
                parts.append(block)
                block = b"".join(parts)
                parts.clear()
            blocks.append(block)
            start = found.end()
        if start < len(chunk):
            parts.append(chunk[start:])
        self.size = sum(map(len, parts)) if blocks else self.size + received
        return blocks

    def _feed_start(self, chunk: bytes) -> list[bytes]:
        """Feed the start of the stream, where a byte order mark is a block of its own: else it would hide a field."""
        begin = self.rest() + chunk
        if len(begin) < len(_BYTE_ORDER_MARK) and _BYTE_ORDER_MARK.startswith(begin):
            self._parts.append(begin)
            self.size = len(begin)
            return []
        self._at_start = False
        if begin.startswith(_BYTE_ORDER_MARK):
            return [_BYTE_ORDER_MARK, *self.feed(begin[len(_BYTE_ORDER_MARK) :])]
        return self.feed(begin)

    def rest(self) -> bytes:
        """Return the unfinished block and forget it."""
        rest = b"".join(self._parts)
        self._parts.clear()
        self.size = 0
        return rest


def read_data(block: bytes) -> bytes | None:
    r"""Return the message in a block; None for comments, for events without data, and for those of another type.

    >>> read_data(b"id: 7\ndata: {}\n\n"), read_data(b"event: ping\ndata: {}\n\n")
    (b'{}', None)
    """
    data: list[bytes] = []
    event = b""
    for line in block.splitlines():
        if line.startswith((b"data", b"event")):
            name, value = _split_field(line)
            if name == b"data":
                data.append(value)
            elif name == b"event":
                event = value
    # Of several types the last one counts, and an empty one is the usual one, as for every client.
    if event not in _MESSAGE:
        return None
    message = data[0] if len(data) == 1 else b"\n".join(data)
    return message or None


def has_id(block: bytes) -> bool:
    """Whether the block sets an event id: then a client can resume the stream after it (`Last-Event-ID`)."""
    return block.startswith(b"id:") or b"\nid:" in block or b"\rid:" in block


def replace_data(block: bytes, messages: Sequence[bytes]) -> bytes:
    r"""Return the block with other messages in it; the second and later ones follow as events of their own, without id.

    >>> replace_data(b"id: 7\ndata: {}\n\n", [b"[1]"])
    b'id: 7\ndata: [1]\n\n'
    """
    end = b"\r\n" if b"\r\n" in block else b"\n" if b"\n" in block else b"\r"
    kept: list[bytes] = []
    replaced = False
    for line in block.splitlines():
        if line.startswith(b"data") and _split_field(line)[0] == b"data":
            if not replaced:
                kept += _data_lines(messages[0]) if messages else []
                replaced = True
        elif line:
            kept.append(line)
    events = [kept, *([b"event: message", *_data_lines(message)] for message in messages[1:])]
    return b"".join(end.join(lines) + end + end for lines in events if lines)


def encode_event(message: bytes, id_: bytes = b"") -> bytes:
    """Return the message as an event, with an event id unless `id_` is empty."""
    lines = [b"event: message", *([b"id: " + id_] if id_ else []), *_data_lines(message)]
    return b"\n".join(lines) + b"\n\n"


def _split_field(line: bytes) -> tuple[bytes, bytes]:
    """Split `name: value`; one space after the colon belongs to neither."""
    name, _, value = line.partition(b":")
    return name, value.removeprefix(b" ")


def _data_lines(message: bytes) -> list[bytes]:
    return [b"data: " + line for line in message.splitlines()]
