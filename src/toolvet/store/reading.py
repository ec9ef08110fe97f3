"""Reads a database: one verdict, those of a filter, a turn, events, assessments, and how far the store is.

Every function takes a connection (`Store.reading`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec
from sqlalchemy import ColumnElement, Connection, RowMapping, Select, func, select
from sqlalchemy.sql.base import ReadOnlyColumnCollection

from toolvet.store.padding import padded
from toolvet.store.records import (
    EVERYTHING,
    AssessmentRecord,
    EventRecord,
    SignalRecord,
    VerdictFilter,
    VerdictRecord,
    clean_text,
)
from toolvet.store.search import words_condition
from toolvet.store.tables.queue import QUEUE_CHANGES
from toolvet.store.tables.verdicts import ASSESSMENTS, EVENTS, SIGNALS, VERDICTS

VerdictOrder: TypeAlias = Literal["newest", "oldest", "lowest_score", "slowest"]
"""How verdicts are sorted; `newest` and `oldest` by their place in the store."""

_MOST_IN: Final = 8_192
_FIELDS: Final = frozenset(VerdictRecord.__struct_fields__) - {"document", "signals"}


def read_verdict(connection: Connection, id_: str) -> VerdictRecord | None:
    """Return the verdict with this id."""
    return next(iter(read_records(connection, select(VERDICTS).where(VERDICTS.c.id == clean_text(id_)))), None)


def read_verdicts(
    connection: Connection,
    wanted: VerdictFilter = EVERYTHING,
    *,
    limit: int = 100,
    order: VerdictOrder = "newest",
    after: int | None = None,
    before: int | None = None,
    offset: int = 0,
) -> list[VerdictRecord]:
    """Return at most `limit` verdicts. `after` and `before` are places (`seq`), themselves excluded."""
    query = select(VERDICTS).where(*conditions(connection, wanted))
    if after is not None:
        query = query.where(VERDICTS.c.seq > after)
    if before is not None:
        query = query.where(VERDICTS.c.seq < before)
    orders: Mapping[VerdictOrder, tuple[ColumnElement[object], ...]] = {
        "newest": (VERDICTS.c.seq.desc(),),
        "oldest": (VERDICTS.c.seq.asc(),),
        "lowest_score": (VERDICTS.c.score.asc().nulls_last(), VERDICTS.c.seq.desc()),
        "slowest": (VERDICTS.c.duration.desc().nulls_last(), VERDICTS.c.seq.desc()),
    }
    return read_records(connection, query.order_by(*orders[order]).limit(limit).offset(offset))


def count_verdicts(connection: Connection, wanted: VerdictFilter = EVERYTHING) -> int:
    """Return how many verdicts the filter finds."""
    query = select(func.count()).select_from(VERDICTS).where(*conditions(connection, wanted))
    return int(connection.execute(query).scalar_one())


def read_events(connection: Connection, limit: int = 100) -> list[EventRecord]:
    """Return the latest events, the newest first."""
    rows = connection.execute(select(EVENTS).order_by(EVENTS.c.seq.desc()).limit(limit)).mappings()
    names = EventRecord.__struct_fields__
    return [EventRecord(**{name: row[name] for name in names}) for row in rows]


def read_assessments(connection: Connection, server: str | None = None, limit: int = 100) -> list[AssessmentRecord]:
    """Return the latest assessments of a server, or of all, the newest first."""
    query = select(ASSESSMENTS).order_by(ASSESSMENTS.c.at.desc(), ASSESSMENTS.c.seq.desc()).limit(limit)
    if server is not None:
        query = query.where(ASSESSMENTS.c.server == server)
    return [_assessment(row, str(row["detail"])) for row in connection.execute(query).mappings()]


def read_assessment(connection: Connection, id_: str) -> AssessmentRecord | None:
    """Return the assessment with this id."""
    row = connection.execute(select(ASSESSMENTS).where(ASSESSMENTS.c.id == clean_text(id_))).mappings().first()
    return None if row is None else _assessment(row, str(row["detail"]))


def conditions(
    connection: Connection, wanted: VerdictFilter, columns: ReadOnlyColumnCollection[str, Any] = VERDICTS.c
) -> list[ColumnElement[bool]]:
    """Return the filter as conditions on the columns of the table of verdicts, or of a query on it."""
    found = list[ColumnElement[bool]]()
    for name in ("kind", "server", "tool", "model", "variant", "outcome", "state", "trace", "conversation"):
        value = getattr(wanted, name)
        if value is not None:
            found.append(columns[name] == value)
    if wanted.failed is not None:
        found.append(columns.failed.is_(wanted.failed))
    if wanted.escalated is not None:
        found.append(columns.escalate.is_(wanted.escalated))
    if wanted.blocked is not None:
        found.append(columns.blocked.is_not(None) if wanted.blocked else columns.blocked.is_(None))
    if wanted.min_score is not None:
        found.append(columns.score >= wanted.min_score)
    if wanted.max_score is not None:
        found.append(columns.score <= wanted.max_score)
    if wanted.since is not None:
        found.append(columns.at >= wanted.since)
    if wanted.until is not None:
        found.append(columns.at < wanted.until)
    if wanted.signal is not None:
        found.append(columns.seq.in_(select(SIGNALS.c.verdict).where(SIGNALS.c.type == wanted.signal)))
    if wanted.text is not None:
        found.append(words_condition(connection, wanted.text, columns))
    return found


def read_trace(connection: Connection, trace: str, limit: int | None = None) -> list[VerdictRecord]:
    """Return the verdicts with this trace id, in the order in which they happened."""
    query = select(VERDICTS).where(VERDICTS.c.trace == trace).order_by(VERDICTS.c.at, VERDICTS.c.seq)
    return read_records(connection, query.limit(limit))


def traces_beginning(connection: Connection, prefix: str, limit: int) -> list[str]:
    """Return the first trace ids that begin with `prefix`."""
    found: list[str] = []
    least = VERDICTS.c.trace >= prefix
    while len(found) < limit:
        # One step in the index for each: a short beginning may be that of all verdicts. An id is ASCII, so that the
        # last of its characters is below DEL.
        query = select(func.min(VERDICTS.c.trace)).where(least, VERDICTS.c.trace < f"{prefix}\x7f")
        trace = connection.execute(query).scalar()
        if trace is None:
            break
        found.append(str(trace))
        least = VERDICTS.c.trace > str(trace)
    return found


def read_places(connection: Connection, places: Sequence[int]) -> list[VerdictRecord]:
    """Return the verdicts at these places (`seq`), in the order of these."""
    query = select(VERDICTS).where(VERDICTS.c.seq.in_(padded(places))).order_by(VERDICTS.c.seq)
    return read_records(connection, query)


def latest_traces(connection: Connection, limit: int) -> list[str]:
    """Return the trace ids that came last, the newest first."""
    query = select(VERDICTS.c.trace).where(VERDICTS.c.trace.is_not(None)).order_by(VERDICTS.c.seq.desc()).limit(5_000)
    found = dict.fromkeys(str(trace) for trace in connection.execute(query).scalars())
    return list(found)[:limit]


def read_records(connection: Connection, query: "Select[Any]") -> list[VerdictRecord]:
    """Return the verdicts that a query of whole rows of `VERDICTS` finds."""
    rows = list(connection.execute(query).mappings())
    places = [int(row["seq"]) for row in rows]
    signals: dict[int, list[SignalRecord]] = {}
    for start in range(0, len(places), _MOST_IN):
        of_these = select(SIGNALS).where(SIGNALS.c.verdict.in_(padded(places[start : start + _MOST_IN])))
        for row in connection.execute(of_these).mappings():
            signal = SignalRecord(str(row["type"]), str(row["level"]), row["certainty"])
            signals.setdefault(int(row["verdict"]), []).append(signal)
    return [
        VerdictRecord(
            **{name: value for name, value in row.items() if name in _FIELDS},
            document=msgspec.Raw(str(row["detail"]).encode()),
            signals=tuple(signals.get(place, ())),
        )
        for row, place in zip(rows, places, strict=True)
    ]


def _assessment(row: RowMapping, detail: str) -> AssessmentRecord:
    return AssessmentRecord(
        id=str(row["id"]),
        at=float(row["at"]),
        server=str(row["server"]),
        target=str(row["target"]),
        score=row["score"],
        status=str(row["status"]),
        counts=msgspec.json.decode(str(row["counts"]), type=dict[str, int]),
        version=str(row["version"]),
        document=msgspec.Raw(detail.encode()),
    )


class StoreProgress(msgspec.Struct, frozen=True):
    """The latest place (`seq`) of verdicts, events, assessments and changes of labels; 0 without any."""

    verdicts: int = 0
    events: int = 0
    assessments: int = 0
    labels: int = 0

    @property
    def mark(self) -> str:
        """The same as one word: two that differ mean that something was added between them."""
        return f"{self.verdicts}-{self.events}-{self.assessments}-{self.labels}"


def read_progress(connection: Connection) -> StoreProgress:
    """Return how far the store is: a greater place means that something was added."""
    query = select(
        *(
            select(func.coalesce(func.max(table.c.seq), 0)).scalar_subquery()
            for table in (VERDICTS, EVENTS, ASSESSMENTS, QUEUE_CHANGES)
        )
    )
    return StoreProgress(*(int(place) for place in connection.execute(query).one()))


def read_assessment_heads(
    connection: Connection, server: str | None = None, limit: int = 100
) -> Sequence[AssessmentRecord]:
    """Return the latest assessments of a server, or of all, the newest first, without their reports."""
    columns = [column for column in ASSESSMENTS.c if column.name != "detail"]
    query = select(*columns).order_by(ASSESSMENTS.c.at.desc(), ASSESSMENTS.c.seq.desc()).limit(limit)
    if server is not None:
        query = query.where(ASSESSMENTS.c.server == server)
    return [_assessment(row, "{}") for row in connection.execute(query).mappings()]
