"""`VerdictFile`: an output of `toolvet batch` in any of its formats and places → a Parquet file on this machine."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import orjson

from toolvet.batch.arrow import Array, ArrowSchema, ArrowType, RecordBatch, pa
from toolvet.batch.chunk import READ_PROBLEM, ReadPosition, RowReader
from toolvet.batch.location import Location
from toolvet.batch.plan import LENGTH, ROW
from toolvet.batch.reading.lines import LinesReader
from toolvet.batch.reading.opening import open_reader
from toolvet.batch.reading.parquet import decoded
from toolvet.core.json_value import is_object
from toolvet.errors import OutputError, UsageError

parquet: Any = import_module("pyarrow.parquet")

_ROWS: Final = 2**15
_BUFFER: Final = 2**20
_NAMED: Final = 40


class VerdictFile:
    """One output. Raises UsageError if it cannot be opened."""

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

    def require(self, names: Mapping[str, str], *, is_read: bool = False) -> None:
        """Raise UsageError, which lists the columns, if one of them is missing; `names` maps each to what asks for it.

        Records of JSON lack members that are null: whether one has a member is known when all are read (`is_read`).
        """
        if self.is_lines and not is_read:
            return
        for name, asked_by in names.items():
            if self.names and name not in self.names:
                more = ", …" if len(self.names) > _NAMED else ""
                has = ", ".join(self.names[:_NAMED]) + more
                raise UsageError(f"{self.given} has no column '{name}' ({asked_by}); it has {has}")

    def in_parquet(self, copy: Path, wanted: Sequence[str], kind: str) -> tuple[Path, ArrowSchema]:
        """Return a Parquet file with these rows on this machine, and its columns.

        Args:
            copy: The file that is written where this one is of another format, or elsewhere.
            wanted: The columns that are copied.
            kind: The kind of the rows.

        Raises:
            UsageError: It cannot be read to its end.
            OutputError: The copy cannot be written.
        """
        if self._reader is None and self._location.is_local:
            return Path(self._location.path), self._parquet.schema_arrow
        if self._reader is None:
            schema = pa.schema([field for field in self._parquet.schema_arrow if field.name in wanted])
            batches = self._parquet_batches(schema.names)
        else:
            schema = column_types(kind, wanted)
            batches = self._record_batches(self._reader, schema, kind)
        try:
            with parquet.ParquetWriter(str(copy), schema, compression="zstd") as writer:
                for batch in batches:
                    writer.write_batch(batch)
        except OSError as error:
            raise OutputError(f"the folder for temporary files: {error}") from error
        return copy, schema

    def _parquet_batches(self, names: Sequence[str]) -> Iterator[RecordBatch]:
        try:
            yield from self._parquet.iter_batches(_ROWS, columns=names)
        except (OSError, pa.ArrowException) as error:
            raise UsageError(f"{self.given}: cannot be read to its end: {error}") from error

    def _record_batches(self, reader: RowReader, schema: ArrowSchema, kind: str) -> Iterator[RecordBatch]:
        for number, rows in self._records(reader):
            if self.is_lines:
                self.names = tuple(dict.fromkeys([*self.names, *(name for row in rows for name in row)]))
            try:
                yield _batch(rows, schema)
            except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
                raise UsageError(
                    f"{self.given}: not an output of `toolvet batch {kind}`: row {number}: {error}"
                ) from error

    def _records(self, reader: RowReader) -> Iterator[tuple[int, list[dict[str, object]]]]:
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
            yield chunk.row, [*self._lines(chunk.body, chunk.row)]

    def _lines(self, body: bytes, first: int) -> Iterator[dict[str, object]]:
        for number, line in enumerate(body.split(b"\n"), start=first):
            if not line.strip():
                continue
            try:
                record: object = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise UsageError(f"{self.given}: line {number}: not JSON: {error}") from error
            if not is_object(record):
                raise UsageError(f"{self.given}: line {number}: must be a JSON object, not {type(record).__name__}")
            yield {str(name): value for name, value in record.items()}

    @property
    def is_lines(self) -> bool:
        """Whether rows are JSON objects, which leave out what is null."""
        return isinstance(self._reader, LinesReader)


def column_types(kind: str, names: Sequence[str]) -> ArrowSchema:
    """Return the types of columns: those that the kernel gives them; others are texts."""
    verdicts = _verdict_schema(kind)
    known = {field.name: field.type for field in verdicts} | {ROW: pa.int64(), LENGTH: pa.int64()}
    return pa.schema([(name, known.get(name, pa.string())) for name in dict.fromkeys(names)])


def _verdict_schema(kind: str) -> ArrowSchema:
    # Each kind loads its own checks, and no others.
    schema: ArrowSchema = getattr(import_module(f"toolvet.batch.kernel.{kind}"), kind.upper())
    return schema


def _batch(rows: Sequence[Mapping[str, object]], schema: ArrowSchema) -> RecordBatch:
    arrays = [_array([row.get(field.name) for row in rows], field.type) for field in schema]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _array(values: list[object], kind: ArrowType) -> Array:
    if pa.types.is_string(kind):
        # An empty cell of CSV is null.
        texts = [
            each if isinstance(each, str) else None if each is None else (orjson.dumps(each, default=str).decode())
            for each in values
        ]
        return pa.array([each or None for each in texts], kind)
    read = [_read(each) if isinstance(each, str) else each for each in values]
    if pa.types.is_floating(kind):
        read = [float(each) if isinstance(each, int) else each for each in read]
    return pa.array(read, kind)


def _read(cell: str) -> object:
    if not cell:
        return None
    value: object = orjson.loads(cell)
    return value
