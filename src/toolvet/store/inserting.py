"""Puts records into the database: one transaction for a batch, with the sums and the words to search for.

A record whose id the database has is left out, so that the same lines can come twice.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, TypeVar

import msgspec
from sqlalchemy import Connection, Table, func, select, text
from sqlalchemy.dialects import postgresql, sqlite

from toolvet.store import copying
from toolvet.store.item_records import ItemRecord
from toolvet.store.padding import padded
from toolvet.store.records import AssessmentRecord, EventRecord, StoreRecord, VerdictRecord, clean_text
from toolvet.store.tables.blocks import BLOCK, VERDICT_BLOCKS
from toolvet.store.tables.rollups import (
    DURATION_BOUNDS,
    KEYS,
    ROLLUP_SIGNALS,
    ROLLUPS,
    SUMS,
    WIDTHS,
)
from toolvet.store.tables.verdicts import ASSESSMENTS, EVENTS, SIGNALS, VERDICTS

# SQLite takes 32,766 values in one statement, PostgreSQL 65,535.
_MOST_IDS: Final = 8_192

PLACES_LOCK: Final = 0x746F6F6C766574
"""The advisory lock of PostgreSQL that writers share while they have places which nobody else sees yet."""

_Row: TypeAlias = dict[str, object]
_R = TypeVar("_R", VerdictRecord, EventRecord, AssessmentRecord)
_Key: TypeAlias = tuple[object, ...]

_COPIED: Final = tuple(name for name in VerdictRecord.__struct_fields__ if name not in ("seq", "signals", "document"))


def insert_records(connection: Connection, records: Sequence[StoreRecord]) -> int:
    """Insert the records that the database does not have, inside the caller's transaction. Returns how many."""
    verdicts = _new(connection, VERDICTS, [each for each in records if isinstance(each, VerdictRecord)])
    events = _new(connection, EVENTS, [each for each in records if isinstance(each, EventRecord)])
    assessments = _new(connection, ASSESSMENTS, [each for each in records if isinstance(each, AssessmentRecord)])
    if verdicts:
        _insert_verdicts(connection, verdicts)
    if events:
        connection.execute(EVENTS.insert(), [_event_row(event) for event in events])
    if assessments:
        connection.execute(ASSESSMENTS.insert(), [_assessment_row(each) for each in assessments])
    # Last: an item needs its verdict.
    items = [each for each in records if isinstance(each, ItemRecord)]
    return len(verdicts) + len(events) + len(assessments) + (_insert_items(connection, items) if items else 0)


def _insert_items(connection: Connection, items: Sequence[ItemRecord]) -> int:
    # Only imports have them: what writes verdicts all day needs none of this.
    from toolvet.store.item_transfer import insert_item_records  # noqa: PLC0415

    return insert_item_records(connection, items)


def _new(connection: Connection, table: Table, records: Sequence[_R]) -> list[_R]:
    """Return the records whose ids are not in the table, each id once."""
    by_id = {record.id: record for record in records}
    ids = list(by_id)
    if not ids:
        return []
    if connection.dialect.name == "postgresql":
        for known in copying.known_ids(connection, table, ids):
            del by_id[known]
        return list(by_id.values())
    for start in range(0, len(ids), _MOST_IDS):
        query = select(table.c.id).where(table.c.id.in_(padded(ids[start : start + _MOST_IDS])))
        for known in connection.execute(query).scalars():
            del by_id[known]
    return list(by_id.values())


def _insert_verdicts(connection: Connection, verdicts: Sequence[VerdictRecord]) -> None:
    first = _reserve(connection, len(verdicts))
    rows = [_verdict_row(verdict, seq) for verdict, seq in zip(verdicts, first, strict=True)]
    _insert_rows(connection, VERDICTS, rows)
    signals = [
        {
            "verdict": seq,
            "type": clean_text(signal.type),
            "level": clean_text(signal.level),
            "certainty": signal.certainty,
        }
        for verdict, seq in zip(verdicts, first, strict=True)
        for signal in verdict.signals
    ]
    if signals:
        _insert_rows(connection, SIGNALS, signals)
    if connection.dialect.name == "sqlite":
        words = [
            {"seq": row["seq"], "tool": row["tool"], "reason": row["reason"], "text": row["text"]}
            for row in rows
            if row["reason"] is not None or row["text"] is not None
        ]
        if words:
            connection.execute(_WORDS, words)
    add_to_rollups(connection, verdicts)
    _note_blocks(connection, [(seq, verdict.at) for verdict, seq in zip(verdicts, first, strict=True)])


