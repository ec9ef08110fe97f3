"""Puts records into the database: one transaction for a batch, with the sums and the words to search for.

A record whose id the database has is left out, so that the same lines can come twice.
"""

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from types import ModuleType
from typing import Final, TypeAlias, TypeVar, cast

import msgspec
from sqlalchemy import Connection, Table, delete, func, select, text
from sqlalchemy.dialects import postgresql, sqlite

from toolvet.store import postgresql_bulk, sqlite_bulk
from toolvet.store.records import AssessmentRecord, EventRecord, ItemRecord, StoreRecord, VerdictRecord, clean_text
from toolvet.store.tables.audit import AUDIT
from toolvet.store.tables.blocks import BLOCK, VERDICT_BLOCKS
from toolvet.store.tables.rollups import DURATION_BOUNDS, KEYS, ROLLUP_SIGNALS, ROLLUPS, SUMS, WIDTHS
from toolvet.store.tables.verdicts import ASSESSMENTS, EVENTS, SIGNALS, VERDICTS

PLACES_LOCK: Final = 0x746F6F6C766574
"""The advisory lock of PostgreSQL that writers share while they have places which no other connection sees yet."""

_S = TypeVar("_S")
_R = TypeVar("_R", VerdictRecord, EventRecord, AssessmentRecord)
_Key: TypeAlias = tuple[object, ...]

# The columns of a verdict that are read from its record: texts, which are cleaned, and all others.
_TEXTS: Final = (
    "id",
    "kind",
    "trace",
    "conversation",
    "server",
    "connection",
    "request_id",
    "tool",
    "model",
    "variant",
    "era",
    "outcome",
    "classification",
    "state",
    "blocked",
    "reason",
    "text",
    "version",
)
_OTHERS: Final = ("at", "failed", "score", "escalate", "confidence", "duration", "size")
_VERDICT_COLUMNS: Final = (*_TEXTS, *_OTHERS, "seq", "detail")
_SIGNAL_COLUMNS: Final = ("verdict", "type", "level", "certainty")
# All at once, in C: with a call for each of them, reading the columns took as long as inserting them.
_TEXTS_OF: Final = attrgetter(*_TEXTS)
_OTHERS_OF: Final = attrgetter(*_OTHERS)


def insert_records(connection: Connection, records: Sequence[StoreRecord]) -> int:
    """Insert the records that the database does not have, inside the caller's transaction. Returns how many."""
    verdicts = _new(connection, VERDICTS, [each for each in records if isinstance(each, VerdictRecord)])
    events = _new(connection, EVENTS, [each for each in records if isinstance(each, EventRecord)])
    assessments = _new(connection, ASSESSMENTS, [each for each in records if isinstance(each, AssessmentRecord)])
    if verdicts:
        _insert_verdicts(connection, verdicts)
    if events:
        names = EventRecord.__struct_fields__
        connection.execute(EVENTS.insert(), [{name: _column(getattr(each, name)) for name in names} for each in events])
    if assessments:
        names = tuple(name for name in AssessmentRecord.__struct_fields__ if name not in ("document", "counts"))
        rows = [
            {
                **{name: _column(getattr(each, name)) for name in names},
                "counts": msgspec.json.encode(each.counts).decode(),
                "detail": bytes(each.document).decode(),
            }
            for each in assessments
        ]
        connection.execute(ASSESSMENTS.insert(), rows)
    count = len(verdicts) + len(events) + len(assessments)
    items = [each for each in records if isinstance(each, ItemRecord)]
    if items:
        # Only imports have them: what writes verdicts all day needs none of this.
        from toolvet.store.export import insert_item_records  # noqa: PLC0415

        # Last: an item needs its verdict.
        count += insert_item_records(connection, items)
    return count


def _new(connection: Connection, table: Table, records: Sequence[_R]) -> list[_R]:
    by_id = {clean_text(record.id): record for record in records}
    ids = list(by_id)
    if not ids:
        return []
    for known in _bulk(connection).known_ids(connection, table, ids):
        del by_id[known]
    return list(by_id.values())


def _bulk(connection: Connection) -> ModuleType:
    return postgresql_bulk if connection.dialect.name == "postgresql" else sqlite_bulk


