"""`ParquetReader`: the rows of a Parquet file, in batches of a few megabytes, however large its row groups are."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any, Final

from toolvet.batch.arrow import ArrowSchema, RecordBatch, pa
from toolvet.batch.chunk import Chunk, ReadPosition, split
from toolvet.batch.location import Location
from toolvet.errors import UsageError

parquet: Any = import_module("pyarrow.parquet")

CHUNK_BYTES: Final = 2**20
"""How large a chunk is, about; a single row may be larger."""
RANGE_BYTES: Final = 16 * 2**20
"""The approximate size of a range that the judging process reads itself."""
_MOST_RANGES: Final = 8  # Of a row group: a reader of one of them decodes those before it, too.
_MOST_ROWS: Final = 2**16
_BUFFER: Final = 2**20


class ParquetReader:
    """Reads one Parquet file. Raises UsageError if it has none of Parquet's metadata."""

    def __init__(self, location: Location, number: int) -> None:
        self._location = location
        self._number = number
        try:
            # Without pre-buffering a row group is read as it is needed, and not held as a whole.
            self._file: Any = parquet.ParquetFile(
                location.system.open_input_file(location.path),
                pre_buffer=False,
                buffer_size=_BUFFER,
                page_checksum_verification=True,
            )
        except (OSError, pa.ArrowException) as error:
            words = f"not a Parquet file that can be read: {location.fault(error)}"
            raise UsageError(f"{location.given}: {words}") from error
        self.names: tuple[str, ...] = tuple(self._file.schema_arrow.names)
        self.rows: int = self._file.metadata.num_rows

    def schema(self, wanted: tuple[str, ...]) -> ArrowSchema:
        """The types of these columns."""
        return pa.schema([self._file.schema_arrow.field(name) for name in wanted])

    def chunks(self, wanted: tuple[str, ...], start: ReadPosition) -> Iterator[Chunk]:
        """Yield the rows from `start.at` on. Rows of a page that is damaged, and those behind it, are lost."""
        first = 0
        for group in range(self._file.num_row_groups):
            rows = self._file.metadata.row_group(group).num_rows
            if first + rows > start.at:
                yield from self._group(group, first, rows, wanted, start.at)
            first += rows

    def ranges(self, wanted: tuple[str, ...], at: int) -> Iterator[tuple[int, int]]:
        """Yield the rows from `at` on as parts of some megabytes: small row groups together, large ones divided."""
        start = first = size = 0
        for group in range(self._file.num_row_groups):
            rows, held = self._file.metadata.row_group(group).num_rows, self._size(group, wanted)
            parts = max(1, min(_MOST_RANGES, held // RANGE_BYTES, rows))
            ends = [first + rows * (part + 1) // parts for part in range(parts)]
            size += held
            first += rows
            if size < RANGE_BYTES and group + 1 < self._file.num_row_groups:
                continue
            for end in ends:
                if end > max(at, start):
                    yield max(at, start), end
                start = end
            size = 0

    def _group(self, group: int, first: int, rows: int, wanted: tuple[str, ...], skipped: int) -> Iterator[Chunk]:
        at, end = first, first + rows
        # This many rows make a chunk, by the sizes in the metadata.
        at_once = max(1, min(_MOST_ROWS, CHUNK_BYTES * rows // max(1, self._size(group, wanted))))
        batches = self._file.iter_batches(at_once, row_groups=[group], columns=list(wanted))
        while at < end:
            try:
                batch = next(batches, None)
            except (OSError, pa.ArrowException, MemoryError) as error:
                batch = None
                problem = f"cannot be read: {self._location.fault(error)}"
            else:
                problem = "cannot be read: the row group has fewer rows than it says"
            if batch is None:
                at = max(at, skipped)
                yield Chunk("lost", b"", self._number, at + 1, end - at, self._after(end), problem)
                return
            for part in split(batch, 2 * CHUNK_BYTES):
                at += part.num_rows
                if at > skipped:
                    body = encoded(part)
                    yield Chunk("arrow", body, self._number, at - part.num_rows + 1, part.num_rows, self._after(at))

    def _after(self, at: int) -> ReadPosition:
        return ReadPosition(self._number, at, at + 1)

    def _size(self, group: int, wanted: tuple[str, ...]) -> int:
        held = self._file.metadata.row_group(group)
        columns = [held.column(number) for number in range(held.num_columns)]
        return sum(each.total_uncompressed_size for each in columns if each.path_in_schema.partition(".")[0] in wanted)


def encoded(batch: RecordBatch) -> bytes:
    """Return a record batch in Arrow's IPC format."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def decoded(body: bytes) -> RecordBatch:
    """Return the record batch of `encoded`."""
    with pa.ipc.open_stream(pa.py_buffer(body)) as reader:
        return reader.read_next_batch()
