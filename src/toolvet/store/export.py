"""Out of a store and into one: JSON lines, and Parquet with a column for each field of a verdict.

Both hold everything: verdicts, each batch followed by its items of the review queue with their labels, then events and
assessments. In Parquet, any other record is a row with no `kind`, whose column `record` has it as JSON. A line or row
keeps its id, so importing it twice changes nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final, get_args

import msgspec
from sqlalchemy import Connection, Row, Select, func, select, update

from toolvet.errors import StoreError, UsageError
from toolvet.store.lines import read_line_records
from toolvet.store.padding import padded
from toolvet.store.private_file import create_private
from toolvet.store.queue_labelling import decode_label, insert_label, write_final
from toolvet.store.queue_records import NO_LABEL, ChangeAction
from toolvet.store.reading import read_assessments, read_events, read_verdicts
from toolvet.store.records import (
    EVERYTHING,
    ItemChange,
    ItemLabel,
    ItemRecord,
    SignalRecord,
    StoreRecord,
    VerdictFilter,
    VerdictRecord,
    clean_text,
    decode_lines,
    encode_document,
    encode_lines,
)
from toolvet.store.tables.queue import (
    QUEUE_CHANGES,
    QUEUE_FINALS,
    QUEUE_ITEMS,
    QUEUE_LABELS,
    QUEUE_PLACES,
    QUEUE_SKIPS,
)
from toolvet.store.tables.verdicts import VERDICTS

_PAGE: Final = 2_000
_EVERY: Final = 10_000_000
_NUMBERS: Final = {"at", "score", "confidence", "duration"}
_WHOLE: Final = {"size"}
_FLAGS: Final = {"failed", "escalate"}
_COLUMNS: Final = tuple(name for name in VerdictRecord.__struct_fields__ if name not in ("seq", "signals", "document"))


def read_everything(connection: Connection, wanted: VerdictFilter = EVERYTHING) -> Iterator[Sequence[StoreRecord]]:
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
    """Yield the records of a file in batches. Raises UsageError as `write_file`, and if there is no such file."""
    if not path.is_file():
        raise UsageError(f"{path}: there is no such file")
    if path.suffix == ".jsonl":
        return read_line_records(path)
    if path.suffix == ".parquet":
        return _read_parquet(path)
    raise UsageError(f"{path}: the name has to end in .jsonl or .parquet")


def _write_lines(path: Path, batches: Iterator[Sequence[StoreRecord]]) -> Iterator[int]:
    count = 0
    create_private(path)
    with path.open("wb") as lines:
        for batch in batches:
            lines.write(encode_lines(batch))
            count += len(batch)
            yield count


def _write_parquet(path: Path, batches: Iterator[Sequence[StoreRecord]]) -> Iterator[int]:
    arrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    kinds = {**dict.fromkeys(_NUMBERS, arrow.float64()), **dict.fromkeys(_WHOLE, arrow.int64())}
    kinds |= dict.fromkeys(_FLAGS, arrow.bool_())
    fields = [arrow.field(name, kinds.get(name, arrow.string())) for name in _COLUMNS]
    signal = arrow.struct([("type", arrow.string()), ("level", arrow.string()), ("certainty", arrow.float64())])
    texts = [arrow.field("detail", arrow.string()), arrow.field("record", arrow.string())]
    schema = arrow.schema([*fields, *texts, arrow.field("signals", arrow.list_(signal))])
    count = 0
    create_private(path)
    with parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        for batch in batches:
            rows: list[dict[str, object]] = []
            for record in batch:
                if isinstance(record, VerdictRecord):
                    row: dict[str, object] = {name: getattr(record, name) for name in _COLUMNS}
                    row["detail"] = bytes(record.document).decode()
                    row["signals"] = [msgspec.structs.asdict(signal) for signal in record.signals]
                else:
                    line = encode_lines([record]).decode().rstrip("\n")
                    row = {"id": record.id, "at": record.at, "record": line}
                rows.append(row)
            if rows:
                writer.write_table(arrow.Table.from_pylist(rows, schema=schema))
            count += len(rows)
            yield count


def _read_parquet(path: Path) -> Iterator[Sequence[StoreRecord]]:
    parquet: Any = import_module("pyarrow.parquet")
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
        signals = tuple(SignalRecord(**signal) for signal in row.get("signals") or ())
        fields = {name: row[name] for name in _COLUMNS}
        if not isinstance(fields["id"], str) or not isinstance(fields["at"], float):
            raise TypeError("a row without id or time")
        detail: object = msgspec.json.decode(str(row["detail"]))
        written = VerdictRecord(**fields, signals=signals, document=encode_document(detail))
        # A record that the spool would lose on its way into the database is not a verdict.
        kept = next(decode_lines(encode_lines([written])), None)
        if not isinstance(kept, VerdictRecord):
            raise TypeError(f"the row {written.id} is not a verdict")
        return kept
    record = next(decode_lines(str(other).encode()), None)
    if record is None:
        raise TypeError("a row whose record is none")
    return record


_ACTIONS: Final = frozenset(get_args(ChangeAction))
_NO_LABEL: Final = msgspec.json.encode(NO_LABEL).decode()


def read_item_records(connection: Connection, places: Sequence[int]) -> list[ItemRecord]:
    """Return the items of the verdicts at these places (`seq`), in their order in the queue."""
    query = select(QUEUE_ITEMS).where(QUEUE_ITEMS.c.verdict.in_(padded(places))).order_by(QUEUE_ITEMS.c.seq)
    items = connection.execute(query).all()
    seqs = [int(item.seq) for item in items]
    if not seqs:
        return []
    counted = select(QUEUE_PLACES.c.item, func.count()).where(QUEUE_PLACES.c.item.in_(padded(seqs)))
    wanted = {int(item): int(count) for item, count in connection.execute(counted.group_by(QUEUE_PLACES.c.item))}
    labels = _by_item(
        connection, select(QUEUE_LABELS).where(QUEUE_LABELS.c.item.in_(padded(seqs))).order_by(QUEUE_LABELS.c.at)
    )
    skips = _by_item(connection, select(QUEUE_SKIPS).where(QUEUE_SKIPS.c.item.in_(padded(seqs))))
    finals = _by_item(connection, select(QUEUE_FINALS).where(QUEUE_FINALS.c.item.in_(padded(seqs))))
    changed = select(QUEUE_CHANGES).where(QUEUE_CHANGES.c.item.in_(padded(seqs))).order_by(QUEUE_CHANGES.c.seq)
    changes = _by_item(connection, changed)
    found: list[ItemRecord] = []
    for item in items:
        seq = int(item.seq)
        said, done = labels.get(seq, []), changes.get(seq, [])
        signals: dict[str, dict[str, str]] = {}
        for row in said:
            if row.signal:
                signals.setdefault(str(row.reviewer), {})[str(row.signal)] = str(row.value)
        numbers = {int(row.seq): number for number, row in enumerate(done)}
        record = ItemRecord(
            id=str(item.id),
            at=float(item.at),
            rule=str(item.rule),
            priority=int(item.priority),
            wanted=wanted.get(seq, 1),
            labels=tuple(
                ItemLabel(
                    reviewer=str(row.reviewer),
                    value=str(row.value),
                    at=float(row.at),
                    note=str(row.note),
                    signals=signals.get(str(row.reviewer), {}),
                )
                for row in said
                if not row.signal
            ),
            skips=tuple(sorted(str(skip.reviewer) for skip in skips.get(seq, []))),
            final=next((str(row.label) for row in finals.get(seq, [])), ""),
            changes=tuple(
                ItemChange(
                    reviewer=str(row.reviewer),
                    at=float(row.at),
                    action=str(row.action),
                    before=str(row.before),
                    after=str(row.after),
                    undoes=None if row.undoes is None else numbers.get(int(row.undoes)),
                )
                for row in done
            ),
        )
        found.append(record)
    return found


def _by_item(connection: Connection, query: "Select[Any]") -> dict[int, list[Row[Any]]]:
    found: dict[int, list[Row[Any]]] = {}
    for row in connection.execute(query):
        found.setdefault(int(row.item), []).append(row)
    return found


def insert_item_records(connection: Connection, records: Sequence[ItemRecord]) -> int:
    """Add items, and labels of reviewers who have none there, inside the caller's transaction. Returns how many items.

    What is there stays as it is; an item whose verdict is not there is left out.
    """
    added = 0
    for record in records:
        verdict = connection.execute(select(VERDICTS.c.seq).where(VERDICTS.c.id == record.id)).scalar()
        if verdict is None:
            continue
        known = connection.execute(select(QUEUE_ITEMS.c.seq).where(QUEUE_ITEMS.c.id == record.id)).scalar()
        item = int(known) if known is not None else _insert_item(connection, record, int(verdict))
        added += known is None
        labelled = set(connection.execute(select(QUEUE_LABELS.c.reviewer).where(QUEUE_LABELS.c.item == item)).scalars())
        fresh = [label for label in record.labels if label.reviewer not in labelled]
        for label in fresh:
            _insert_label(connection, item, label, -record.priority)
        if known is None:
            skips = [{"item": item, "reviewer": clean_text(name)} for name in dict.fromkeys(record.skips)]
            if skips:
                connection.execute(QUEUE_SKIPS.insert(), skips)
        settled = select(QUEUE_FINALS.c.item).where(QUEUE_FINALS.c.item == item)
        if record.final and connection.execute(settled).first() is None:
            write_final(connection, item, decode_label(_checked(record.final)))
        # Of an item that was there, only the history of those whose labels are new.
        names = {label.reviewer for label in fresh}
        changes = enumerate(record.changes)
        _insert_changes(connection, item, {n: each for n, each in changes if known is None or each.reviewer in names})
    return added


def _insert_item(connection: Connection, record: ItemRecord, verdict: int) -> int:
    row = {
        "verdict": verdict,
        "id": record.id,
        "at": record.at,
        "rule": clean_text(record.rule),
        "priority": record.priority,
    }
    item = int(connection.execute(QUEUE_ITEMS.insert().returning(QUEUE_ITEMS.c.seq), row).scalar_one())
    places = [
        {"item": item, "place": number, "rank": -record.priority, "state": "free"}
        for number in range(1, max(1, record.wanted) + 1)
    ]
    connection.execute(QUEUE_PLACES.insert(), places)
    return item


def _insert_label(connection: Connection, item: int, label: ItemLabel, rank: int) -> None:
    places, reviewer = QUEUE_PLACES.c, clean_text(label.reviewer)
    # A lease of their own, a free place, or a further one: an imported label is never in the way of others.
    own = select(places.place).where(places.item == item, places.reviewer == reviewer)
    free = select(places.place).where(places.item == item, places.state == "free").order_by(places.place)
    place = connection.execute(own).scalar() or connection.execute(free.limit(1)).scalar()
    if place is None:
        last = connection.execute(select(func.max(places.place)).where(places.item == item)).scalar()
        place = int(last or 0) + 1
        connection.execute(QUEUE_PLACES.insert(), {"item": item, "place": place, "rank": rank, "state": "free"})
    taken = update(QUEUE_PLACES).where(places.item == item, places.place == place)
    connection.execute(taken.values(state="labelled", reviewer=reviewer, until=None))
    insert_label(connection, item, reviewer, label)


def _insert_changes(connection: Connection, item: int, changes: Mapping[int, ItemChange]) -> None:
    places: dict[int, int] = {}
    for number, change in changes.items():
        if change.action not in _ACTIONS:
            continue
        row = {
            "item": item,
            "reviewer": clean_text(change.reviewer),
            "at": change.at,
            "action": change.action,
            "before": _checked(change.before),
            "after": _checked(change.after),
            "undoes": None if change.undoes is None else places.get(change.undoes),
        }
        places[number] = int(
            connection.execute(QUEUE_CHANGES.insert().returning(QUEUE_CHANGES.c.seq), row).scalar_one()
        )


def _checked(document: str) -> str:
    """Return a label as JSON; the empty one for what is none, because a file may say anything."""
    try:
        decode_label(document)
    except (msgspec.MsgspecError, ValueError):
        return _NO_LABEL
    return clean_text(document)
