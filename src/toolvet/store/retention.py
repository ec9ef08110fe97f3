"""How long a store keeps what, and the deletion of the rest.

The sums of hours stay, so that trends reach further back than the verdicts: they hold no texts. Verdicts that people
labelled stay as well, unless they may go, too: their labels are work that nothing brings back.
"""

import re
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, delete, exists, func, select, text

from toolvet.errors import UsageError
from toolvet.store.database import writing
from toolvet.store.padding import padded
from toolvet.store.tables.queue import QUEUE_ITEMS, QUEUE_LABELS
from toolvet.store.tables.rollups import ROLLUP_SIGNALS, ROLLUPS, WIDTHS
from toolvet.store.tables.verdicts import ASSESSMENTS, EVENTS, SIGNALS, VERDICTS

if TYPE_CHECKING:
    from sqlalchemy import Engine

_BATCH: Final = 2_000
_MOST_ROUNDS: Final = 4
_AGE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdwy])")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800, "y": 31_557_600}
_SIZE: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)
_POWERS: Final = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_LABELLED: Final = QUEUE_ITEMS.join(QUEUE_LABELS, QUEUE_LABELS.c.item == QUEUE_ITEMS.c.seq)


class Retention(msgspec.Struct, frozen=True, kw_only=True):
    """What to keep: nothing older than `older_than` seconds, and the latest verdicts within `max_bytes`; None: all.

    `labelled` says whether verdicts that people labelled may go as well, with their labels.
    """

    older_than: float | None = None
    max_bytes: int | None = None
    labelled: bool = False


class Pruned(msgspec.Struct, frozen=True, kw_only=True):
    """How much was deleted, and the bytes of the database before and after.

    `kept` is how many verdicts stay only because people labelled them.
    """

    verdicts: int = 0
    kept: int = 0
    events: int = 0
    assessments: int = 0
    bytes_before: int = 0
    bytes_after: int = 0


def parse_age(given: str) -> float:
    """Return an age in seconds. Raises UsageError.

    >>> parse_age("30d"), parse_age("12h")
    (2592000.0, 43200.0)
    """
    found = _AGE.fullmatch(given.strip())
    if found is None:
        raise UsageError(f"{given!r} is not an age: write it as 30d, 12h, 6w or 1y")
    return float(found[1]) * _SECONDS[found[2]]


def parse_size(given: str) -> int:
    """Return a size in bytes. Raises UsageError.

    >>> parse_size("2GiB"), parse_size("500MB")
    (2147483648, 500000000)
    """
    found = _SIZE.fullmatch(given.strip())
    if found is None:
        raise UsageError(f"{given!r} is not a size: write it as 2GiB, 500MB or a number of bytes")
    base = 1024 if found[3] else 1000
    return int(float(found[1]) * base ** _POWERS[found[2].lower()])


def parse_retention(older_than: str | None, max_size: str | None, *, labelled: bool = False) -> Retention:
    """Return what to keep, from an age and a size as people write them. Raises UsageError."""
    return Retention(
        older_than=None if older_than is None else parse_age(older_than),
        max_bytes=None if max_size is None else parse_size(max_size),
        labelled=labelled,
    )


def prune(
    engine: "Engine", retention: Retention, *, progress: Callable[[int], None] | None = None, now: float | None = None
) -> Pruned:
    """Delete what is not to be kept, in transactions of milliseconds, and give the space back.

    `progress` is called with the number of verdicts deleted so far; `now` is in seconds since the epoch.
    """
    before = measure(engine)
    verdicts = events = assessments = kept = 0
    is_labelled = exists().select_from(_LABELLED).where(QUEUE_ITEMS.c.verdict == VERDICTS.c.seq)
    may_go = () if retention.labelled else (~is_labelled,)

    def notice(count: int) -> None:
        nonlocal verdicts
        verdicts += count
        if progress is not None:
            progress(verdicts)

    cutoff = None if retention.older_than is None else (time.time() if now is None else now) - retention.older_than
    if cutoff is not None:
        old = select(VERDICTS.c.seq).where(VERDICTS.c.at < cutoff, *may_go).limit(_BATCH)
        while count := _delete_verdicts(engine, old):
            notice(count)
        with writing(engine) as connection:
            events = connection.execute(delete(EVENTS).where(EVENTS.c.at < cutoff)).rowcount
            assessments = connection.execute(delete(ASSESSMENTS).where(ASSESSMENTS.c.at < cutoff)).rowcount
            for table in (ROLLUPS, ROLLUP_SIGNALS):
                connection.execute(delete(table).where(table.c.width == min(WIDTHS), table.c.bucket < cutoff))
        if verdicts or events or assessments:
            _vacuum(engine, "VACUUM" if retention.max_bytes is None else "VACUUM FULL")
    if retention.max_bytes is not None:
        _make_room(engine, retention.max_bytes, may_go, notice)
    after = measure(engine)
    is_too_large = retention.max_bytes is not None and after > retention.max_bytes
    if not retention.labelled and (cutoff is not None or is_too_large):
        labelled = _LABELLED.join(VERDICTS, VERDICTS.c.seq == QUEUE_ITEMS.c.verdict)
        query = select(func.count(QUEUE_ITEMS.c.seq.distinct())).select_from(labelled)
        # All of them would have to go where the database is too large.
        if cutoff is not None and not is_too_large:
            query = query.where(VERDICTS.c.at < cutoff)
        with engine.connect() as connection:
            kept = int(connection.execute(query).scalar_one())
    return Pruned(
        verdicts=verdicts, kept=kept, events=events, assessments=assessments, bytes_before=before, bytes_after=after
    )


