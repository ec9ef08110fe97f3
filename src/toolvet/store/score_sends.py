"""Which verdicts a destination does not have yet: reads them, and notes what was sent."""

from collections.abc import Iterable, Mapping, Sequence

from sqlalchemy import Connection, delete, func, or_, select
from sqlalchemy.dialects.postgresql import insert as postgresql_insert
from sqlalchemy.dialects.sqlite import insert as sqlite_insert

from toolvet.store.padding import padded
from toolvet.store.reading import conditions, read_records
from toolvet.store.records import VerdictFilter, VerdictRecord
from toolvet.store.tables.score_claims import SCORE_CLAIMS
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
    # A process whose claim ended may have sent the same: most platforms take both as one, by the ids of the scores.
    insert = postgresql_insert if connection.dialect.name == "postgresql" else sqlite_insert
    connection.execute(insert(SCORE_SENDS).on_conflict_do_nothing(), rows)


def claim(connection: Connection, destination: str, owner: str, now: float, until: float) -> bool:
    """Claim a destination until then, or for longer; False if another owner's claim has not ended."""
    insert = (postgresql_insert if connection.dialect.name == "postgresql" else sqlite_insert)(SCORE_CLAIMS)
    is_free = or_(SCORE_CLAIMS.c.owner == owner, SCORE_CLAIMS.c.until <= now)
    mine = insert.values(destination=destination, owner=owner, until=until).on_conflict_do_update(
        index_elements=["destination"], set_={"owner": owner, "until": until}, where=is_free
    )
    return connection.execute(mine.returning(SCORE_CLAIMS.c.owner)).first() is not None


def release(connection: Connection, destination: str, owner: str) -> None:
    """End a claim."""
    mine = (SCORE_CLAIMS.c.destination == destination) & (SCORE_CLAIMS.c.owner == owner)
    connection.execute(delete(SCORE_CLAIMS).where(mine))


def read_beginnings(connection: Connection, traces: Sequence[str]) -> Mapping[str, float]:
    """Return when each of these turns began, in seconds since the epoch."""
    query = select(VERDICTS.c.trace, func.min(VERDICTS.c.at)).where(VERDICTS.c.trace.in_(padded(traces)))
    return {str(trace): float(at) for trace, at in connection.execute(query.group_by(VERDICTS.c.trace))}
