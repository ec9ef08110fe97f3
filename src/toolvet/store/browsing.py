"""What the dashboard reads beside verdicts: how far the store is, and assessments without reports.

Every function takes a connection (`Store.reading`).
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

import msgspec
from sqlalchemy import Connection, func, select

from toolvet.store.records import AssessmentRecord, clean_text
from toolvet.store.tables.queue import QUEUE_CHANGES
from toolvet.store.tables.verdicts import ASSESSMENTS, EVENTS, VERDICTS


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


def read_assessment(connection: Connection, id_: str) -> AssessmentRecord | None:
    """Return the assessment with this id, None where there is none."""
    row = connection.execute(select(ASSESSMENTS).where(ASSESSMENTS.c.id == clean_text(id_))).mappings().first()
    return None if row is None else _assessment(cast("Mapping[str, Any]", row), detail=str(row["detail"]))


def read_assessment_heads(
    connection: Connection, server: str | None = None, limit: int = 100
) -> Sequence[AssessmentRecord]:
    """Return the latest assessments of a server, or of all, the newest first, without their reports."""
    columns = [column for column in ASSESSMENTS.c if column.name != "detail"]
    query = select(*columns).order_by(ASSESSMENTS.c.at.desc(), ASSESSMENTS.c.seq.desc()).limit(limit)
    if server is not None:
        query = query.where(ASSESSMENTS.c.server == server)
    return [_assessment(cast("Mapping[str, Any]", row)) for row in connection.execute(query).mappings()]


def _assessment(row: Mapping[str, Any], detail: str = "{}") -> AssessmentRecord:
    return AssessmentRecord(
        **{name: row[name] for name in ("id", "at", "server", "target", "score", "status", "version")},
        counts=msgspec.json.decode(str(row["counts"]), type=dict[str, int]),
        document=msgspec.Raw(detail.encode()),
    )
