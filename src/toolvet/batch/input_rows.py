"""`InputRows`: the rows of all files of an input, in order, as work for an engine."""

import os
from collections.abc import Iterator, Sequence
from typing import Final

from toolvet.batch.chunk import Chunk, ReadPlace, RowReader, Stretch
from toolvet.batch.engine import Work
from toolvet.batch.location import Location
from toolvet.batch.plan import Plan
from toolvet.batch.reading.lines import LinesReader
from toolvet.batch.reading.opening import open_reader
from toolvet.batch.reading.parquet import ParquetReader
from toolvet.errors import UsageError

# One of many files that is at most so large is read as a whole where it is judged: its output fits into memory.
_WHOLE_FILE: Final = 64 * 2**20


class InputRows:
    """The rows of all files from a place on. `first` reads the first file, `sizes` say up to where lines are read."""

    def __init__(
        self, plan: Plan, files: Sequence[Location], first: RowReader, start: ReadPlace, sizes: Sequence[int | None]
    ) -> None:
        self._plan = plan
        self._files = files
        self._first = first
        self._start = start
        self._sizes = sizes
        self._lines: list[tuple[str, LinesReader]] = []
        self._lengths: dict[int, int] = {}

    def work(self, *, stretches: bool) -> Iterator[Work]:
        """Yield the work of each file. A later file that cannot be opened is a chunk that is lost.

        With `stretches`, of Parquet, and of small files among several, only the places are yielded; rows of other files
        are read here.
        """
        for number in range(self._start.file, len(self._files)):
            start = self._start if number == self._start.file else ReadPlace(number)
            after = ReadPlace(number + 1)
            try:
                reader = self._reader(number)
                self._check_columns(reader, number)
            except UsageError as error:
                if number == 0:
                    raise
                yield Chunk("lost", b"", number, 1, 1, after, f"{error}")
                continue
            if isinstance(reader, LinesReader):
                self._lines.append((self._files[number].given, reader))
            self._lengths[number] = _length(reader)
            yield from (self._stretches(reader, number, start) if stretches else None) or reader.chunks(
                self._plan.wanted, start
            )

    def chunk_at(self, place: ReadPlace) -> Chunk:
        """Return the chunk that begins at a place, read again."""
        return next(iter(self._reader(place.file).chunks(self._plan.wanted, place)))

    def share(self, after: ReadPlace) -> float | None:
        """How much of the input lies before a place, 0 to 1; None where that is not known."""
        length = self._lengths.get(after.file, 0)
        if after.file < len(self._files) and after.at and not length:
            return None
        return (after.file + after.at / max(1, length)) / len(self._files)

    def grown(self) -> list[tuple[str, int]]:
        """The files that became longer since they were opened, and by how many bytes."""
        return [(name, more) for name, reader in self._lines if (more := reader.has_grown())]

    def _stretches(self, reader: RowReader, number: int, start: ReadPlace) -> Iterator[Work] | None:
        """The places of a file's rows; None where they have to be read here."""
        file = self._files[number]
        if file.is_stdio:
            return None
        place = os.path.abspath(file.path) if file.is_local else file.given  # noqa: PTH100 - a path of the file system
        if isinstance(reader, ParquetReader):
            return (
                Stretch(number, place, ReadPlace(number, first, first + 1), end)
                for first, end in reader.stretches(self._plan.wanted, start.at)
            )
        if len(self._files) == 1 or file.info().size > _WHOLE_FILE:
            return None
        return iter([Stretch(number, place, start, None, self._size_of(number))])

    def _check_columns(self, reader: RowReader, number: int) -> None:
        missing = [name for name in self._plan.wanted if name not in reader.names]
        # A record of JSON may lack a member.
        if missing and not isinstance(reader, LinesReader):
            raise UsageError(f"{self._files[number].given} has no column '{missing[0]}'")

    def _reader(self, number: int) -> RowReader:
        size = self._size_of(number)
        if number == 0 and (size is None or not isinstance(self._first, LinesReader) or self._first.size == size):
            return self._first
        return open_reader(self._files[number], number, size)

    def _size_of(self, number: int) -> int | None:
        return self._sizes[number] if number < len(self._sizes) else None


def _length(reader: RowReader) -> int:
    """How far the places in a file go; 0 where that is not known."""
    if isinstance(reader, ParquetReader):
        return reader.rows
    return (reader.size or 0) if isinstance(reader, LinesReader) else 0