def _note_blocks(connection: Connection, places: Sequence[tuple[int, float]]) -> None:
    """Widen the times of the blocks that these places are in."""
    spans: dict[int, tuple[float, float]] = {}
    for seq, at in places:
        begin, end = spans.get(seq // BLOCK, (at, at))
        spans[seq // BLOCK] = (min(begin, at), max(end, at))
    is_postgresql = connection.dialect.name == "postgresql"
    insert = (postgresql if is_postgresql else sqlite).insert(VERDICT_BLOCKS)
    least, greatest = (func.least, func.greatest) if is_postgresql else (func.min, func.max)
    changed = {
        "first": least(VERDICT_BLOCKS.c.first, insert.excluded.first),
        "last": greatest(VERDICT_BLOCKS.c.last, insert.excluded.last),
    }
    rows = [{"block": block, "first": begin, "last": end} for block, (begin, end) in sorted(spans.items())]
    connection.execute(insert.on_conflict_do_update(index_elements=["block"], set_=changed), rows)


def _insert_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, object]]) -> None:
    if connection.dialect.name == "postgresql":
        copying.copy_rows(connection, table, rows)
    else:
        connection.execute(table.insert(), rows)


_WORDS: Final = text("INSERT INTO verdict_words (rowid, tool, reason, text) VALUES (:seq, :tool, :reason, :text)")


def _reserve(connection: Connection, count: int) -> Sequence[int]:
    """Return places for so many verdicts, which no other writer gets."""
    if connection.dialect.name == "postgresql":
        # Until the end of the transaction: without another that has it, no place is still to come.
        connection.execute(text("SELECT pg_advisory_xact_lock_shared(:lock)"), {"lock": PLACES_LOCK})
        found = connection.execute(
            text("SELECT nextval('verdicts_seq_seq') FROM generate_series(1, :count)"), {"count": count}
        )
        return [int(value) for value in found.scalars()]
    last = connection.execute(text("SELECT seq FROM sqlite_sequence WHERE name = 'verdicts'")).scalar()
    if last is None:
        last = connection.execute(select(func.max(VERDICTS.c.seq))).scalar()
    return range(int(last or 0) + 1, int(last or 0) + 1 + count)


def _verdict_row(verdict: VerdictRecord, seq: int) -> _Row:
    row: _Row = {name: _column(getattr(verdict, name)) for name in _COPIED}
    row["seq"] = seq
    row["detail"] = bytes(verdict.document).decode()
    return row


def _event_row(event: EventRecord) -> _Row:
    return {name: _column(getattr(event, name)) for name in EventRecord.__struct_fields__}


def _assessment_row(assessment: AssessmentRecord) -> _Row:
    row: _Row = {
        name: _column(getattr(assessment, name))
        for name in AssessmentRecord.__struct_fields__
        if name not in ("document", "counts")
    }
    row["counts"] = msgspec.json.encode(assessment.counts).decode()
    row["detail"] = bytes(assessment.document).decode()
    return row


def _column(value: object) -> object:
    return clean_text(value) if type(value) is str else value


# The sums.


def add_to_rollups(connection: Connection, verdicts: Sequence[VerdictRecord]) -> None:
    """Add the verdicts to the sums of their minutes and hours."""
    sums: dict[_Key, list[float]] = {}
    signals: dict[_Key, int] = {}
    for verdict in verdicts:
        about = (
            verdict.kind,
            clean_text(verdict.server),
            clean_text(verdict.tool or ""),
            clean_text(verdict.model or ""),
            clean_text(verdict.variant or ""),
        )
        for width in WIDTHS:
            key = (width, int(verdict.at // width) * width, *about)
            row = sums.get(key)
            if row is None:
                row = sums[key] = [0.0] * (len(SUMS) + 1)
            _add(row, verdict)
            for type_ in {clean_text(signal.type) for signal in verdict.signals}:
                signals[*key, type_] = signals.get((*key, type_), 0) + 1
    rows = [dict(zip((*KEYS, *SUMS, "duration_max"), (*key, *row), strict=True)) for key, row in sums.items()]
    _upsert(connection, ROLLUPS, rows, KEYS)
    counted: list[_Row] = [
        dict(zip((*KEYS, "type", "signals"), (*key, number), strict=True)) for key, number in signals.items()
    ]
    if counted:
        _upsert(connection, ROLLUP_SIGNALS, counted, (*KEYS, "type"))


def _add(row: list[float], verdict: VerdictRecord) -> None:
    row[0] += 1
    row[1] += verdict.failed
    row[2] += verdict.escalate
    row[3] += verdict.blocked is not None
    if verdict.score is not None:
        row[4] += verdict.score
        row[5] += 1
    if verdict.duration is not None:
        row[6] += verdict.duration
        row[7] += 1
        row[8 + bisect_left(DURATION_BOUNDS, verdict.duration)] += 1
        row[-1] = max(row[-1], verdict.duration)


def _upsert(connection: Connection, table: Table, rows: Sequence[Mapping[str, object]], keys: Sequence[str]) -> None:
    # In one order everywhere, so that two writers never wait for each other's rows.
    ordered = sorted(rows, key=lambda row: tuple(str(row[key]) for key in keys))
    if connection.dialect.name == "postgresql":
        copying.upsert_sums(connection, table, ordered, keys, "duration_max")
        return
    insert = sqlite.insert(table)
    changed = {
        column.name: func.max(table.c[column.name], insert.excluded[column.name])
        if column.name == "duration_max"
        else table.c[column.name] + insert.excluded[column.name]
        for column in table.columns
        if column.name not in keys
    }
    connection.execute(insert.on_conflict_do_update(index_elements=list(keys), set_=changed), ordered)
