"""Server-sent events as a proxy needs them: cut out of the stream byte for byte, read, and written with other data.

`wire.SseFramer` gives what an event says; here the bytes count, because events that need no decision pass as they came.
"""

import re
from collections.abc import Sequence

# The end of a line and an empty line behind it (WHATWG HTML §9.2.6). A CR LF that is cut in two leaves its LF to the
# next event, where an empty line means nothing.
_END = re.compile(rb"\r\n(?:\r\n|\r|\n)|\n(?:\r\n|\r|\n)|\r\r")
# An end has so many bytes at most: less one, it may begin at the end of what was searched.
_OVERLAP = 3


class EventBlocks:
    """Chunks in, whole events out, with their ends. Linear in the bytes, however they are cut."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """The events that `chunk` completes, oldest first."""
        parts = self._parts
        came = len(chunk)
        # An end may stand across two chunks: the last bytes of the old one are searched again.
        if parts:
            last = parts.pop()
            chunk = last[-_OVERLAP:] + chunk
            if last[:-_OVERLAP]:
                parts.append(last[:-_OVERLAP])
        blocks: list[bytes] = []
        start = 0
        for found in _END.finditer(chunk):
            block = chunk[start : found.end()]
            if parts:
                parts.append(block)
                block = b"".join(parts)
                parts.clear()
            blocks.append(block)
            start = found.end()
        if start < len(chunk):
            parts.append(chunk[start:])
        self.size = sum(map(len, parts)) if blocks else self.size + came
        return blocks

    def rest(self) -> bytes:
        """What has no end yet; it is not kept any longer."""
        rest = b"".join(self._parts)
        self._parts.clear()
        self.size = 0
        return rest


def data_of(block: bytes) -> bytes | None:
    """The message in an event; None for comments, for events without data, and for those of another type."""
    data: list[bytes] = []
    for line in block.splitlines():
        if line.startswith(b"data"):
            name, _, value = line.partition(b":")
            if name == b"data":
                data.append(value.removeprefix(b" "))
        elif line.startswith(b"event:") and line[6:].strip() != b"message":
            return None
    found = data[0] if len(data) == 1 else b"\n".join(data)
    return found or None


def has_id(block: bytes) -> bool:
    """Whether the stream can be taken up again after this event (`Last-Event-ID`)."""
    return block.startswith(b"id:") or b"\nid:" in block or b"\rid:" in block


def with_data(block: bytes, messages: Sequence[bytes]) -> bytes:
    """The event with another message in it; further messages follow as events of their own, without its id."""
    end = b"\r\n" if b"\r\n" in block else b"\n" if b"\n" in block else b"\r"
    kept: list[bytes] = []
    there = False
    for line in block.splitlines():
        if line.startswith(b"data") and line.partition(b":")[0] == b"data":
            if not there:
                kept += _data_lines(messages[0]) if messages else []
                there = True
        elif line:
            kept.append(line)
    events = [kept, *([b"event: message", *_data_lines(message)] for message in messages[1:])]
    return b"".join(end.join(lines) + end + end for lines in events if lines)


def event_of(message: bytes, id_: bytes = b"") -> bytes:
    """A message as an event."""
    lines = [b"event: message", *([b"id: " + id_] if id_ else []), *_data_lines(message)]
    return b"\n".join(lines) + b"\n\n"


def _data_lines(message: bytes) -> list[bytes]:
    return [b"data: " + line for line in message.splitlines()]
