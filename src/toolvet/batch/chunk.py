"""`Chunk`: rows as they were read, with their place in the input."""

from collections.abc import Iterator
from typing import Final, Protocol

import msgspec

from toolvet.batch.arrow import ArrowSchema

READ_PROBLEM: Final = "__problem__"
"""The column in which a reader says why a row cannot be judged."""


class ReadPlace(msgspec.Struct, frozen=True, order=True):
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
    after: ReadPlace
    problem: str | None = None
    is_cut: bool = False
    name: str | None = None


class Stretch(msgspec.Struct, frozen=True):
    """A part of a file that is read where it is judged: the chunks whose first row is in it.

    `file` is the file's number, `location` its path or URL, and `size` up to which byte lines are read. It ends before
    the row or byte `end`; None is the end of the file.
    """

    file: int
    location: str
    start: ReadPlace
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

    def chunks(self, wanted: tuple[str, ...], start: ReadPlace) -> Iterator[Chunk]:
        """Yield the rows from a place on."""
        ...
