"""`open_reader`: the reader of a file, by its name."""

from toolvet.batch.chunk import RowReader
from toolvet.batch.location import Location
from toolvet.batch.reading.lines import LinesReader
from toolvet.batch.reading.parquet import ParquetReader
from toolvet.batch.reading.table import TableReader
from toolvet.errors import UsageError


def open_reader(location: Location, number: int, size: int | None = None) -> RowReader:
    """Return the reader of a file; `number` is its place among the files of the input.

    `size` is up to which byte a file of lines is read, where that is known from an earlier run. Raises UsageError if
    the file cannot be opened, or its name does not say what it is.
    """
    form = "jsonl" if location.is_stdio else location.format
    if form == "parquet":
        return ParquetReader(location, number)
    if form == "jsonl":
        return LinesReader(location, number, size)
    if form == "csv":
        return TableReader(location, number)
    raise UsageError(
        f"{location.given}: the name must end with .parquet, .jsonl, .csv or .tsv (.gz, .zst, … behind it)"
    )
