"""Read a table: a CSV, TSV or Parquet file → its columns, and its rows one after the other."""

import csv
import gzip
import io
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from typing import BinaryIO, Final, Protocol, cast

import orjson

from toolvet.cli.commands.check.input import PARQUET, Record, is_table, open_input, read_records
from toolvet.core.discover import LONGEST_LINE, text_lines
from toolvet.errors import UsageError
from toolvet.version import requirement

_SEPARATORS: Final = ",;\t"
_TEXT_TYPES: Final = ("string", "large_string", "string_view")
_MOST_SHOWN: Final = 40
_ROWS_AT_ONCE: Final = 500


class _CsvReader(Protocol):
    """What `csv.reader` returns, whose class has no name."""

    @property
    def line_num(self) -> int: ...
    def __next__(self) -> list[str]: ...


class _Column(Protocol):
    name: str
    type: object


class _Batch(Protocol):
    def to_pylist(self) -> list[dict[str, object]]: ...


class _ParquetFile(Protocol):
    """The part of pyarrow's class, which has no types, that is used here."""

    schema_arrow: Iterable[_Column]

    def iter_batches(self, *, batch_size: int, columns: list[str]) -> Iterator[_Batch]: ...


@dataclass(frozen=True)
class Row:
    """One row of a table and its place. Cells of CSV files are texts, those of Parquet files any JSON value."""

    place: str
    cells: Mapping[str, object]

    def value(self, column: str) -> object:
        """The cell of a column; the text of a JSON object or list is decoded."""
        cell = self.cells.get(column)
        if isinstance(cell, str) and cell.lstrip()[:1] in ("{", "["):
            try:
                return cast("object", orjson.loads(cell))
            except orjson.JSONDecodeError:
                return cell
        return cell


@dataclass(frozen=True)
class Table:
    """A table that is open: its columns, those of them that hold texts, and its rows, which can be read once.

    `rows` takes the columns that are wanted; a row may have others as well.
    """

    name: str
    columns: Sequence[str]
    texts: Sequence[str]
    rows: Callable[[Sequence[str]], Iterator[Row]]

    def column(self, field: str | None, usual: Sequence[str]) -> str:
        """Return the column to read: `field`, else the only one of a `usual` name, else the only one of texts.

        Raises UsageError, which lists the columns, where that is not clear.
        """
        shown = ", ".join(self.columns[:_MOST_SHOWN]) + (", …" if len(self.columns) > _MOST_SHOWN else "")
        if field is not None:
            if field in self.columns:
                return field
            raise UsageError(f"{self.name} has no column '{field}'; it has {shown}")
        named = [column for column in self.columns if column.strip().lower() in usual]
        for found in (named, self.texts):
            if len(found) == 1:
                return found[0]
        raise UsageError(f"{self.name} is a table: which column? Give --field NAME; it has {shown}")


def read_rows_or_records(file: str, field: str | None, usual: str, others: Sequence[str]) -> Iterator[Record]:
    """Yield the rows of a table as `read_table` does, or the records of a file of JSON."""
    if is_table(file):
        return read_table(file, field, usual, others)
    refuse_field(file, field)
    return read_records(file)


def refuse_field(file: str, field: str | None) -> None:
    """Raise UsageError where a column was named for a file that is not a table."""
    if field is not None:
        raise UsageError(f"{file}: --field {field} needs a table (.csv, .tsv, .parquet)")


def read_table(file: str, field: str | None, usual: str, others: Sequence[str]) -> Iterator[Record]:
    """Yield each row as the record that it would be in JSON: an object with `usual`, and `others` if present.

    `field` is the column that has `usual`, if its name is another.
    """
    with open_table(file) as table:
        column = table.column(field, (usual,))
        kept = [each for each in table.columns if each in others and each != column]
        for row in table.rows([column, *kept]):
            beside = {each: row.value(each) for each in kept if row.cells.get(each) not in (None, "")}
            yield Record(row.place, {**beside, usual: row.value(column)})


@contextmanager
def open_table(file: str) -> Generator[Table]:
    """Open a table for the length of the block. Raises UsageError when it cannot be read."""
    with open_input(file) as stream:
        if file.lower().endswith(PARQUET):
            yield _parquet(file, stream)
            return
        plain = cast("BinaryIO", gzip.GzipFile(fileobj=stream)) if file.lower().endswith(".gz") else stream
        with _separated(file, plain) as table:
            yield table


@contextmanager
def _separated(file: str, stream: BinaryIO) -> Generator[Table]:
    # Some cells are longer than the 128 KB that the library allows by itself.
    csv.field_size_limit(LONGEST_LINE)
    # Closed before what it reads from: else the interpreter complains of a file that is still open.
    with io.BufferedReader(cast("io.RawIOBase", stream)) as buffered:
        try:
            encoding = "utf-16" if buffered.peek(2)[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
            text = io.TextIOWrapper(buffered, encoding, errors="replace", newline="")
            lines = text_lines(text)
            heading = next(lines, "")
        except (OSError, EOFError) as error:
            raise UsageError(f"{file}: {error}") from error
        if not heading.strip():
            raise UsageError(f"{file} is empty: a table begins with the names of its columns")
        # The names of columns may go over several lines as well.
        separator = max(_SEPARATORS, key="".join(heading.split('"')[::2]).count)
        reader = csv.reader(chain([heading], lines), delimiter=separator)
        columns = tuple(_next(reader, file) or ())
        yield Table(file, columns, columns, lambda _: _rows(file, columns, reader))


def _rows(file: str, columns: Sequence[str], reader: "_CsvReader") -> Iterator[Row]:
    number = 0
    while (cells := _next(reader, file)) is not None:
        if cells:
            number += 1
            yield Row(f"{file}, row {number}", dict(zip(columns, cells, strict=False)))


def _next(reader: "_CsvReader", file: str) -> list[str] | None:
    try:
        return next(reader)
    except StopIteration:
        return None
    except (csv.Error, OSError, EOFError) as error:
        raise UsageError(f"{file}, line {reader.line_num}: {error}") from error


def _parquet(file: str, stream: BinaryIO) -> Table:
    try:
        parquet = import_module("pyarrow.parquet")
    except ImportError:
        raise UsageError(f"{file}: reading Parquet needs pyarrow: pip install '{requirement('batch')}'") from None
    try:
        opened = cast("_ParquetFile", parquet.ParquetFile(stream))
        schema = list(opened.schema_arrow)
    except Exception as error:
        raise UsageError(f"{file}: not a Parquet file that can be read: {error}") from error

    def rows(columns: Sequence[str]) -> Iterator[Row]:
        number = 0
        try:
            for batch in opened.iter_batches(batch_size=_ROWS_AT_ONCE, columns=list(columns)):
                for cells in batch.to_pylist():
                    number += 1
                    yield Row(f"{file}, row {number}", cells)
        except UsageError:
            raise
        except Exception as error:
            raise UsageError(f"{file}, after row {number}: {error}") from error

    names = tuple(column.name for column in schema)
    return Table(file, names, [column.name for column in schema if str(column.type) in _TEXT_TYPES], rows)
