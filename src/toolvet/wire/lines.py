"""Newline-delimited JSON: chunks in, complete lines out. This is how MCP frames messages on stdio."""

import msgspec


class Oversize(msgspec.Struct, frozen=True):
    """A line longer than the framer's `limit`: how many bytes were dropped, and its first and last bytes."""

    length: int
    limit: int
    head: bytes
    tail: bytes


class LineFramer:
    """Feed chunks, get the lines they complete, without their line ends. Linear in the bytes fed, however cut.

    A line has no upper length unless `limit` (bytes) is given: then a longer one comes out as one `Oversize` and
    never takes more than `limit` plus one chunk of memory.
    """

    _QUOTE = 400

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._length = 0
        self._head: bytes | None = None
        self._tail = b""

    def feed(self, chunk: bytes) -> list[bytes | Oversize]:
        """The lines that `chunk` completes, oldest first. A trailing carriage return belongs to the line end."""
        first, *rest = chunk.split(b"\n")
        if not rest:
            self._add(first)
            return []
        self._add(first)
        lines = [self._take()]
        last = rest.pop()
        limit = self._limit
        for line in rest:
            if limit is not None and len(line) > limit:
                self._add(line)
                lines.append(self._take())
            else:
                lines.append(line.removesuffix(b"\r"))
        self._add(last)
        return lines

    def finish(self) -> bytes | Oversize | None:
        """What is left when the stream ends: the last line if it had no line end, or None."""
        return self._take() if self._length else None

    def _add(self, part: bytes) -> None:
        if not part:
            return
        self._length += len(part)
        if self._head is not None:
            self._tail = (self._tail + part)[-self._QUOTE :]
            return
        self._parts.append(part)
        if self._limit is not None and self._length > self._limit:
            joined = b"".join(self._parts)
            self._parts.clear()
            self._head, self._tail = joined[: self._QUOTE], joined[-self._QUOTE :]

    def _take(self) -> bytes | Oversize:
        if self._head is not None and self._limit is not None:
            line: bytes | Oversize = Oversize(self._length, self._limit, self._head, self._tail)
        else:
            line = (self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)).removesuffix(b"\r")
        self._parts.clear()
        self._length, self._head, self._tail = 0, None, b""
        return line
