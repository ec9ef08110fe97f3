"""Leases, labels and their history, as statements. Every function takes a connection in a transaction that writes.

a free place → leased by a reviewer, until a time → labelled by them
                      ↳ given back, or over: free for the next
"""

from typing import TYPE_CHECKING, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, delete, exists, func, literal_column, or_, select, update

from toolvet.core.decodable import decodable
from toolvet.core.redact import redact_text
from toolvet.store.queue_records import NO_LABEL, ReviewLabel
from toolvet.store.records import clean_text
from toolvet.store.tables.queue import (
    QUEUE_CHANGES,
    QUEUE_FINALS,
    QUEUE_ITEMS,
    QUEUE_LABELS,
    QUEUE_PLACES,
    QUEUE_SKIPS,
)

if TYPE_CHECKING:
    from sqlalchemy import Select

    from toolvet.store.records import ItemLabel

_P: Final = QUEUE_PLACES.c
_MISSED: Final = "missed:"


def find_item(connection: Connection, id_: str) -> int | None:
    """Return the place of the item with this id."""
    found = connection.execute(select(QUEUE_ITEMS.c.seq).where(QUEUE_ITEMS.c.id == id_)).scalar()
    return None if found is None else int(found)


def held_item(connection: Connection, reviewer: str) -> int | None:
    """Return the item that this reviewer has: of several, the one that `lease_next` gives."""
    own = select(_P.item).where(_P.reviewer == reviewer, _P.state == "leased").order_by(_P.rank, _P.item).limit(1)
    found = connection.execute(own).scalar()
    return None if found is None else int(found)


def lease_next(connection: Connection, reviewer: str, now: float, until: float) -> int | None:
    """Lease the first item that is free for this reviewer; one that they have already comes first."""
    item = held_item(connection, reviewer)
    if item is not None and _extend(connection, item, reviewer, until):
        return item
    other = QUEUE_PLACES.alias()
    query = (
        select(_P.item, _P.place)
        .where(
            _is_free(now),
            # The words of the index `queue_places_open`, not a parameter: else the database cannot use it.
            literal_column("queue_places.state != 'labelled'"),
            ~exists().where(other.c.item == _P.item, other.c.reviewer == reviewer),
            ~exists().where(QUEUE_SKIPS.c.item == _P.item, QUEUE_SKIPS.c.reviewer == reviewer),
        )
        # A free place before one whose lease has ended: who is slow may still hand in.
        .order_by(_P.rank, _P.item, _P.state, _P.place)
        .limit(1)
    )
    for kept_for in (_P.assigned == reviewer, _P.assigned.is_(None)):
        found = connection.execute(_locked(connection, query.where(kept_for))).first()
        if found is not None:
            _give(connection, int(found[0]), int(found[1]), reviewer, until)
            return int(found[0])
    return None


def lease_item(connection: Connection, item: int, reviewer: str, now: float, until: float) -> bool:
    """Lease this item. Returns False if no place in it is free for this reviewer."""
    if _extend(connection, item, reviewer, until):
        return True
    labelled = select(_P.item).where(_P.item == item, _P.reviewer == reviewer, _P.state == "labelled")
    if connection.execute(labelled).first() is not None:
        return True
    query = (
        select(_P.item, _P.place)
        .where(_is_free(now), _P.item == item, func.coalesce(_P.assigned, reviewer) == reviewer)
        .order_by(_P.assigned.is_(None), _P.state, _P.place)
        .limit(1)
    )
    found = connection.execute(_locked(connection, query)).first()
    if found is None:
        return False
    _give(connection, item, int(found[1]), reviewer, until)
    return True


def release(connection: Connection, item: int, reviewer: str) -> bool:
    """Give a lease back. Returns False if there was none."""
    freed = update(QUEUE_PLACES).where(_P.item == item, _P.reviewer == reviewer, _P.state == "leased")
    return connection.execute(freed.values(state="free", reviewer=None, until=None)).rowcount > 0


