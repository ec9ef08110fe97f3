"""`LinesReader`: the lines of a JSONL file or of stdin, undecoded; and `lines_batch`, which decodes them to columns.

One process reads lines, and all processes decode them.
"""

import io
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, Self, cast

import numpy as np
import orjson

from toolvet.batch.arrow import Array, ArrowSchema, ArrowType, RecordBatch, pa
from toolvet.batch.chunk import READ_PROBLEM, Chunk, ReadPosition
from toolvet.batch.location import Location
from toolvet.batch.plan import ID, Plan
from toolvet.batch.reading.parquet import CHUNK_BYTES
from toolvet.core.json_value import elements, is_array, is_object, members
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

    Raises UsageError if it cannot be opened.
    """

    def __init__(self, location: Location, number: int, size: int | None = None) -> None:
        self._location = location
        self._number = number
        self._kept = b""
        self.size = size if size is not None else _size(location)
        if location.is_stdio:
            head = self._kept = _first_lines(_stdin().read1)
        else:
            try:
                with self._open() as stream:
                    head = _first_lines(stream.read)
            except (OSError, pa.ArrowException) as error:
                raise UsageError(f"{location.given}: cannot be read: {location.fault(error)}") from error
        self._records: list[Mapping[str, object]] = []
        for line in head.splitlines()[:_PEEKED_LINES]:
            with suppress(orjson.JSONDecodeError):
                record: object = orjson.loads(line)
                if is_object(record):
                    self._records.append(record)
        self.names: tuple[str, ...] = tuple(dict.fromkeys(name for each in self._records for name in each))

    def schema(self, wanted: tuple[str, ...]) -> ArrowSchema:
        """The types of these members, by what the first records have: numbers and truth values, else texts."""
        fields: list[tuple[str, ArrowType]] = []
        for name in wanted:
            kinds = {type(value).__name__ for each in self._records if (value := each.get(name)) is not None}
            found = next((scalar for known, scalar in _SCALARS if kinds == known), "string")
            fields.append((name, getattr(pa, found)()))
        return pa.schema(fields)

    def chunks(self, wanted: tuple[str, ...], start: ReadPosition) -> Iterator[Chunk]:
        """Yield whole lines from the byte `start.at` on."""
        del wanted
        at, row = start.at, start.row
        rest = b""
        with self._open() as stream:
            skipped = 0
            while skipped < at and (passed := stream.read(min(at - skipped, CHUNK_BYTES))):
                skipped += len(passed)
            left = None if self.size is None else self.size - at
            while True:
                try:
                    read = stream.read(CHUNK_BYTES if left is None else min(CHUNK_BYTES, left))
                except (OSError, pa.ArrowException, EOFError) as error:
                    yield self._lost(row, at, f"cannot be read further: {self._location.fault(error)}")
                    return
                if left is not None:
                    left -= len(read)
                end = read.rfind(b"\n") + 1
                whole, rest = (rest + read[:end], read[end:]) if end else (b"", rest + read)
                if whole:
                    count = whole.count(b"\n")
                    at, row = at + len(whole), row + count
                    yield Chunk("lines", whole, self._number, row - count, count, ReadPosition(self._number, at, row))
                if len(rest) > _LONGEST_LINE:
                    yield self._lost(row, at, f"the line is longer than {_LONGEST_LINE >> 20} MiB; so is all behind it")
                    return
                if not read:
                    break
        if rest and not self.has_grown():
            yield Chunk("lines", rest, self._number, row, 1, ReadPosition(self._number, at + len(rest), row + 1))

    def has_grown(self) -> int:
        """By how many bytes the file has become longer since it was opened."""
        if self.size is None:
            return 0
        return max(0, (_size(self._location) or 0) - self.size)

    def _lost(self, row: int, at: int, problem: str) -> Chunk:
        return Chunk("lost", b"", self._number, row, 1, ReadPosition(self._number, at, row + 1), problem, is_cut=True)

    def _open(self) -> Any:
        if self._location.is_stdio:
            return _Stdin(self._kept)
        found = self._location
        try:
            return found.system.open_input_stream(found.path, compression=found.compression, buffer_size=CHUNK_BYTES)
        except OSError as error:
            raise UsageError(f"{found.given}: cannot be read: {found.fault(error)}") from error


def _first_lines(read: Callable[[int], bytes]) -> bytes:
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


_TEXTS = ("text", "finish_reason")
# The first line of JSON that is written for people.
_OPENINGS = (b"{", b"[")


def lines_batch(content: bytes, first: int, plan: Plan) -> tuple[RecordBatch, Any]:
    """Return the records of lines, and the number of each line; `first` is that of the first one.

    Lines that are blank are left out. A line that is not JSON, or has no place for what is judged, has a problem.
    """
    rows: list[int] = []
    problems: list[str | None] = []
    values: dict[str, list[object]] = {name: [] for name in plan.wanted}
    purposes = {name: purpose for purpose, name in plan.columns.items()}
    subject = plan.job.subject
    main = plan.columns.get(subject.main)
    whole: list[object] = []
    for number, line in enumerate(content.split(b"\n"), start=first):
        if not line.strip():
            continue
        record: object = None
        problem: str | None = None
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            problem = f"not JSON: {error}"
            if line.strip() in _OPENINGS:
                problem = "not JSON: it goes on over more lines, and a line is a row; `jq -c . FILE` makes it one line"
        if problem is None and not is_object(record) and not subject.is_whole:
            problem = f"must be a JSON object, not {type(record).__name__}"
        found = members(record)
        rows.append(number)
        problems.append(problem)
        for name, column in values.items():
            column.append(found.get(name))
        if subject.is_whole:
            whole.append(found[main] if main is not None and main in found else record)
    output = plan.output()
    arrays: dict[str, Array] = {}
    for name, column in values.items():
        kept = name in plan.job.keep or purposes.get(name) == ID
        arrays[name] = (
            _kept(column, output.field(ID if purposes.get(name) == ID else name).type)
            if kept
            else _texts(column, problems)
            if purposes.get(name) in _TEXTS
            else _json(column)
        )
    if subject.is_whole:
        arrays[main or subject.main] = _json(whole)
    arrays[READ_PROBLEM] = pa.array(problems, pa.string())
    return pa.RecordBatch.from_pydict(arrays), np.array(rows, np.int64)


def _texts(column: Sequence[object], problems: list[str | None]) -> Array:
    """Texts: strings, or the text blocks of a list, as the APIs of model vendors and MCP return them."""
    found: list[str | None] = []
    for row, value in enumerate(column):
        if value is None or isinstance(value, str):
            found.append(value)
        elif is_array(value):
            blocks = [members(each).get("text") if is_object(each) else each for each in elements(value)]
            found.append("".join(block for block in blocks if isinstance(block, str)))
        else:
            found.append(None)
            problems[row] = problems[row] or f"must be a text, not {type(value).__name__}"
    return pa.array(found, pa.string())


def _json(column: Sequence[object]) -> Array:
    encoded = [None if value is None else orjson.dumps(value).decode() for value in column]
    return pa.ExtensionArray.from_storage(pa.json_(), pa.array(encoded, pa.string()))


def _kept(column: Sequence[object], kind: ArrowType) -> Array:
    """Return a column for the output. A value of another type than the first rows becomes null, or its JSON."""
    try:
        return pa.array(column, kind)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        pass
    if pa.types.is_string(kind):
        texts = [each if each is None or isinstance(each, str) else orjson.dumps(each).decode() for each in column]
        return pa.array(texts, kind)
    fitting: list[object] = []
    for each in column:
        try:
            pa.scalar(each, kind)
        except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
            fitting.append(None)
        else:
            fitting.append(each)
    return pa.array(fitting, kind)
