"""Which verdicts a destination does not have yet: reads them, and notes what was sent."""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, func, select
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from toolvet.store.filters import VerdictFilter
from toolvet.store.reading import conditions, read_records
from toolvet.store.records import VerdictRecord
from toolvet.store.tables.score_sends import SCORE_SENDS
from toolvet.store.tables.verdicts import VERDICTS


def read_unsent(
    connection: Connection, destination: str, wanted: VerdictFilter, *, after: int = 0, limit: int = 500
) -> list[VerdictRecord]:
    """Return the oldest verdicts of a filter that the destination does not have, from the place `after` on."""
    sent = select(SCORE_SENDS.c.verdict).where(
        SCORE_SENDS.c.destination == destination, SCORE_SENDS.c.verdict == VERDICTS.c.seq
    )
    query = select(VERDICTS).where(*conditions(connection, wanted), VERDICTS.c.seq > after, ~sent.exists())
    return read_records(connection, query.order_by(VERDICTS.c.seq).limit(limit))


def count_unsent(connection: Connection, destination: str, wanted: VerdictFilter) -> int:
    """Return how many verdicts of a filter the destination does not have."""
    sent = select(SCORE_SENDS.c.verdict).where(
        SCORE_SENDS.c.destination == destination, SCORE_SENDS.c.verdict == VERDICTS.c.seq
    )
    query = select(func.count()).select_from(VERDICTS).where(*conditions(connection, wanted), ~sent.exists())
    return int(connection.execute(query).scalar_one())


def mark_sent(connection: Connection, destination: str, places: Iterable[int]) -> None:
    """Note that the destination has the verdicts at these places (`seq`)."""
    rows = [{"destination": destination, "verdict": place} for place in places]
    if not rows:
        return
    # Two processes may send at the same time: the platform takes both as one, by the ids of the scores.
    insert = postgresql_insert if connection.dialect.name == "postgresql" else sqlite_insert
    connection.execute(insert(SCORE_SENDS).on_conflict_do_nothing(), rows)


def read_beginnings(connection: Connection, traces: Sequence[str]) -> Mapping[str, float]:
    """Return when each of these turns began, in seconds since the epoch."""
    query = select(VERDICTS.c.trace, func.min(VERDICTS.c.at)).where(VERDICTS.c.trace.in_(traces))
    return {str(trace): float(at) for trace, at in connection.execute(query.group_by(VERDICTS.c.trace))}
