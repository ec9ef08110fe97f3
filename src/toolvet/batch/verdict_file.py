"""`VerdictFile`: an output of `toolvet batch` in any of its formats → its record batches."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, Final

import orjson

from toolvet.batch.arrow import Array, ArrowSchema, ArrowType, RecordBatch, load, pa
from toolvet.batch.chunk import READ_PROBLEM, ReadPosition, RowReader
from toolvet.batch.location import Location
from toolvet.batch.plan import FILE, ID, LENGTH, ROW
from toolvet.batch.reading.lines import LinesReader
from toolvet.batch.reading.opening import open_reader
from toolvet.batch.reading.parquet import decoded
from toolvet.core.json_value import is_object
from toolvet.errors import UsageError

parquet = load("pyarrow.parquet")

_ROWS: Final = 2**15
_BUFFER: Final = 2**20
_NAMED: Final = 40


class VerdictFile:
    """One output. Raises UsageError where it cannot be opened."""

    def __init__(self, location: Location) -> None:
        self.given = location.given
        self._location = location
        self._reader: RowReader | None = None
        if location.format == "parquet":
            try:
                self._parquet: Any = parquet.ParquetFile(
                    location.system.open_input_file(location.path), pre_buffer=False, buffer_size=_BUFFER
                )
            except (OSError, pa.ArrowException) as error:
                raise UsageError(f"{location.given}: not a Parquet file that can be read: {error}") from error
            self.names: tuple[str, ...] = tuple(self._parquet.schema_arrow.names)
        else:
            try:
                self._reader = open_reader(location, 0)
            except OSError as error:
                raise UsageError(f"{location.given}: cannot be read: {error}") from error
            self.names = self._reader.names

    @property
    def rows(self) -> int | None:
        """How many rows it has, where that is known without reading it."""
        return None if self._reader is not None else int(self._parquet.metadata.num_rows)

    def require(self, names: Mapping[str, str], *, is_read: bool = False) -> None:
        """Raise UsageError, which lists the columns, where one is missing; `names` maps columns to what asks for them.

        Records of JSON lack members that are null: whether one has a member is known when all are read (`is_read`).
        """
        if self.is_lines and not is_read:
            return
        for name, asked_by in names.items():
            if self.names and name not in self.names:
                more = ", …" if len(self.names) > _NAMED else ""
                has = ", ".join(self.names[:_NAMED]) + more
                raise UsageError(f"{self.given} has no column '{name}' ({asked_by}); it has {has}")

    def batches(self, wanted: Mapping[str, Sequence[str]], kind: str) -> Iterator[RecordBatch]:
        """Yield the rows of an output on rows of this kind, with the columns that are wanted.

        Of columns of lists only the members that are named need be there. Raises UsageError where it cannot be read
        to its end: a report of some of the rows would be taken for one of all.
        """
        if self._reader is None:
            paths = {self._parquet.schema.column(number).path for number in range(len(self._parquet.schema))}
            columns: list[str] = []
            for name, members in wanted.items():
                inner = [f"{name}.list.element.{member}" for member in members]
                # Other writers name the levels of a list otherwise: then the whole column is read.
                columns += inner if inner and paths.issuperset(inner) else [name]
            try:
                yield from self._parquet.iter_batches(_ROWS, columns=columns)
            except (OSError, pa.ArrowException) as error:
                raise UsageError(f"{self.given}: cannot be read to its end: {error}") from error
            return
        # Each kind loads its own checks, and no others.
        kernel: ArrowSchema = getattr(import_module(f"toolvet.batch.kernel.{kind}"), kind.upper())
        known: dict[str, ArrowType] = {field.name: field.type for field in kernel}
        known |= {FILE: pa.string(), ROW: pa.int64(), LENGTH: pa.int64(), ID: pa.string()}
        # Others are read as texts.
        types = {name: known.get(name, pa.string()) for name in wanted}
        for number, rows in self._records(self._reader):
            if self.is_lines:
                self.names = tuple(dict.fromkeys([*self.names, *(name for row in rows for name in row)]))
            try:
                arrays = {name: _array([row.get(name) for row in rows], type_) for name, type_ in types.items()}
                yield pa.RecordBatch.from_pydict(arrays)
            except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
                raise UsageError(f"{self.given}: no output of `toolvet batch {kind}`: row {number}: {error}") from error

    def _records(self, reader: RowReader) -> Iterator[tuple[int, list[dict[str, object]]]]:
        """The rows as records, in parts, with the number of the first of each."""
        for chunk in reader.chunks(self.names, ReadPosition()):
            if chunk.form == "lost":
                raise UsageError(f"{self.given}: row {chunk.row}: {chunk.problem}")
            if chunk.form == "arrow":
                rows: list[dict[str, object]] = decoded(chunk.body).to_pylist()
                bad = next((row for row in rows if row.pop(READ_PROBLEM, None) is not None), None)
                if bad is not None:
                    raise UsageError(f"{self.given}: a row behind row {chunk.row} has too few or too many cells")
                yield chunk.row, rows
                continue
            records: list[dict[str, object]] = []
            for number, line in enumerate(chunk.body.split(b"\n"), start=chunk.row):
                if not line.strip():
                    continue
                try:
                    record: object = orjson.loads(line)
                except orjson.JSONDecodeError as error:
                    raise UsageError(f"{self.given}: line {number}: not JSON: {error}") from error
                if not is_object(record):
                    raise UsageError(f"{self.given}: line {number}: must be a JSON object, not {type(record).__name__}")
                records.append({str(name): value for name, value in record.items()})
            yield chunk.row, records

    @property
    def is_lines(self) -> bool:
        """Whether rows are JSON objects, which leave out what is null."""
        return isinstance(self._reader, LinesReader)


def _array(values: list[object], kind: ArrowType) -> Array:
    """A column of its type. Cells of CSV are texts: numbers, or JSON."""
    if pa.types.is_string(kind):
        # An empty cell of CSV is null.
        texts = [
            each if isinstance(each, str) else None if each is None else (orjson.dumps(each, default=str).decode())
            for each in values
        ]
        return pa.array([each or None for each in texts], kind)
    read: list[object] = [(orjson.loads(each) if each else None) if isinstance(each, str) else each for each in values]
    if pa.types.is_floating(kind):
        read = [float(each) if isinstance(each, int) else each for each in read]
    return pa.array(read, kind)
