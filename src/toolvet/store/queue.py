"""`ReviewQueue`: the verdicts of a store that people should see, who has which before them, and what they said.

    fill → an item with a place for each reviewer it wants → next (a lease) → label, skip, or the lease ends

The rules are the keys of the tables (`store/tables/queue.py`), so that they hold for all processes at one database.
"""

import contextlib
import random
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from typing import Final, TypeAlias, TypeVar

import msgspec
from sqlalchemy import Connection, exists, func, select, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError, OperationalError

from toolvet.errors import StoreError, UsageError
from toolvet.store import queue_labelling as labelling
from toolvet.store.inserting import PLACES_LOCK, insert_entry
from toolvet.store.padding import padded
from toolvet.store.queue_reading import (
    ItemFilter,
    count_items,
    read_changes,
    read_item_id,
    read_items,
    read_labels,
    read_progress,
)
from toolvet.store.queue_records import NO_LABEL, LabelChange, QueueItem, QueueProgress, ReviewLabel
from toolvet.store.reading import read_places
from toolvet.store.records import VerdictRecord
from toolvet.store.store import Store
from toolvet.store.tables.queue import QUEUE_ITEMS, QUEUE_MARKS, QUEUE_PLACES
from toolvet.store.tables.verdicts import VERDICTS

_T = TypeVar("_T")
_BATCH: Final = 1000
_MANY: Final = 5 * _BATCH
_MOMENT: Final = 1.0
LEASE_SECONDS: Final = 15 * 60.0
"""How long a reviewer has an item, by default."""

# Writers of one SQLite file take turns; one that found no turn tries again for this long. With the driver's own wait
# that stays below five seconds, because a person waits for it.
_PATIENCE: Final = 3.0


Choose: TypeAlias = Callable[[VerdictRecord], tuple[str, int, int] | None]


