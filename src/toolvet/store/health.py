"""What can be said of a store's health: `read_health`."""

from typing import TYPE_CHECKING

import msgspec
from sqlalchemy import Connection, func, select, text
from sqlalchemy.exc import DatabaseError

from toolvet.store.retention import measure
from toolvet.store.revision import newest_revision
from toolvet.store.tables.verdicts import ASSESSMENTS, EVENTS, SIGNALS, VERDICTS

if TYPE_CHECKING:
    from sqlalchemy import Engine


class StoreHealth(msgspec.Struct, frozen=True, kw_only=True):
    """A store in numbers. `problems` are sentences on what is broken; `dropped` are those of the store's own events.

    `waiting` is how many bytes are in the spool, of processes that still run; `first` and `last` are times of
    verdicts in seconds since the epoch.
    """

    verdicts: int
    signals: int
    events: int
    assessments: int
    bytes: int
    revision: str
    first: float | None = None
    last: float | None = None
    waiting: int = 0
    dropped: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def read_health(engine: "Engine", waiting: int) -> StoreHealth:
    """Check the database, and count what it has."""
    with engine.connect() as connection:
        counts = [
            int(connection.execute(select(func.count()).select_from(table)).scalar_one())
            for table in (VERDICTS, SIGNALS, EVENTS, ASSESSMENTS)
        ]
        first, last = connection.execute(select(func.min(VERDICTS.c.at), func.max(VERDICTS.c.at))).one()
        dropped = connection.execute(select(EVENTS.c.message).where(EVENTS.c.kind == "dropped").order_by(EVENTS.c.at))
        return StoreHealth(
            verdicts=counts[0],
            signals=counts[1],
            events=counts[2],
            assessments=counts[3],
            bytes=measure(engine),
            revision=newest_revision(),
            first=first,
            last=last,
            waiting=waiting,
            dropped=tuple(str(message) for message in dropped.scalars()),
            problems=_problems(connection),
        )


def _problems(connection: Connection) -> tuple[str, ...]:
    found: list[str] = []
    lone = select(func.count()).select_from(SIGNALS.outerjoin(VERDICTS)).where(VERDICTS.c.seq.is_(None))
    count = int(connection.execute(lone).scalar_one())
    if count:
        found.append(f"{count} signals belong to no verdict")
    if connection.dialect.name == "sqlite":
        answers = connection.execute(text("PRAGMA quick_check(20)")).scalars()
        found += [str(answer) for answer in answers if answer != "ok"]
        try:
            connection.execute(text("INSERT INTO verdict_words (verdict_words) VALUES ('integrity-check')"))
        except DatabaseError as error:
            found.append(f"the index of words is damaged: {error.orig}")
        connection.rollback()
    return tuple(found)
