"""`write_output`: the parts of a run → the output, which appears under its name only when it is whole."""

import contextlib
import os
from collections.abc import Iterator
from typing import Any, Final

from toolvet.batch.arrow import ArrowSchema, load, pa
from toolvet.batch.encoding import heading
from toolvet.batch.location import Location
from toolvet.batch.reading.parquet import decoded
from toolvet.errors import OutputError

parquet = load("pyarrow.parquet")

_ROW_GROUP_ROWS: Final = 2**17
_ROW_GROUP_BYTES: Final = 32 * 2**20


def write_output(bodies: Iterator[bytes], location: Location, schema: ArrowSchema, form: str) -> None:
    """Write all bodies to a file beside its place, and rename it. Raises `OutputError` where that fails."""
    new = location.beside(f"{location.path}.{os.getpid()}.new")
    try:
        if location.is_local:
            folder = os.path.dirname(os.path.abspath(location.path))  # noqa: PTH120, PTH100 - a path of the file system
            location.system.create_dir(folder, recursive=True)
        with location.system.open_output_stream(new.path, compression=location.compression) as stream:
            if form == "parquet":
                _write_parquet(bodies, stream, schema)
            else:
                stream.write(heading(schema, form))
                for body in bodies:
                    stream.write(body)
        location.system.move(new.path, location.path)
    except (OSError, pa.ArrowException) as error:
        with contextlib.suppress(OSError):
            location.system.delete_file(new.path)
        raise OutputError(f"{location.given} cannot be written: {error}") from error


def _write_parquet(bodies: Iterator[bytes], stream: Any, schema: ArrowSchema) -> None:
    with parquet.ParquetWriter(stream, schema, compression="zstd", write_page_checksum=True) as writer:
        gathered: list[Any] = []
        rows = size = 0
        for body in bodies:
            batch = decoded(body)
            gathered.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
            if rows >= _ROW_GROUP_ROWS or size >= _ROW_GROUP_BYTES:
                writer.write_table(pa.Table.from_batches(gathered))
                gathered, rows, size = [], 0, 0
        if gathered:
            writer.write_table(pa.Table.from_batches(gathered))