class ReviewQueue:
    """The review queue of a store. All methods may be called from any thread, and raise StoreError.

    Args:
        store: The store, which stays open as long as the queue is used.
        choose: Decides whether people should see a verdict; None: only those given to `add`.
        kinds: The kinds of verdicts that `choose` wants to be asked about; None: all.
        lease_seconds: How long a reviewer has an item before it is free for others.
        clock: Seconds since the epoch.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> from toolvet import check_answer
        >>> said = "I cannot help with that request."
        >>> with TemporaryDirectory() as folder, Store(f"{folder}/verdicts.db") as store:
        ...     id = store.add(check_answer(said), text=said)
        ...     queue = ReviewQueue(store, lambda verdict: ("escalated", 0, 1) if verdict.escalate else None)
        ...     item = queue.next("ada")
        ...     print(item.verdict.text, queue.next("bob"))
        ...     print(queue.label(item.id, "ada", ReviewLabel(value="right")).state)
        I cannot help with that request. None
        done
    """

    def __init__(
        self,
        store: Store,
        choose: Choose | None = None,
        *,
        kinds: Collection[str] | None = None,
        lease_seconds: float = LEASE_SECONDS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.store = store
        self.lease_seconds = lease_seconds
        self._choose = choose
        self._kinds = kinds
        self._clock = clock
        self._filling = threading.Lock()
        self._turn = threading.Lock()
        self._head = -1
        self._judged: set[int] = set()

    # Filling.

    def fill(self, *, again: bool = False, progress: Callable[[int, int], None] | None = None) -> int:
        """Look at the verdicts that came since the last time, and add those that are chosen. Returns how many.

        Args:
            again: Look at all verdicts, as after a change of the rules. Items in the queue stay as they are.
            progress: Gets how many verdicts were looked at and how many of them added, now and then.
        """
        if self._choose is None:
            return 0
        with self._filling:
            with self.store.reading() as connection:
                after = 0 if again else read_mark(connection)
                head, safe = read_head(connection)
            if again:
                self._judged.clear()
            elif head == self._head:
                return 0
            added = self._fill_between(after, head, safe, self._choose, progress)
            self._transact(lambda connection: move_mark(connection, safe))
            self._judged = {seq for seq in self._judged if seq > safe}
            self._head = head
        return added

    def _fill_soon(self) -> None:
        """Look at the verdicts that came since. If there are many, a thread does it, so that no reviewer waits."""
        if self._choose is None or self._filling.locked():
            return
        with self.store.reading() as connection:
            behind = read_head(connection)[0] - max(read_mark(connection), self._head)
        if behind <= _MANY:
            self.fill()
        else:
            threading.Thread(target=self._fill_quietly, name="toolvet-queue", daemon=True).start()

    def _fill_quietly(self) -> None:
        # Where the database is lost or closed meanwhile, the next one goes on from the mark.
        with contextlib.suppress(StoreError):
            self.fill()

    def _fill_between(
        self, after: int, head: int, safe: int, choose: Choose, progress: Callable[[int, int], None] | None
    ) -> int:
        seen = added = marked = 0
        while True:
            with self.store.reading() as connection:
                places = unseen_places(connection, after, head, self._kinds)
                fresh = [seq for seq in places if seq not in self._judged]
                rows = choose_places(connection, fresh, choose)
            if not places:
                return added
            if rows:
                added += self._transact(partial(insert_items, rows=rows, now=self._clock()))
            self._judged.update(fresh)
            after, seen = places[-1], seen + len(fresh)
            if seen - marked >= _MANY:
                # The verdicts so far need not be looked at again, if this process ends before it has seen them all.
                self._transact(partial(move_mark, safe=min(after, safe)))
                marked = seen
            if progress is not None:
                progress(seen, added)

    def add(
        self,
        id_: str,
        *,
        rule: str = "by hand",
        priority: int = 0,
        reviewers: int = 1,
        who: str = "",
        address: str = "",
    ) -> QueueItem:
        """Put the verdict with this id into the queue, unless it is there. Raises UsageError if there is none."""
        with self.store.reading() as connection:
            seq = connection.execute(select(VERDICTS.c.seq).where(VERDICTS.c.id == id_)).scalar()
        if seq is None:
            raise UsageError(f"{self.store.address.shown} has no verdict {id_!r}")
        row: dict[str, object] = {
            "verdict": seq,
            "id": id_,
            "rule": rule,
            "priority": priority,
            "reviewers": max(1, reviewers),
        }

        def work(connection: Connection) -> None:
            insert_items(connection, [row], self._clock())
            insert_entry(connection, who, "enqueue", id_, address=address)

        self._transact(work)
        return self.item(id_)

    # Reviewing. What changes labels and leases is in the audit log, with the `address` that it came from.

    def next(self, reviewer: str) -> QueueItem | None:
        """Lease the item that this reviewer should look at now; None if there is none.

        A reviewer with a lease gets the same item again. A reviewer never gets items that others have, or that they
        labelled or skipped themselves.
        """
        self._fill_soon()
        item = self._lease_next(reviewer)
        if item is None:
            # Another thread may be filling: it may have something in a moment.
            if self._filling.acquire(timeout=_MOMENT):
                self._filling.release()
            self._fill_soon()
            item = self._lease_next(reviewer)
        return None if item is None else self._one(item, reviewer)

    def _lease_next(self, reviewer: str) -> int | None:
        now = self._clock()
        return self._transact(
            lambda connection: labelling.lease_next(connection, reviewer, now, now + self.lease_seconds)
        )

    def lease(self, id_: str, reviewer: str) -> QueueItem:
        """Lease this item. Raises UsageError if others have all its places."""
        self._transact(lambda connection: self._take(connection, id_, reviewer))
        return self.item(id_, reviewer)

    def label(
        self, id_: str, reviewer: str, label: ReviewLabel, *, second_opinion: bool = False, address: str = ""
    ) -> QueueItem:
        """Keep a reviewer's label of an item, in place of their earlier one.

        A `final` label is kept beside those of the reviewers, and decides. `second_opinion` wants one more reviewer.
        Raises UsageError if others have all its places, and for a final label of an item that two have not labelled.
        """
        if not label.value:
            raise UsageError("a label needs a value; undo takes one back")
        now = self._clock()
        said = msgspec.structs.replace(label, reviewer=reviewer, item=id_, at=now)

        def settle(connection: Connection) -> None:
            item = self._find(connection, id_)
            seen = self._shown(connection, item, None)
            if seen.state != "done" or seen.labelled < 2:
                raise UsageError(
                    f"a final label decides between two opinions, and {id_} has {seen.labelled} of {seen.wanted} labels"
                )
            labelling.write_final(connection, item, said)
            before = seen.final or NO_LABEL
            labelling.note_change(connection, item, reviewer, now, "settle", before=before, after=said)
            insert_entry(connection, reviewer, "settle", f"{id_}: {label.value}", address=address, at=now)

        def work(connection: Connection) -> None:
            item = self._take(connection, id_, reviewer)
            before = labelling.read_label(connection, item, reviewer)
            labelling.write_label(connection, item, reviewer, said, now + self.lease_seconds)
            labelling.note_change(connection, item, reviewer, now, "label", before=before, after=said)
            insert_entry(connection, reviewer, "label", f"{id_}: {label.value}", address=address, at=now)
            if second_opinion:
                labelling.add_place(connection, item)

        self._transact(settle if label.final else work)
        return self.item(id_, reviewer)

    def assign(self, id_: str, reviewer: str | None, *, who: str = "", address: str = "") -> QueueItem:
        """Keep a place of an item for this reviewer, so that `next` gives it to them and to no one else; None frees it.

        Raises UsageError if there is no such item.
        """

        def work(connection: Connection) -> None:
            item = self._find(connection, id_)
            labelling.assign(connection, item, reviewer)
            insert_entry(connection, who, "assign", f"{id_}: {reviewer or 'anybody'}", address=address)

        self._transact(work)
        return self.item(id_, who)

    def skip(self, id_: str, reviewer: str, *, address: str = "") -> None:
        """Give an item back, and do not get it again. Raises UsageError if there is no such item."""

        def work(connection: Connection) -> None:
            labelling.skip(connection, self._find(connection, id_), reviewer, self._clock())
            insert_entry(connection, reviewer, "skip", id_, address=address)

        self._transact(work)

    def release(self, id_: str, reviewer: str, *, address: str = "") -> bool:
        """Give a lease back. Returns False if there was none. Raises UsageError if there is no such item."""

        def work(connection: Connection) -> bool:
            was_leased = labelling.release(connection, self._find(connection, id_), reviewer)
            if was_leased:
                insert_entry(connection, reviewer, "release", id_, address=address)
            return was_leased

        return self._transact(work)

    def undo(self, reviewer: str, *, address: str = "") -> QueueItem | None:
        """Take back the last label or skip of this reviewer, and lease its item again; again, that before it.

        Returns the item, None if there is nothing to take back. It is a change of its own in the history.
        """
        now = self._clock()

        def work(connection: Connection) -> int | None:
            item = labelling.undo(connection, reviewer, now, now + self.lease_seconds)
            if item is not None:
                insert_entry(connection, reviewer, "undo", read_item_id(connection, item), address=address, at=now)
            return item

        item = self._transact(work)
        return None if item is None else self._one(item, reviewer)

    def want_another(self, id_: str, *, who: str = "", address: str = "") -> QueueItem:
        """Want one more reviewer for this item: a second opinion. Raises UsageError if there is no such item."""

        def work(connection: Connection) -> None:
            labelling.add_place(connection, self._find(connection, id_))
            insert_entry(connection, who, "second_opinion", id_, address=address)

        self._transact(work)
        return self.item(id_)

    # Reading.

    def held(self, reviewer: str) -> QueueItem | None:
        """Return the item that this reviewer has leased, None if they have none."""
        with self.store.reading() as connection:
            item = labelling.held_item(connection, reviewer)
            return None if item is None else self._shown(connection, item, reviewer)

    def item(self, id_: str, reader: str | None = None) -> QueueItem:
        """Return an item with its verdict. Raises UsageError if there is none.

        For a `reader`, the labels of others are left out until the reader's own is there, or the item is done.
        """
        with self.store.reading() as connection:
            return self._shown(connection, self._find(connection, id_), reader)

    def items(
        self, wanted: ItemFilter | None = None, *, limit: int = 100, offset: int = 0, reader: str | None = None
    ) -> list[QueueItem]:
        """Return items with their verdicts, in the order in which they are given out."""
        self._fill_soon()
        with self.store.reading() as connection:
            return read_items(connection, wanted or ItemFilter(), limit=limit, offset=offset, reader=reader)

    def count(self, wanted: ItemFilter | None = None) -> int:
        """Return how many items a filter finds."""
        with self.store.reading() as connection:
            return count_items(connection, wanted or ItemFilter())

    def progress(self) -> QueueProgress:
        """Return how many items there are, are done, and who labelled how many."""
        self._fill_soon()
        with self.store.reading() as connection:
            return read_progress(connection, self._clock())

    def labels(self, *, at_least: int = 1) -> Iterator[ReviewLabel]:
        """Yield the present labels, in the order of the items; only of items that have at least `at_least` labels."""
        after = 0
        while True:
            with self.store.reading() as connection:
                found, after = read_labels(connection, after, _BATCH, at_least)
            if not found:
                return
            yield from found

    def labels_of(self, ids: Sequence[str], *, reader: str) -> dict[str, list[ReviewLabel]]:
        """Return what people said of the verdicts with these ids, as far as the reader may see it."""
        with self.store.reading() as connection:
            items = [
                item
                for start in range(0, len(ids), _BATCH)
                for item in read_items(
                    connection, ItemFilter(ids=tuple(ids[start : start + _BATCH])), limit=_BATCH, reader=reader
                )
            ]
        return {item.id: [*item.labels, *([] if item.final is None else [item.final])] for item in items if item.labels}

    def labels_after(self, after: int, *, limit: int, reader: str) -> tuple[list[ReviewLabel], int]:
        """Return the labels of the next items after the place `after`, and the place of the last of these.

        The labels of others are left out until the reader's own is there, or the item is done. Without another item,
        the place is the one that was given.
        """
        with self.store.reading() as connection:
            return read_labels(connection, after, limit, reader=reader)

    def history(self, id_: str | None = None, *, reviewer: str | None = None, limit: int = 100) -> list[LabelChange]:
        """Return the latest changes, of an item or of a reviewer or of all, the newest first."""
        with self.store.reading() as connection:
            item = None if id_ is None else self._find(connection, id_)
            return read_changes(connection, item, reviewer, limit)

    def _one(self, item: int, reader: str) -> QueueItem:
        with self.store.reading() as connection:
            return self._shown(connection, item, reader)

    def _shown(self, connection: Connection, item: int, reader: str | None) -> QueueItem:
        (found,) = read_items(connection, ItemFilter(place=item), limit=1, reader=reader)
        return found

    def _find(self, connection: Connection, id_: str) -> int:
        item = labelling.find_item(connection, id_)
        if item is None:
            raise UsageError(f"the review queue has no item {id_!r}")
        return item

    def _take(self, connection: Connection, id_: str, reviewer: str) -> int:
        item, now = self._find(connection, id_), self._clock()
        if not labelling.lease_item(connection, item, reviewer, now, now + self.lease_seconds):
            raise UsageError(f"other reviewers have {id_}; a second opinion can be asked for")
        return item

    def _transact(self, work: Callable[[Connection], _T]) -> _T:
        deadline = time.monotonic() + _PATIENCE
        # SQLite gives the next turn to any thread that asks, and among twenty threads one may never be it.
        is_turn = self.store.address.kind == "sqlite" and self._turn.acquire(timeout=_PATIENCE)
        try:
            while True:
                try:
                    with self.store.connect() as connection:
                        return work(connection)
                except StoreError as error:
                    cause = error.__cause__
                    words = str(getattr(cause, "orig", ""))
                    # It may go well the next time: two reviewers at the same place, or a locked database.
                    is_conflict = isinstance(cause, IntegrityError) or (
                        isinstance(cause, OperationalError) and ("locked" in words or "deadlock" in words)
                    )
                    if not is_conflict or time.monotonic() > deadline:
                        raise
                time.sleep(random.uniform(0.002, 0.03))  # noqa: S311 - so that two do not meet again
        finally:
            if is_turn:
                self._turn.release()


"""A verdict → which rule wants it in the queue, with what priority, and seen by how many; None: not at all."""

_MARK: Final = "queue"
# On PostgreSQL, writers that work at the same time may commit lower places later: this many are looked at again.
_MARGIN: Final = 20_000


def read_mark(connection: Connection) -> int:
    """Return the place up to which all verdicts were looked at."""
    return int(connection.execute(select(QUEUE_MARKS.c.safe).where(QUEUE_MARKS.c.name == _MARK)).scalar() or 0)


def read_head(connection: Connection) -> tuple[int, int]:
    """Return the place of the newest verdict, and the place up to which no verdict can come any more.

    On PostgreSQL the two are the same unless a writer is active. Writers wait until this connection is given back.
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


def unseen_places(connection: Connection, after: int, until: int, kinds: Collection[str] | None) -> list[int]:
    """Return the first thousand places after `after`, and not after `until`, of verdicts of these kinds."""
    query = select(VERDICTS.c.seq).where(VERDICTS.c.seq > after, VERDICTS.c.seq <= until)
    if kinds is not None:
        query = query.where(VERDICTS.c.kind.in_(sorted(kinds)))
    return [int(seq) for seq in connection.execute(query.order_by(VERDICTS.c.seq).limit(_BATCH)).scalars()]


def choose_places(connection: Connection, places: Sequence[int], choose: Choose) -> list[dict[str, object]]:
    """Return the decisions of `choose` on the verdicts at these places: a row for each that it wants."""
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
