"""Reads the review queue: items with their verdicts, labels, changes, sums. Every function takes a connection."""

from typing import TYPE_CHECKING, Any, Literal

import msgspec
from sqlalchemy import Connection, Row, exists, func, select

from toolvet.store.padding import padded
from toolvet.store.queue_labelling import decode_label, label_of
from toolvet.store.queue_records import LabelChange, QueueItem, QueueProgress, ReviewLabel
from toolvet.store.reading import read_places
from toolvet.store.records import VerdictKind
from toolvet.store.tables.queue import QUEUE_CHANGES, QUEUE_FINALS, QUEUE_ITEMS, QUEUE_LABELS, QUEUE_PLACES
from toolvet.store.tables.verdicts import VERDICTS

if TYPE_CHECKING:
    from sqlalchemy import Select


class ItemFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which items of the queue: in this state, labelled by this reviewer, of this rule, of this kind of verdict.

    `disputed` items are done, and their reviewers differ, and no final label decides. `assigned` is a reviewer who has
    a place kept for them and has not labelled the item. `place` is the `seq` of one item. `ids` are verdicts; only
    those that a reviewer labelled are found.
    """

    state: Literal["open", "done", "disputed"] | None = None
    reviewer: str | None = None
    assigned: str | None = None
    rule: str | None = None
    kind: VerdictKind | None = None
    place: int | None = None
    ids: tuple[str, ...] | None = None


def read_item_id(connection: Connection, item: int) -> str:
    """Return the id of the item at this place."""
    return str(connection.execute(select(QUEUE_ITEMS.c.id).where(QUEUE_ITEMS.c.seq == item)).scalar_one())


def read_items(
    connection: Connection, wanted: ItemFilter, *, limit: int, offset: int = 0, reader: str | None = None
) -> list[QueueItem]:
    """Return items with their verdicts. For a `reader`, others' labels are left out until the reader's own is there."""
    query = _wanted(wanted).order_by(QUEUE_ITEMS.c.priority.desc(), QUEUE_ITEMS.c.seq).limit(limit).offset(offset)
    rows = connection.execute(query).all()
    seqs = [int(row.seq) for row in rows]
    verdicts = {verdict.seq: verdict for verdict in read_places(connection, [int(row.verdict) for row in rows])}
    places: dict[int, list[Row[tuple[object, ...]]]] = {}
    for place in connection.execute(select(QUEUE_PLACES).where(QUEUE_PLACES.c.item.in_(padded(seqs)))):
        places.setdefault(int(place.item), []).append(place)
    labels = _labels_of(connection, {int(row.seq): str(row.id) for row in rows})
    found: list[QueueItem] = []
    for row in rows:
        mine, said = places.get(int(row.seq), []), labels.get(int(row.seq), [])
        leased = [place for place in mine if place.state == "leased"]
        item = QueueItem(
            id=str(row.id),
            seq=int(row.seq),
            at=float(row.at),
            rule=str(row.rule),
            priority=int(row.priority),
            wanted=len(mine),
            labelled=sum(place.state == "labelled" for place in mine),
            leased_to=tuple(sorted(str(place.reviewer) for place in leased)),
            until=max((float(place.until) for place in leased), default=None),
            assigned=tuple(sorted(str(place.assigned) for place in mine if place.state == "free" and place.assigned)),
            labels=tuple(label for label in said if not label.final),
            final=next((label for label in said if label.final), None),
            verdict=verdicts.get(int(row.verdict)),
        )
        # Labels of others would sway the reader.
        may_see = reader is None or item.state == "done" or any(label.reviewer == reader for label in item.labels)
        found.append(item if may_see else msgspec.structs.replace(item, labels=(), final=None))
    return found


def _wanted(wanted: ItemFilter) -> "Select[Any]":
    query = select(QUEUE_ITEMS)
    if wanted.place is not None:
        query = query.where(QUEUE_ITEMS.c.seq == wanted.place)
    if wanted.ids is not None:
        said = exists().where(QUEUE_LABELS.c.item == QUEUE_ITEMS.c.seq)
        query = query.where(QUEUE_ITEMS.c.id.in_(padded(wanted.ids)), said)
    if wanted.rule is not None:
        query = query.where(QUEUE_ITEMS.c.rule == wanted.rule)
    if wanted.kind is not None:
        query = query.join(VERDICTS, VERDICTS.c.seq == QUEUE_ITEMS.c.verdict).where(VERDICTS.c.kind == wanted.kind)
    if wanted.state is not None:
        is_open = exists().where(QUEUE_PLACES.c.item == QUEUE_ITEMS.c.seq, QUEUE_PLACES.c.state != "labelled")
        query = query.where(is_open if wanted.state == "open" else ~is_open)
    if wanted.state == "disputed":
        labels = QUEUE_LABELS.c
        values = select(labels.item).where(labels.signal == "").group_by(labels.item)
        query = query.where(
            QUEUE_ITEMS.c.seq.in_(values.having(func.count(labels.value.distinct()) > 1)),
            ~exists().where(QUEUE_FINALS.c.item == QUEUE_ITEMS.c.seq),
        )
    if wanted.assigned is not None:
        places = QUEUE_PLACES.c
        query = query.where(
            exists().where(
                places.item == QUEUE_ITEMS.c.seq, places.assigned == wanted.assigned, places.state != "labelled"
            )
        )
    if wanted.reviewer is not None:
        query = query.where(
            exists().where(
                QUEUE_PLACES.c.item == QUEUE_ITEMS.c.seq,
                QUEUE_PLACES.c.reviewer == wanted.reviewer,
                QUEUE_PLACES.c.state == "labelled",
            )
        )
    return query


def _labels_of(connection: Connection, ids: dict[int, str]) -> dict[int, list[ReviewLabel]]:
    rows: dict[tuple[int, str], list[dict[str, object]]] = {}
    query = select(QUEUE_LABELS).where(QUEUE_LABELS.c.item.in_(padded(list(ids))))
    for row in connection.execute(query.order_by(QUEUE_LABELS.c.item, QUEUE_LABELS.c.at)).mappings():
        rows.setdefault((int(row["item"]), str(row["reviewer"])), []).append(dict(row))
    found: dict[int, list[ReviewLabel]] = {}
    for (item, _), each in rows.items():
        found.setdefault(item, []).append(label_of(each, ids[item]))
    finals = select(QUEUE_FINALS).where(QUEUE_FINALS.c.item.in_(padded(list(ids))))
    for row in connection.execute(finals).mappings():
        final = decode_label(str(row["label"]))
        found.setdefault(int(row["item"]), []).append(
            msgspec.structs.replace(final, item=ids[int(row["item"])], final=True)
        )
    return found


def read_labels(
    connection: Connection, after: int, limit: int, at_least: int = 1, *, reader: str | None = None
) -> tuple[list[ReviewLabel], int]:
    """Return the labels of the next items after the place `after`, and the place of the last of these.

    Items with fewer labels than `at_least` are left out; for a `reader`, so are those of which they may not see labels.
    """
    verdicts = select(QUEUE_LABELS.c.item).where(QUEUE_LABELS.c.signal == "", QUEUE_LABELS.c.item > after)
    enough = verdicts.group_by(QUEUE_LABELS.c.item).having(func.count() >= at_least)
    query = (
        select(QUEUE_ITEMS.c.seq, QUEUE_ITEMS.c.id)
        .where(QUEUE_ITEMS.c.seq > after, QUEUE_ITEMS.c.seq.in_(enough))
        .order_by(QUEUE_ITEMS.c.seq)
        .limit(limit)
    )
    ids = {int(seq): str(id_) for seq, id_ in connection.execute(query)}
    labels = _labels_of(connection, ids)
    if reader is not None:
        places = QUEUE_PLACES.c
        waiting = select(places.item).where(places.item.in_(padded(list(ids))), places.state != "labelled").distinct()
        for item in connection.execute(waiting).scalars():
            if all(label.reviewer != reader for label in labels.get(item, ())):
                labels.pop(item, None)
    return [label for item in ids for label in labels.get(item, ())], max(ids, default=after)


def read_changes(connection: Connection, item: int | None, reviewer: str | None, limit: int) -> list[LabelChange]:
    """Return the latest changes, the newest first."""
    query = select(QUEUE_CHANGES, QUEUE_ITEMS.c.id.label("item_id")).join(
        QUEUE_ITEMS, QUEUE_ITEMS.c.seq == QUEUE_CHANGES.c.item
    )
    if item is not None:
        query = query.where(QUEUE_CHANGES.c.item == item)
    if reviewer is not None:
        query = query.where(QUEUE_CHANGES.c.reviewer == reviewer)
    return [
        LabelChange(
            seq=int(row["seq"]),
            item=str(row["item_id"]),
            reviewer=str(row["reviewer"]),
            at=float(row["at"]),
            action=row["action"],
            before=decode_label(str(row["before"])),
            after=decode_label(str(row["after"])),
            undoes=row["undoes"],
        )
        for row in connection.execute(query.order_by(QUEUE_CHANGES.c.seq.desc()).limit(limit)).mappings()
    ]


def read_progress(connection: Connection, now: float) -> QueueProgress:
    """Return the sums of the queue."""
    places = QUEUE_PLACES.c
    items = int(connection.execute(select(func.count()).select_from(QUEUE_ITEMS)).scalar_one())
    waiting = select(func.count(places.item.distinct())).where(places.state != "labelled")
    leased = select(func.count(places.item.distinct())).where(places.state == "leased", places.until >= now)
    by_reviewer = (
        select(places.reviewer, func.count())
        .where(places.state == "labelled")
        .group_by(places.reviewer)
        .order_by(func.count().desc(), places.reviewer)
    )
    counts = {str(name): int(number) for name, number in connection.execute(by_reviewer)}
    return QueueProgress(
        items=items,
        done=items - int(connection.execute(waiting).scalar_one()),
        leased=int(connection.execute(leased).scalar_one()),
        labels=sum(counts.values()),
        by_reviewer=counts,
    )


def count_items(connection: Connection, wanted: ItemFilter) -> int:
    """Return how many items a filter finds."""
    return int(connection.execute(select(func.count()).select_from(_wanted(wanted).subquery())).scalar_one())
