"""Lines that are too long to be kept: cut from the stream, followed while they come, passed on between other lines."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from toolvet.mcp.wire import WINDOW, Id, MessageStart, RawLineFramer, read_end, read_start

if TYPE_CHECKING:
    from toolvet.proxy.session import CallWatch

# How many of the last bytes are kept: an id may be there.
_TAIL: Final = 400
# A line without a visible id is read on to its end, where the id may be, but not longer than this many limits.
_PATIENCE: Final = 8


class ByteWriter(Protocol):
    """Takes bytes without waiting."""

    def write(self, buffers: Sequence[bytes]) -> None:
        """Write these one after the other."""
        ...


class LongLine:
    """A line beyond the limit while it comes: its beginning, its last bytes, and how many bytes came so far.

    `passes` says whether it is passed on as it comes; `is_answered` whether the other side got an answer in its place.
    `call_watch` is set where a call must not pass.
    """

    def __init__(self, parts: list[bytes], limit: int) -> None:
        beginning = b""
        for part in parts:
            beginning += part[: WINDOW - len(beginning)]
            if len(beginning) == WINDOW:
                break
        self.start: MessageStart = read_start(beginning)
        self.is_json = beginning.lstrip()[:1] in {b"{", b"["}
        self.size = sum(map(len, parts))
        self.passes = False
        self.call_watch: CallWatch | None = None
        self.is_answered = False
        self._limit = limit
        self._tail = b"".join(part[-_TAIL:] for part in parts[-_TAIL:])[-_TAIL:]

    @property
    def id(self) -> Id | None:
        """The id, if it was at the beginning or is in what came last."""
        return self.start.id if self.start.id is not None else read_end(self._tail)

    @property
    def is_endless(self) -> bool:
        """Whether the line is so long that toolvet does not wait for an id at its end."""
        return self.size > _PATIENCE * self._limit

    def add(self, part: bytes) -> None:
        """Note what came next."""
        self.size += len(part)
        self._tail = (self._tail + part[-_TAIL:])[-_TAIL:]


class LineSplitter:
    """Cuts the bytes of one side into lines. A line of more than `limit` bytes is not kept, but followed.

    Args:
        limit: How many bytes of a line are kept.
        take: Called with complete lines.
        begin: Called with a line when it turned out to be too long, and with the parts of it that came so far.
        go_on: Called with each further part of that line.
        end: Called at its line feed.
    """

    def __init__(
        self,
        limit: int,
        *,
        take: Callable[[list[bytes]], None],
        begin: Callable[[LongLine, list[bytes]], None],
        go_on: Callable[[LongLine, bytes], None],
        end: Callable[[LongLine], None],
    ) -> None:
        self._limit = limit
        self._take = take
        self._begin = begin
        self._go_on = go_on
        self._end = end
        self._framer = RawLineFramer()
        self._long: LongLine | None = None

    @property
    def begun(self) -> bool:
        """Whether the last bytes did not end a line."""
        return self._framer.begun or self._long is not None

    def feed(self, chunk: bytes) -> None:
        """Feed bytes of this side."""
        long = self._long
        if long is not None:
            end = chunk.find(b"\n")
            part = chunk if end < 0 else chunk[:end]
            if part:
                long.add(part)
                self._go_on(long, part)
            if end < 0:
                return
            self._long = None
            self._end(long)
            chunk = chunk[end + 1 :]
            if not chunk:
                return
        framer, limit = self._framer, self._limit
        is_small = framer.size + len(chunk) <= limit
        lines = framer.feed(chunk)
        if is_small:
            if lines:
                self._take(lines)
            return
        taken = 0
        for number, line in enumerate(lines):
            if len(line) > limit:
                if number > taken:
                    self._take(lines[taken:number])
                taken = number + 1
                self._end(self._begun_long([line]))
        if taken < len(lines):
            self._take(lines[taken:])
        if framer.size > limit:
            self._long = self._begun_long(framer.take())

    def finish(self) -> bytes | LongLine | None:
        """Return the line that the end of the stream left unfinished."""
        long, self._long = self._long, None
        return long if long is not None else self._framer.finish()

    def _begun_long(self, parts: list[bytes]) -> LongLine:
        long = LongLine(parts, self._limit)
        self._begin(long, parts)
        return long


class LineWriter:
    """The way to one side. While a long line is passed on, other lines wait for its end; `size` is how many bytes."""

    def __init__(self, writer: ByteWriter) -> None:
        self._writer = writer
        self._is_busy = False
        self._waiting: list[bytes] = []
        self.size = 0

    def write(self, buffers: Sequence[bytes]) -> None:
        """Write complete lines, each with its line feed."""
        if self._is_busy:
            self._waiting += buffers
            self.size += sum(map(len, buffers))
        else:
            self._writer.write(buffers)

    def pass_part(self, parts: Sequence[bytes]) -> None:
        """Write a part of a long line."""
        self._is_busy = True
        self._writer.write(parts)

    def end_line(self) -> None:
        """Write the end of a long line, and what waited for it."""
        self._flush([b"\n"])

    def cut_line(self) -> bool:
        """End a long line whose end will not come. Returns whether its last bytes are still the last ones."""
        waited = bool(self._waiting)
        self._flush([b"\n"] if waited else [])
        return not waited

    def _flush(self, end: list[bytes]) -> None:
        self._is_busy = False
        waiting = end + self._waiting
        self._waiting = []
        self.size = 0
        if waiting:
            self._writer.write(waiting)
