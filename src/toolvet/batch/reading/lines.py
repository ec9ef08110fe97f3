"""`LinesReader`: the lines of a JSONL file or of stdin, undecoded: decoding them is the work of all processes."""

import io
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, Self, cast

import orjson

from toolvet.batch.arrow import ArrowSchema, ArrowType, pa
from toolvet.batch.chunk import Chunk, ReadPlace
from toolvet.batch.location import Location
from toolvet.batch.reading.parquet import CHUNK_BYTES
from toolvet.core.json_value import is_object
from toolvet.errors import UsageError

_PEEK: Final = 2**18
_PEEKED_LINES: Final = 200
_LONGEST_LINE: Final = 128 * 2**20
_SCALARS: Final[Sequence[tuple[set[str], str]]] = (
    ({"bool"}, "bool_"),
    ({"int"}, "int64"),
    ({"int", "float"}, "float64"),
    ({"float"}, "float64"),
)


class LinesReader:
    """Reads one file of JSON lines, up to the size that it had at first; another process may go on writing it.

    Raises UsageError where it cannot be opened.
    """

    def __init__(self, location: Location, number: int, size: int | None = None) -> None:
        self._location = location
        self._number = number
        self._kept = b""
        self.size = size if size is not None else _size(location)
        head = self._peek()
        self._records = [each for line in head.splitlines()[:_PEEKED_LINES] if is_object(each := _decode(line))]
        self.names: tuple[str, ...] = tuple(dict.fromkeys(name for each in self._records for name in each))

    def schema(self, wanted: tuple[str, ...]) -> ArrowSchema:
        """The types of these members, by what the first records have: numbers and truth values, else texts."""
        return pa.schema([(name, self._type(name)) for name in wanted])

    def _type(self, name: str) -> ArrowType:
        kinds = {type(value).__name__ for each in self._records if (value := each.get(name)) is not None}
        return next((getattr(pa, found)() for known, found in _SCALARS if kinds == known), pa.string())

    def chunks(self, wanted: tuple[str, ...], start: ReadPlace) -> Iterator[Chunk]:
        """Yield whole lines from the byte `start.at` on."""
        del wanted
        at, row = start.at, start.row
        rest = b""
        with self._open() as stream:
            _skip(stream, at)
            left = None if self.size is None else self.size - at
            while True:
                try:
                    read = stream.read(CHUNK_BYTES if left is None else min(CHUNK_BYTES, left))
                except (OSError, pa.ArrowException, EOFError) as error:
                    yield self._lost(row, at, f"cannot be read further: {error}")
                    return
                if left is not None:
                    left -= len(read)
                whole, rest = _cut(rest, read)
                if whole:
                    count = whole.count(b"\n")
                    at, row = at + len(whole), row + count
                    yield Chunk("lines", whole, self._number, row - count, count, ReadPlace(self._number, at, row))
                if len(rest) > _LONGEST_LINE:
                    yield self._lost(row, at, f"the line is longer than {_LONGEST_LINE >> 20} MiB; so is all behind it")
                    return
                if not read:
                    break
        if rest and not self.has_grown():
            yield Chunk("lines", rest, self._number, row, 1, ReadPlace(self._number, at + len(rest), row + 1))

    def has_grown(self) -> int:
        """By how many bytes the file has become longer since it was opened."""
        if self.size is None:
            return 0
        return max(0, (_size(self._location) or 0) - self.size)

    def _lost(self, row: int, at: int, problem: str) -> Chunk:
        return Chunk("lost", b"", self._number, row, 1, ReadPlace(self._number, at, row + 1), problem, is_cut=True)

    def _peek(self) -> bytes:
        if self._location.is_stdio:
            self._kept = _first_lines(_stdin().read1)
            return self._kept
        try:
            with self._open() as stream:
                return _first_lines(stream.read)
        except (OSError, pa.ArrowException) as error:
            raise UsageError(f"{self._location.given}: cannot be read: {error}") from error

    def _open(self) -> Any:
        if self._location.is_stdio:
            return _Stdin(self._kept)
        found = self._location
        return found.system.open_input_stream(found.path, compression=found.compression, buffer_size=CHUNK_BYTES)


def _first_lines(read: Callable[[int], bytes]) -> bytes:
    """The first lines, of which one at least is whole, however long it is."""
    found = [bytes(read(_PEEK))]
    size = len(found[0])
    while found[-1] and b"\n" not in found[-1] and size <= _LONGEST_LINE:
        found.append(bytes(read(CHUNK_BYTES)))
        size += len(found[-1])
    return b"".join(found)


class _Stdin:
    """Stdin with what was read of it before."""

    def __init__(self, kept: bytes) -> None:
        self._kept = kept

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def read(self, size: int) -> bytes:
        kept, self._kept = self._kept, b""
        return kept or _stdin().read1(size)


def _stdin() -> io.BufferedReader:
    return cast("io.BufferedReader", sys.stdin.buffer)


def _size(location: Location) -> int | None:
    """The size of a plain file; of a compressed one and of stdin it says nothing about the lines."""
    if location.is_stdio or location.compression is not None:
        return None
    size: int = location.info().size
    return size


def _skip(stream: Any, count: int) -> None:
    while count > 0:
        read = stream.read(min(count, CHUNK_BYTES))
        if not read:
            return
        count -= len(read)


def _cut(rest: bytes, read: bytes) -> tuple[bytes, bytes]:
    """The whole lines of what was read, and what is left of the last one."""
    end = read.rfind(b"\n") + 1
    if not end:
        return b"", rest + read
    return rest + read[:end], read[end:]


def _decode(line: bytes) -> object:
    try:
        value: object = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return value
