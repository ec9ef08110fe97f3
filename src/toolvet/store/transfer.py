"""Out of a store and into one: JSON lines, and Parquet with a column for each field of a verdict.

Both hold everything: verdicts, each batch followed by its items of the review queue with their labels, then events and
assessments. In Parquet, what is no verdict is a row with no `kind`, whose column `record` has it as JSON. A line or row
keeps its id, so importing it twice changes nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import msgspec

from toolvet.errors import StoreError, UsageError
from toolvet.store.filters import EVERYTHING, VerdictFilter
from toolvet.store.item_transfer import read_item_records
from toolvet.store.lines import read_line_records
from toolvet.store.reading import read_assessments, read_events, read_verdicts
from toolvet.store.records import (
    SignalRecord,
    StoreRecord,
    VerdictRecord,
    decode_lines,
    encode_document,
    encode_lines,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection

_PAGE: Final = 2_000
_EVERY: Final = 10_000_000
_NUMBERS: Final = {"at", "score", "confidence", "duration"}
_WHOLE: Final = {"size"}
_FLAGS: Final = {"failed", "escalate"}
_COLUMNS: Final = tuple(name for name in VerdictRecord.__struct_fields__ if name not in ("seq", "signals", "document"))


def read_everything(connection: "Connection", wanted: VerdictFilter = EVERYTHING) -> Iterator[Sequence[StoreRecord]]:
    """Yield what the store has in batches, oldest first: verdicts with their items in the review queue.

    Events and assessments come only where nothing is filtered out.
    """
    last = 0
    while page := read_verdicts(connection, wanted, limit=_PAGE, order="oldest", after=last):
        last = page[-1].seq
        items = read_item_records(connection, [verdict.seq for verdict in page])
        yield [*(msgspec.structs.replace(verdict, seq=0) for verdict in page), *items]
    if wanted == EVERYTHING:
        yield list(reversed(read_events(connection, _EVERY)))
        yield list(reversed(read_assessments(connection, limit=_EVERY)))


def write_file(path: Path, batches: Iterator[Sequence[StoreRecord]]) -> Iterator[int]:
    """Write the records to a new file, and yield how many it has after each batch.

    Raises UsageError for a name that is not `….jsonl` or `….parquet`, and where Parquet needs `toolvet[batch]`.
    """
    if path.suffix == ".jsonl":
        return _write_lines(path, batches)
    if path.suffix == ".parquet":
        return _write_parquet(path, batches)
    raise UsageError(f"{path}: the name has to end in .jsonl or .parquet")


def read_file(path: Path) -> Iterator[Sequence[StoreRecord]]:
    """Yield the records of a file in batches. Raises UsageError as `write_file`, and where there is no such file."""
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file")
    if path.suffix == ".jsonl":
        return read_line_records(path)
    if path.suffix == ".parquet":
        return _read_parquet(path)
    raise UsageError(f"{path}: the name has to end in .jsonl or .parquet")


def _write_lines(path: Path, batches: Iterator[Sequence[StoreRecord]]) -> Iterator[int]:
    count = 0
    with path.open("wb") as lines:
        for batch in batches:
            lines.write(encode_lines(batch))
            count += len(batch)
            yield count


def _write_parquet(path: Path, batches: Iterator[Sequence[StoreRecord]]) -> Iterator[int]:
    arrow, parquet = _pyarrow()
    kinds = {**dict.fromkeys(_NUMBERS, arrow.float64()), **dict.fromkeys(_WHOLE, arrow.int64())}
    kinds |= dict.fromkeys(_FLAGS, arrow.bool_())
    fields = [arrow.field(name, kinds.get(name, arrow.string())) for name in _COLUMNS]
    signal = arrow.struct([("type", arrow.string()), ("level", arrow.string()), ("certainty", arrow.float64())])
    texts = [arrow.field("detail", arrow.string()), arrow.field("record", arrow.string())]
    schema = arrow.schema([*fields, *texts, arrow.field("signals", arrow.list_(signal))])
    count = 0
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in batches:
            rows = [_row(record) for record in batch]
            if rows:
                writer.write_table(arrow.Table.from_pylist(rows, schema=schema))
            count += len(rows)
            yield count


def _row(record: StoreRecord) -> dict[str, object]:
    if not isinstance(record, VerdictRecord):
        return {"id": record.id, "at": record.at, "record": encode_lines([record]).decode().rstrip("\n")}
    row: dict[str, object] = {name: getattr(record, name) for name in _COLUMNS}
    row["detail"] = bytes(record.document).decode()
    row["signals"] = [msgspec.structs.asdict(signal) for signal in record.signals]
    return row


def _read_parquet(path: Path) -> Iterator[Sequence[StoreRecord]]:
    _, parquet = _pyarrow()
    try:
        file = parquet.ParquetFile(path)
        for batch in file.iter_batches(batch_size=_PAGE):
            yield [_record(row) for row in batch.to_pylist()]
    except (OSError, ValueError, KeyError, TypeError, NotImplementedError, msgspec.MsgspecError) as error:
        raise StoreError(f"{path} is not an export of toolvet: {error}") from error


def _record(row: Mapping[str, Any]) -> StoreRecord:
    # Exports of earlier releases have no such column.
    other = row.get("record")
    if other is None:
        return _verdict(row)
    record = next(decode_lines(str(other).encode()), None)
    if record is None:
        raise TypeError("a row whose record is none")
    return record


def _verdict(row: Mapping[str, Any]) -> VerdictRecord:
    signals = tuple(SignalRecord(**signal) for signal in row.get("signals") or ())
    fields = {name: row[name] for name in _COLUMNS}
    if not isinstance(fields["id"], str) or not isinstance(fields["at"], float):
        raise TypeError("a row without id or time")
    detail: object = msgspec.json.decode(str(row["detail"]))
    written = VerdictRecord(**fields, signals=signals, document=encode_document(detail))
    # What the spool would lose on its way into the database is no verdict.
    kept = next(decode_lines(encode_lines([written])), None)
    if not isinstance(kept, VerdictRecord):
        raise TypeError(f"the row {written.id} is no verdict")
    return kept


def _pyarrow() -> tuple[Any, Any]:
    try:
        return cast("Any", import_module("pyarrow")), cast("Any", import_module("pyarrow.parquet"))
    except ImportError as error:
        raise UsageError('Parquet needs pyarrow: pip install "toolvet[batch]"') from error