def _make_room(
    engine: "Engine", most: int, may_go: Sequence[ColumnElement[bool]], notice: Callable[[int], None]
) -> None:
    for _ in range(_MOST_ROUNDS):
        used = measure(engine)
        if used <= most:
            return
        with engine.connect() as connection:
            held = int(connection.execute(select(func.count()).select_from(VERDICTS)).scalar_one())
        # A little more than its share: pages are freed whole, and the oldest verdicts may be the shorter ones.
        surplus = min(held, int(held * (used - most) / used) + held // 200 + 1)
        gone = 0
        while gone < surplus:
            query = select(VERDICTS.c.seq).where(*may_go).order_by(VERDICTS.c.seq)
            count = _delete_verdicts(engine, query.limit(min(_BATCH, surplus - gone)))
            if not count:
                break
            gone += count
            notice(count)
        if not gone:
            return
        # Only now is it known how much space that was.
        _vacuum(engine, "VACUUM FULL")


def measure(engine: "Engine") -> int:
    """Return the bytes that the database has in use."""
    with engine.connect() as connection:
        if engine.dialect.name == "postgresql":
            query = text(
                "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c WHERE c.relkind = 'r'"
                " AND c.relnamespace = current_schema()::regnamespace"
            )
            return int(connection.execute(query).scalar_one())
        pages, free, size = (
            int(connection.execute(text(f"PRAGMA {name}")).scalar_one())
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size


def _delete_verdicts(engine: "Engine", query: "object") -> int:
    with writing(engine) as connection:
        places = [int(place) for place in connection.execute(query).scalars()]  # type: ignore[call-overload]
        if places:
            delete_places(connection, places)
    return len(places)


def delete_places(connection: Connection, places: list[int]) -> None:
    """Delete the verdicts at these places (`seq`) with all that hangs on them, inside the caller's transaction."""
    among = padded(places)
    if connection.dialect.name == "sqlite":
        # The index of words has no texts of its own: it needs to get what it indexed.
        words = select(VERDICTS.c.seq, VERDICTS.c.tool, VERDICTS.c.reason, VERDICTS.c.text).where(
            VERDICTS.c.seq.in_(among), VERDICTS.c.reason.is_not(None) | VERDICTS.c.text.is_not(None)
        )
        rows = [dict(row) for row in connection.execute(words).mappings()]
        if rows:
            connection.execute(_FORGET, rows)
    connection.execute(delete(SIGNALS).where(SIGNALS.c.verdict.in_(among)))
    connection.execute(delete(VERDICTS).where(VERDICTS.c.seq.in_(among)))


_FORGET: Final = text(
    "INSERT INTO verdict_words (verdict_words, rowid, tool, reason, text)"
    " VALUES ('delete', :seq, :tool, :reason, :text)"
)


def _vacuum(engine: "Engine", postgresql: str) -> None:
    """Give the space of deleted rows back. Writers wait meanwhile: what they add is safe in the spool."""
    if engine.dialect.name == "postgresql":
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.execute(text(postgresql))
        return
    with writing(engine) as connection:
        # The index of words only notes what was deleted, until it is written again.
        connection.execute(text("INSERT INTO verdict_words (verdict_words) VALUES ('optimize')"))
    raw = engine.raw_connection()
    try:
        # It cannot run inside a transaction.
        raw.cursor().execute("VACUUM")
    finally:
        raw.close()
