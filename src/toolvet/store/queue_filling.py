"""Puts verdicts into the review queue, those that a caller's function chooses. Every function takes a connection."""

from collections.abc import Callable, Collection, Sequence
from typing import Final, TypeAlias

from sqlalchemy import Connection, exists, func, select, text
from sqlalchemy.dialects import postgresql, sqlite

from toolvet.store.inserting import PLACES_LOCK
from toolvet.store.padding import padded
from toolvet.store.reading import read_places
from toolvet.store.records import VerdictRecord
from toolvet.store.tables.queue import QUEUE_ITEMS, QUEUE_MARKS, QUEUE_PLACES
from toolvet.store.tables.verdicts import VERDICTS

Choose: TypeAlias = Callable[[VerdictRecord], tuple[str, int, int] | None]
"""A verdict → which rule wants it in the queue, with what priority, and seen by how many; None: not at all."""

_MARK: Final = "queue"
# On PostgreSQL, writers that work at the same time may commit lower places later: so many are looked at again.
_MARGIN: Final = 20_000


def read_mark(connection: Connection) -> int:
    """Return the place up to which all verdicts were looked at."""
    return int(connection.execute(select(QUEUE_MARKS.c.safe).where(QUEUE_MARKS.c.name == _MARK)).scalar() or 0)


def read_head(connection: Connection) -> tuple[int, int]:
    """Return the place of the newest verdict, and the place up to which no verdict can come any more.

    On PostgreSQL the two are the same unless somebody is writing. Writers wait until this connection is given back.
    """
    is_final = True
    if connection.dialect.name == "postgresql":
        # Before the places are read, in a statement of its own: that sees all whose writers have let go of the lock.
        lock = text("SELECT pg_try_advisory_xact_lock(:lock)")
        is_final = bool(connection.execute(lock, {"lock": PLACES_LOCK}).scalar())
    head = int(connection.execute(select(func.max(VERDICTS.c.seq))).scalar() or 0)
    return head, head if is_final else max(0, head - _MARGIN)


def move_mark(connection: Connection, safe: int) -> None:
    """Note that all verdicts up to this place were looked at; another process may be further."""
    insert = (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(QUEUE_MARKS)
    greatest = func.greatest if connection.dialect.name == "postgresql" else func.max
    changed = {"safe": greatest(QUEUE_MARKS.c.safe, insert.excluded.safe)}
    connection.execute(
        insert.on_conflict_do_update(index_elements=["name"], set_=changed), [{"name": _MARK, "safe": safe}]
    )


def unseen_places(
    connection: Connection, after: int, until: int, kinds: Collection[str] | None, limit: int
) -> list[int]:
    """Return the first places after `after`, and not after `until`, of verdicts of these kinds."""
    query = select(VERDICTS.c.seq).where(VERDICTS.c.seq > after, VERDICTS.c.seq <= until)
    if kinds is not None:
        query = query.where(VERDICTS.c.kind.in_(sorted(kinds)))
    return [int(seq) for seq in connection.execute(query.order_by(VERDICTS.c.seq).limit(limit)).scalars()]


def choose_places(connection: Connection, places: Sequence[int], choose: Choose) -> list[dict[str, object]]:
    """Return what `choose` says of the verdicts at these places: a row for each that it wants."""
    rows: list[dict[str, object]] = []
    for verdict in read_places(connection, places):
        wish = choose(verdict)
        if wish is not None:
            rule, priority, reviewers = wish
            rows.append(
                {
                    "verdict": verdict.seq,
                    "id": verdict.id,
                    "rule": rule,
                    "priority": priority,
                    "reviewers": max(1, reviewers),
                }
            )
    return rows


def insert_items(connection: Connection, rows: Sequence[dict[str, object]], now: float) -> int:
    """Insert items with their places; a verdict that is in the queue already is left as it is. Returns how many."""
    there = select(VERDICTS.c.seq).where(VERDICTS.c.seq.in_(padded([row["verdict"] for row in rows])))
    kept = set(connection.execute(there).scalars())
    # The retention may have deleted one since it was read.
    rows = [row for row in rows if row["verdict"] in kept]
    if not rows:
        return 0
    insert = (postgresql if connection.dialect.name == "postgresql" else sqlite).insert(QUEUE_ITEMS)
    items = [{name: row[name] for name in ("verdict", "id", "rule", "priority")} | {"at": now} for row in rows]
    connection.execute(insert.on_conflict_do_nothing(), items)
    by_id = {row["id"]: row for row in rows}
    fresh = select(QUEUE_ITEMS.c.seq, QUEUE_ITEMS.c.id).where(
        QUEUE_ITEMS.c.id.in_(padded(list(by_id))), ~exists().where(QUEUE_PLACES.c.item == QUEUE_ITEMS.c.seq)
    )
    found = [(int(seq), by_id[id_]) for seq, id_ in connection.execute(fresh)]
    places = [
        {"item": seq, "place": number, "rank": -int(str(row["priority"])), "state": "free"}
        for seq, row in found
        for number in range(1, int(str(row["reviewers"])) + 1)
    ]
    if places:
        connection.execute(QUEUE_PLACES.insert(), places)
    return len(found)
