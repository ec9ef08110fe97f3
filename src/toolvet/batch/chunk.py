"""`Chunk`: rows as they were read, with their place in the input."""

from collections.abc import Iterator
from typing import Any, Final, Protocol

import msgspec

from toolvet.batch.arrow import ArrowSchema, RecordBatch, pa

READ_PROBLEM: Final = "__problem__"
"""The column in which a reader says why a row cannot be judged."""


def split(batch: RecordBatch, most_bytes: int) -> Iterator[RecordBatch]:
    """Yield the rows of a batch in parts of at most `most_bytes` bytes, or of one row."""
    plain = without_views(batch.schema)
    yield from _split(batch if plain is batch.schema else batch.cast(plain), most_bytes)


def without_views(schema: ArrowSchema) -> ArrowSchema:
    """Return the columns with plain texts for views, which do not know how much of their buffers is theirs."""
    if not any(_is_view(field.type) for field in schema):
        return schema
    return pa.schema([field.with_type(_without_view(field.type)) for field in schema])


def _split(batch: RecordBatch, most_bytes: int) -> Iterator[RecordBatch]:
    if batch.num_rows <= 1 or batch.nbytes <= most_bytes:
        yield batch
        return
    half = batch.num_rows // 2
    yield from _split(batch.slice(0, half), most_bytes)
    yield from _split(batch.slice(half), most_bytes)


def _is_view(kind: Any) -> bool:
    return bool(pa.types.is_string_view(kind) or pa.types.is_binary_view(kind))


def _without_view(kind: Any) -> Any:
    if not _is_view(kind):
        return kind
    return pa.large_string() if pa.types.is_string_view(kind) else pa.large_binary()


class ReadPosition(msgspec.Struct, frozen=True, order=True):
    """Where reading goes on: in which file, from which place in it, and the number of its next row.

    `at` is a byte of a file of lines, and the row itself in others.
    """

    file: int = 0
    at: int = 0
    row: int = 1


class Chunk(msgspec.Struct, frozen=True):
    """Some rows of one file.

    `form` says what `body` is: "arrow" (a record batch in Arrow's IPC format), "lines" (JSON, one value in a line), or
    "lost" (rows that cannot be read; `problem` says why). `row` is the number of the first row in its file, `rows` how
    many there are (in lines, how many lines), `after` where the next chunk begins.
    """

    form: str
    body: bytes
    file: int
    row: int
    rows: int
    after: ReadPosition
    problem: str | None = None
    is_cut: bool = False
    name: str | None = None


class FileRange(msgspec.Struct, frozen=True):
    """A part of a file that is read by the process that judges it: the chunks whose first row is in it.

    `file` is the file's number, `location` its path or URL, and `size` up to which byte lines are read. It ends before
    the row or byte `end`; None is the end of the file.
    """

    file: int
    location: str
    start: ReadPosition
    end: int | None
    size: int | None = None


class RowReader(Protocol):
    """Reads one file."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its columns; of JSON those of its first records."""
        ...

    def schema(self, wanted: tuple[str, ...]) -> ArrowSchema:
        """The types of these columns."""
        ...

    def chunks(self, wanted: tuple[str, ...], start: ReadPosition) -> Iterator[Chunk]:
        """Yield the rows from a place on."""
        ...
