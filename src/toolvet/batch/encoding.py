"""`encode`: a record batch of the output → bytes of one of its formats; what is one behind the other is one output."""

import csv
import io
from collections.abc import Mapping
from typing import Any

import orjson

from toolvet.batch.arrow import ArrowSchema, RecordBatch, pa


def encode(batch: RecordBatch, form: str) -> bytes:
    """Return the rows as "parquet" (a stream of Arrow, which becomes Parquet when all are there), "jsonl" or "csv"."""
    if form == "jsonl":
        return b"".join(orjson.dumps(_without_nulls(row)) + b"\n" for row in batch.to_pylist())
    if form == "csv":
        return _as_csv(batch)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def heading(schema: ArrowSchema, form: str) -> bytes:
    """Return what an output of this format begins with."""
    return _lines([schema.names]) if form == "csv" else b""


def _without_nulls(row: Mapping[str, Any]) -> dict[str, object]:
    """A row as JSON has it: what is not known, or not there, is left out."""
    found: dict[str, object] = {}
    for name, value in row.items():
        if value is None:
            continue
        if isinstance(value, list):
            found[name] = [_without_nulls(each) if isinstance(each, dict) else each for each in value]
        else:
            found[name] = _without_nulls(value) if isinstance(value, dict) else value
    return found


def _as_csv(batch: RecordBatch) -> bytes:
    return _lines([[_cell(value) for value in row.values()] for row in batch.to_pylist()])


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return orjson.dumps(_without_nulls(value)).decode()
    if isinstance(value, list):
        shown = [_without_nulls(each) if isinstance(each, dict) else each for each in value]
        return orjson.dumps(shown, default=str).decode()
    return value


def _lines(rows: list[list[object]]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()