def _insert_verdicts(connection: Connection, verdicts: Sequence[VerdictRecord]) -> None:
    places = _reserve(connection, len(verdicts))
    rows: list[tuple[object, ...]] = []
    for verdict, seq in zip(verdicts, places, strict=True):
        texts: tuple[str | None, ...] = _TEXTS_OF(verdict)
        # One look at all of them: hardly any text has to be cleaned.
        together = "".join([each for each in texts if each])
        if not together.isascii() or "\x00" in together:
            texts = tuple(map(_clean, texts))
        rows.append((*texts, *_OTHERS_OF(verdict), seq, bytes(verdict.document).decode()))
    bulk = _bulk(connection)
    bulk.insert_rows(connection, VERDICTS, _VERDICT_COLUMNS, rows)
    signals = [
        (seq, clean_text(signal.type), clean_text(signal.level), signal.certainty)
        for verdict, seq in zip(verdicts, places, strict=True)
        for signal in verdict.signals
    ]
    if signals:
        bulk.insert_rows(connection, SIGNALS, _SIGNAL_COLUMNS, signals)
    if connection.dialect.name == "sqlite":
        words = [
            {"seq": seq, "tool": _clean(verdict.tool), "reason": _clean(verdict.reason), "text": _clean(verdict.text)}
            for verdict, seq in zip(verdicts, places, strict=True)
            if verdict.reason is not None or verdict.text is not None
        ]
        if words:
            connection.execute(_WORDS, words)
    add_to_rollups(connection, verdicts)
    _note_blocks(connection, [(seq, verdict.at) for verdict, seq in zip(verdicts, places, strict=True)])


def _note_blocks(connection: Connection, places: Sequence[tuple[int, float]]) -> None:
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


_WORDS: Final = text("INSERT INTO verdict_words (rowid, tool, reason, text) VALUES (:seq, :tool, :reason, :text)")


def _reserve(connection: Connection, count: int) -> Sequence[int]:
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


def _clean(value: str | None) -> str | None:
    return None if value is None else clean_text(value)


def _column(value: object) -> object:
    return clean_text(value) if type(value) is str else value


def add_to_rollups(connection: Connection, verdicts: Sequence[VerdictRecord]) -> None:
    """Add the verdicts to the sums of their minutes, hours and days."""
    sums: dict[_Key, list[float]] = {}
    signals: dict[_Key, int] = {}
    shortest = WIDTHS[0]
    cleaned: dict[_Key, _Key] = {}
    for verdict in verdicts:
        about: _Key = _KEYS_OF(verdict)
        if about not in cleaned:
            cleaned[about] = tuple(clean_text(cast("str | None", part) or "") for part in about)
        key = (shortest, int(verdict.at // shortest) * shortest, *cleaned[about])
        row = sums.get(key)
        if row is None:
            row = sums[key] = [0.0] * (len(SUMS) + 1)
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
        for type_ in {clean_text(signal.type) for signal in verdict.signals}:
            signals[*key, type_] = signals.get((*key, type_), 0) + 1
    # A minute lies in one hour, and an hour in one day.
    # The last of a row is its longest duration.
    wide = _widened(sums, lambda row, more: [*map(float.__add__, row[:-1], more[:-1]), max(row[-1], more[-1])])
    rows = [(*key, *row) for key, row in wide]
    _upsert(connection, ROLLUPS, (*KEYS, *SUMS, "duration_max"), rows, KEYS)
    counted = [(*key, number) for key, number in _widened(signals, int.__add__)]
    if counted:
        _upsert(connection, ROLLUP_SIGNALS, (*KEYS, "type", "signals"), counted, (*KEYS, "type"))


_KEYS_OF: Final = attrgetter(*KEYS[2:])


def _widened(sums: dict[_Key, _S], add: Callable[[_S, _S], _S]) -> Iterator[tuple[_Key, _S]]:
    yield from sums.items()
    for width in WIDTHS[1:]:
        wider: dict[_Key, _S] = {}
        for (_, bucket, *about), found in sums.items():
            key = (width, cast("int", bucket) // width * width, *about)
            wider[key] = add(wider[key], found) if key in wider else found
        yield from wider.items()


def _upsert(
    connection: Connection, table: Table, names: Sequence[str], rows: Sequence[tuple[object, ...]], keys: Sequence[str]
) -> None:
    # In one order everywhere, so that two writers never wait for each other's rows.
    ordered = sorted(rows, key=lambda row: tuple(map(str, row[: len(keys)])))
    bulk = _bulk(connection)
    # The new sums are added to those in the table, but of the longest durations the longer one stays.
    changes = ", ".join(
        f"{name} = {bulk.GREATEST}({table.name}.{name}, excluded.{name})"
        if name == "duration_max"
        else f"{name} = {table.name}.{name} + excluded.{name}"
        for name in names
        if name not in keys
    )
    bulk.upsert_sums(connection, table, ordered, names=names, keys=keys, changes=changes)


MOST_ENTRIES: Final = 100_000
# The oldest go a thousand at a time: counting them for every row would cost more than the row.
_SLACK: Final = 1_000
_LONGEST: Final = 500


def insert_entry(
    connection: Connection, who: str, action: str, target: str = "", *, address: str = "", at: float | None = None
) -> None:
    """Add an entry in the transaction of the action: there is neither without the other."""
    texts = {"who": who, "action": action, "target": target, "address": address}
    row = {name: clean_text(value)[:_LONGEST] for name, value in texts.items()}
    added = AUDIT.insert().returning(AUDIT.c.seq)
    seq = connection.execute(added, {"at": time.time() if at is None else at, **row}).scalar_one()
    if seq % _SLACK == 0:
        connection.execute(delete(AUDIT).where(AUDIT.c.seq <= seq - MOST_ENTRIES))
