"""`encode`: a record batch of the output → bytes of one of its formats; what is one behind the other is one output."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Final

import orjson

from toolvet.batch.arrow import ArrowSchema, RecordBatch, pa
from toolvet.core.json_value import elements, is_array, is_object, members

_COUNTS: Final = "signal_counts"


def encode(batch: RecordBatch, form: str) -> bytes:
    """Return the rows as "parquet" (a stream of Arrow, which becomes Parquet when all are there), "jsonl" or "csv"."""
    if form == "jsonl":
        return b"".join(_json(_row(row)) + b"\n" for row in batch.to_pylist())
    if form == "csv":
        return _as_csv(batch)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def heading(schema: ArrowSchema, form: str) -> bytes:
    """Return what an output of this format begins with."""
    return _lines([schema.names]) if form == "csv" else b""


def _plain(value: object) -> object:
    """A value as JSON has it: members that are not known, or not there, are left out, as `to_dict` leaves them out."""
    if is_object(value):
        return {name: _plain(each) for name, each in value.items() if each is not None}
    return [_plain(each) for each in elements(value)] if is_array(value) else value


def _row(row: Mapping[str, object]) -> dict[str, object]:
    """A row as a JSON object; of the counts of signals only those of signals that are there."""
    found = {name: _plain(value) for name, value in row.items() if value is not None}
    if _COUNTS in found:
        found[_COUNTS] = {name: count for name, count in members(found[_COUNTS]).items() if count}
    return found


def _as_csv(batch: RecordBatch) -> bytes:
    rows: list[dict[str, object]] = batch.to_pylist()
    return _lines([[_cell(_row(row).get(name)) for name in row] for row in rows])


def _cell(value: object) -> object:
    """A value as a cell of CSV: numbers and texts as they are, all else as JSON."""
    if value is None or (isinstance(value, str | int | float) and not isinstance(value, bool)):
        return value
    return _json(value).decode()


def _json(value: object) -> bytes:
    # Columns that are kept may hold decimals, bytes and the like.
    return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS)


def _lines(rows: Sequence[Sequence[object]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