def skip(connection: Connection, item: int, reviewer: str, now: float) -> None:
    """Give an item back, and do not give it to this reviewer again; a place kept for them is free for others."""
    release(connection, item, reviewer)
    connection.execute(update(QUEUE_PLACES).where(_P.item == item, _P.assigned == reviewer).values(assigned=None))
    known = select(QUEUE_SKIPS.c.item).where(QUEUE_SKIPS.c.item == item, QUEUE_SKIPS.c.reviewer == reviewer)
    if connection.execute(known).first() is None:
        connection.execute(QUEUE_SKIPS.insert().values(item=item, reviewer=reviewer))
        note_change(connection, item, reviewer, now, "skip")


def read_label(connection: Connection, item: int, reviewer: str) -> ReviewLabel:
    """Return the present label of this reviewer for this item."""
    rows = connection.execute(
        select(QUEUE_LABELS).where(QUEUE_LABELS.c.item == item, QUEUE_LABELS.c.reviewer == reviewer)
    ).mappings()
    return label_of([dict(row) for row in rows])


def label_of(rows: list[dict[str, object]], id_: str = "") -> ReviewLabel:
    """Return the rows that one reviewer has for one item as one label."""
    verdict = next((row for row in rows if not row["signal"]), None)
    if verdict is None:
        return NO_LABEL
    said = {str(row["signal"]): str(row["value"]) for row in rows if row["signal"]}
    return ReviewLabel(
        value=str(verdict["value"]),
        note=str(verdict["note"]),
        signals={key: value for key, value in said.items() if not key.startswith(_MISSED)},
        missed={key.removeprefix(_MISSED): value for key, value in said.items() if key.startswith(_MISSED)},
        reviewer=str(verdict["reviewer"]),
        item=id_,
        at=float(str(verdict["at"])),
    )


def write_label(connection: Connection, item: int, reviewer: str, label: ReviewLabel, until: float) -> None:
    """Replace what this reviewer says, whose place it must be; `NO_LABEL` takes it back and leases the item again."""
    connection.execute(delete(QUEUE_LABELS).where(QUEUE_LABELS.c.item == item, QUEUE_LABELS.c.reviewer == reviewer))
    mine = update(QUEUE_PLACES).where(_P.item == item, _P.reviewer == reviewer)
    if not label.value:
        connection.execute(mine.values(state="leased", until=until))
        return
    connection.execute(mine.values(state="labelled", until=None))
    insert_label(connection, item, reviewer, label)


def insert_label(connection: Connection, item: int, reviewer: str, label: "ReviewLabel | ItemLabel") -> None:
    """Insert what this reviewer says: a row for the verdict (no signal), and one for each signal or fault."""
    said = dict(label.signals)
    if isinstance(label, ReviewLabel):
        said |= {f"{_MISSED}{type_}": redact_text(words) for type_, words in label.missed.items()}
    rows = [
        {
            "item": item,
            "reviewer": reviewer,
            "signal": clean_text(signal),
            "value": clean_text(value),
            "note": clean_text(redact_text(label.note)) if not signal else "",
            "at": label.at,
        }
        for signal, value in {**said, "": label.value}.items()
    ]
    connection.execute(QUEUE_LABELS.insert(), rows)


def note_change(
    connection: Connection,
    item: int,
    reviewer: str,
    at: float,
    action: str,
    *,
    before: ReviewLabel = NO_LABEL,
    after: ReviewLabel = NO_LABEL,
    undoes: int | None = None,
) -> None:
    """Write a change into the history."""
    row = {
        "item": item,
        "reviewer": reviewer,
        "at": at,
        "action": action,
        "before": _encode(before),
        "after": _encode(after),
        "undoes": undoes,
    }
    connection.execute(QUEUE_CHANGES.insert(), [row])


def undo(connection: Connection, reviewer: str, now: float, until: float) -> int | None:
    """Take back the last thing that this reviewer did and has not taken back. Returns the item; None for nothing."""
    changes, later = QUEUE_CHANGES.c, QUEUE_CHANGES.alias()
    query = (
        select(QUEUE_CHANGES)
        .where(
            changes.reviewer == reviewer,
            changes.action != "undo",
            ~exists().where(later.c.undoes == changes.seq),
        )
        .order_by(changes.seq.desc())
        .limit(1)
    )
    row = connection.execute(query).mappings().first()
    if row is None:
        return None
    item, before = int(row["item"]), decode_label(str(row["before"]))
    after = read_label(connection, item, reviewer)
    if row["action"] == "skip":
        connection.execute(delete(QUEUE_SKIPS).where(QUEUE_SKIPS.c.item == item, QUEUE_SKIPS.c.reviewer == reviewer))
        lease_item(connection, item, reviewer, now, until)
        before = after
    elif row["action"] == "settle":
        after = read_final(connection, item) or NO_LABEL
        write_final(connection, item, before)
    else:
        write_label(connection, item, reviewer, before, until)
    note_change(connection, item, reviewer, now, "undo", before=after, after=before, undoes=int(row["seq"]))
    return item


