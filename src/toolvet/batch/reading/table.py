"""`TableReader`: the rows of a CSV or TSV file."""

import csv
import io
from collections.abc import Iterator
from itertools import chain
from typing import Any, BinaryIO, Final, cast

from toolvet.batch.arrow import ArrowSchema, pa
from toolvet.batch.chunk import READ_PROBLEM, Chunk, ReadPosition
from toolvet.batch.location import Location
from toolvet.batch.reading.parquet import CHUNK_BYTES, encoded
from toolvet.core.discover import LONGEST_LINE, text_lines
from toolvet.errors import UsageError

_SEPARATORS: Final = ",;\t"
_END: Final = (
    "\0toolvet: the end of the table\0"  # A line behind the last one: it is in a cell whose quote never closes.
)
_UNCLOSED: Final = "has a quote that is never closed, so that all behind it is one cell"
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")


class TableReader:
    """Reads one table of texts: the first line has the names of its columns. Raises UsageError if it has none."""

    def __init__(self, location: Location, number: int) -> None:
        self._location = location
        self._number = number
        with self._open() as text:
            heading = _heading(location, text)
            self._separator = max(_SEPARATORS, key="".join(heading.split('"')[::2]).count)
            try:
                self.names: tuple[str, ...] = tuple(next(csv.reader([heading], delimiter=self._separator)))
            except csv.Error as error:
                raise UsageError(f"{location.given}: its first line is not CSV: {error}") from error

    def schema(self, wanted: tuple[str, ...]) -> ArrowSchema:
        """The types of these columns: texts."""
        return pa.schema([(name, pa.string()) for name in wanted])

    def chunks(self, wanted: tuple[str, ...], start: ReadPosition) -> Iterator[Chunk]:
        """Yield the rows from `start.at` on; a row with too few cells, or too many, has a problem."""
        places = [self.names.index(name) for name in wanted]
        with self._open() as text:
            _heading(self._location, text)
            # Bytes of UTF-16 have NULs in them that are none; what is left of them in a text stays.
            reader = csv.reader(chain(text_lines(text), [_END]), delimiter=self._separator)
            made = _GatheredRows(wanted, self._number, start.at)
            for number, cells in _numbered(reader, self._location):
                if number <= start.at:
                    continue
                problem = cells if isinstance(cells, str) else None
                if problem is None and len(cells) != len(self.names):
                    problem = f"has {len(cells)} cells, where the first line names {len(self.names)} columns"
                is_whole = problem is None
                row: list[str | None] = [cells[place] if is_whole else None for place in places]
                made.add(number, row, problem)
                if made.size >= CHUNK_BYTES:
                    yield made.chunk()
            if made.count:
                yield made.chunk()

    def _open(self) -> io.TextIOWrapper:
        found = self._location
        csv.field_size_limit(LONGEST_LINE)
        try:
            stream = found.system.open_input_stream(found.path, compression=found.compression)
            buffered = io.BufferedReader(cast("io.RawIOBase", _Raw(stream)), 2**20)
            encoding = "utf-16" if buffered.peek(2)[:2] in _UTF_16 else "utf-8-sig"
            return io.TextIOWrapper(cast("BinaryIO", buffered), encoding, errors="replace", newline="")
        except (OSError, pa.ArrowException) as error:
            raise UsageError(f"{found.given}: cannot be read: {found.fault(error)}") from error


class _Raw(io.RawIOBase):
    """A stream of pyarrow as one of Python."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        read: bytes = self._stream.read(len(buffer))
        buffer[: len(read)] = read
        return len(read)

    def close(self) -> None:
        self._stream.close()
        super().close()


class _GatheredRows:
    """Rows that are gathered into a chunk."""

    def __init__(self, names: tuple[str, ...], file: int, at: int) -> None:
        self._names = names
        self._file = file
        self._at = at
        self._rows: list[list[str | None]] = []
        self._problems: list[str | None] = []
        self.size = 0

    @property
    def count(self) -> int:
        return len(self._rows)

    def add(self, number: int, row: list[str | None], problem: str | None) -> None:
        self._rows.append(row)
        self._problems.append(problem)
        self.size += sum(len(cell or "") for cell in row) + 8
        self._at = number

    def chunk(self) -> Chunk:
        columns = zip(*self._rows, strict=True) if self._names else ()
        arrays = [pa.array(column, pa.string()) for column in columns]
        batch = pa.RecordBatch.from_arrays(
            [*arrays, pa.array(self._problems, pa.string())], names=[*self._names, READ_PROBLEM]
        )
        count, first = self.count, self._at - self.count + 1
        after = ReadPosition(self._file, self._at, self._at + 1)
        self._rows, self._problems, self.size = [], [], 0
        return Chunk("arrow", encoded(batch), self._file, first, count, after)


def _numbered(reader: Any, location: Location) -> Iterator[tuple[int, list[str] | str]]:
    number = 0
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            number += 1
            yield number, f"not CSV: {error}"
            continue
        except (OSError, EOFError, pa.ArrowException) as error:
            yield number + 1, f"cannot be read further: {location.fault(error)}"
            return
        if cells == [_END]:
            return
        if cells:
            number += 1
            yield number, _UNCLOSED if cells[-1].endswith(_END) else cells


def _heading(location: Location, text: io.TextIOWrapper) -> str:
    found: list[str] = []
    quotes = size = 0
    try:
        for line in text_lines(text):
            found.append(line)
            quotes, size = quotes + line.count('"'), size + len(line)
            # The name of a column may go over several lines.
            if quotes % 2 == 0 or size > LONGEST_LINE:
                break
    except (OSError, EOFError, pa.ArrowException) as error:
        raise UsageError(f"{location.given}: cannot be read: {location.fault(error)}") from error
    heading = "".join(found)
    if not heading.strip():
        raise UsageError(f"{location.given} is empty: a table begins with the names of its columns")
    return heading
