"""Newline-delimited JSON, as MCP frames messages on stdio: chunks in, complete lines out. No I/O.

Both framers are one state machine. Feed chunks of any size; the lines that come out do not depend on the cuts.

    state     bytes without LF                      LF                         finish()
    --------  ------------------------------------  -------------------------  -------------------------
    empty     keep them → begun                     an empty line              None
    begun     keep them; beyond `limit` → oversize  the line → empty           the line → empty
    oversize  count them, keep head and tail only   an `Oversize` → empty      an `Oversize` → empty

`LineFramer` reads messages: a carriage return before the line feed belongs to the line end, and a `limit` bounds the
memory. `RawLineFramer` is for a proxy, which must pass on each byte: only the line feed is cut off, and there is no
limit (so no state `oversize`).
"""

from typing import Final

import msgspec

from toolvet.errors import UsageError

DEFAULT_MESSAGE_BYTES: Final = 64 * 2**20
_LEAST_MESSAGE_BYTES: Final = 4096
"""How many bytes of a message are kept, unless `max_message_bytes` says otherwise. Real servers reach 50 MB."""

# How many bytes of an oversize line are kept from each of its ends.
_QUOTE: Final = 400


class Oversize(msgspec.Struct, frozen=True):
    """A line longer than the framer's `limit`: how many bytes were dropped, and its first and last bytes."""

    length: int
    limit: int
    head: bytes
    tail: bytes

    @property
    def is_endless(self) -> bool:
        """Whether the line is so long that toolvet does not wait for its end."""
        return self.length > 8 * self.limit


class LineFramer:
    r"""Lines without their line ends (LF or CR LF). Linear in the bytes fed, however they are cut.

    A line has no upper length unless `limit` (bytes) is given: then a longer one comes out as one `Oversize` and
    never takes more than `limit` plus one chunk of memory.

        >>> framer = LineFramer()
        >>> framer.feed(b'{"id": 1}\r\n{"id"'), framer.feed(b": 2}\n")
        ([b'{"id": 1}'], [b'{"id": 2}'])
    """

    def __init__(self, limit: int | None = None) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._length = 0
        self._head: bytes | None = None
        self._tail = b""

    def feed(self, chunk: bytes) -> list[bytes | Oversize]:
        """Return the lines that `chunk` completes, oldest first."""
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

    @property
    def oversize(self) -> Oversize | None:
        """The unfinished line, if it is too long already: it may never end."""
        if self._head is None or self._limit is None:
            return None
        return Oversize(self._length, self._limit, self._head, self._tail)

    def finish(self) -> bytes | Oversize | None:
        """Return the last line when the stream ends without a line end; None when nothing is left."""
        return self._take() if self._length else None

    def _add(self, part: bytes) -> None:
        if not part:
            return
        self._length += len(part)
        if self._head is not None:
            self._tail = (self._tail + part)[-_QUOTE:]
            return
        self._parts.append(part)
        if self._limit is not None and self._length > self._limit:
            # Not the whole line once more: it may be as long as the memory allows.
            self._head = b"".join(part[:_QUOTE] for part in self._parts[:_QUOTE])[:_QUOTE]
            self._tail = b"".join(part[-_QUOTE:] for part in self._parts[-_QUOTE:])[-_QUOTE:]
            self._parts.clear()

    def _take(self) -> bytes | Oversize:
        if self._head is not None and self._limit is not None:
            line: bytes | Oversize = Oversize(self._length, self._limit, self._head, self._tail)
        else:
            line = (self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)).removesuffix(b"\r")
        self._parts.clear()
        self._length, self._head, self._tail = 0, None, b""
        return line


class RawLineFramer:
    r"""Lines without their line feed and with every other byte, a carriage return included. Linear in the bytes fed.

    >>> framer = RawLineFramer()
    >>> framer.feed(b'{"id": 1}\r\n{"id"'), framer.begun, framer.feed(b": 2}\n")
    ([b'{"id": 1}\r'], True, [b'{"id": 2}'])
    """

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self.size = 0

    @property
    def begun(self) -> bool:
        """Whether part of a line is kept; `size` is how many bytes."""
        return bool(self._parts)

    def feed(self, chunk: bytes) -> list[bytes]:
        """Return the lines that `chunk` completes, oldest first."""
        # Most chunks hold one line feed at most: `find` is 30 times as fast as `split`, which looks at each byte.
        first = chunk.find(b"\n")
        if first < 0:
            lines, rest = [], chunk
        elif first + 1 == len(chunk):
            lines, rest = [chunk[:-1]], b""
        else:
            lines = chunk.split(b"\n")
            rest = lines.pop()
        parts = self._parts
        if parts and lines:
            parts.append(lines[0])
            lines[0] = b"".join(parts)
            parts.clear()
        if lines:
            self.size = len(rest)
        else:
            self.size += len(rest)
        if rest:
            parts.append(rest)
        return lines

    def take(self) -> list[bytes]:
        """Return the parts of the unfinished line, and forget them: the line is too long to be kept."""
        parts = self._parts[:]
        self._parts.clear()
        self.size = 0
        return parts

    def finish(self) -> bytes | None:
        """Return the bytes after the last line feed when the stream ends; None when there are none."""
        return b"".join(self.take()) or None


def check_message_bytes(value: int) -> None:
    """Raise UsageError for a limit that would not hold even small messages."""
    if value < _LEAST_MESSAGE_BYTES:
        raise UsageError(f"--max-message-bytes {value}: must be at least {_LEAST_MESSAGE_BYTES}")