def read_final(connection: Connection, item: int) -> ReviewLabel | None:
    """Return the label that decides where reviewers differ, None if there is none."""
    found = connection.execute(select(QUEUE_FINALS.c.label).where(QUEUE_FINALS.c.item == item)).scalar()
    return None if found is None else decode_label(str(found))


def write_final(connection: Connection, item: int, label: ReviewLabel) -> None:
    """Replace the label that decides; `NO_LABEL` takes it back."""
    connection.execute(delete(QUEUE_FINALS).where(QUEUE_FINALS.c.item == item))
    if label.value:
        connection.execute(QUEUE_FINALS.insert().values(item=item, label=_encode(label)))


def assign(connection: Connection, item: int, reviewer: str | None) -> None:
    """Keep a free place of an item for this reviewer, or a further one; None keeps no place for anybody."""
    if reviewer is None:
        connection.execute(update(QUEUE_PLACES).where(_P.item == item).values(assigned=None))
        return
    mine = select(_P.item).where(_P.item == item, or_(_P.reviewer == reviewer, _P.assigned == reviewer))
    if connection.execute(mine).first() is not None:
        return
    connection.execute(delete(QUEUE_SKIPS).where(QUEUE_SKIPS.c.item == item, QUEUE_SKIPS.c.reviewer == reviewer))
    free = select(_P.place).where(_P.item == item, _P.state == "free", _P.assigned.is_(None)).order_by(_P.place)
    place = connection.execute(free.limit(1)).scalar() or add_place(connection, item)
    connection.execute(update(QUEUE_PLACES).where(_P.item == item, _P.place == place).values(assigned=reviewer))


def add_place(connection: Connection, item: int) -> int:
    """Want one more reviewer for an item. Returns how many it wants now."""
    query = select(func.max(_P.place), func.min(_P.rank)).where(_P.item == item)
    most, rank = connection.execute(query).one()
    number = int(most or 0) + 1
    connection.execute(QUEUE_PLACES.insert().values(item=item, place=number, rank=int(rank or 0), state="free"))
    return number


def decode_label(document: str) -> ReviewLabel:
    """Return a label as the history has it."""
    return msgspec.json.decode(document, type=decodable(ReviewLabel))


def _encode(label: ReviewLabel) -> str:
    said = {"value": clean_text(label.value), "note": clean_text(redact_text(label.note))}
    signals = {clean_text(key): clean_text(value) for key, value in label.signals.items()}
    missed = {clean_text(key): clean_text(redact_text(words)) for key, words in label.missed.items()}
    return msgspec.json.encode(msgspec.structs.replace(label, signals=signals, missed=missed, **said)).decode()


def _is_free(now: float) -> ColumnElement[bool]:
    return or_(_P.state == "free", and_(_P.state == "leased", _P.until < now))


def _locked(connection: Connection, query: "Select[int, int]") -> "Select[int, int]":
    """Lock the row on PostgreSQL, and pass over those that another transaction has locked; SQLite has one writer."""
    if connection.dialect.name == "postgresql":
        return query.with_for_update(skip_locked=True, of=QUEUE_PLACES)
    return query


def _give(connection: Connection, item: int, place: int, reviewer: str, until: float) -> None:
    taken = update(QUEUE_PLACES).where(_P.item == item, _P.place == place)
    connection.execute(taken.values(state="leased", reviewer=reviewer, until=until))


def _extend(connection: Connection, item: int, reviewer: str, until: float) -> bool:
    longer = update(QUEUE_PLACES).where(_P.item == item, _P.reviewer == reviewer, _P.state == "leased")
    return connection.execute(longer.values(until=until)).rowcount > 0
