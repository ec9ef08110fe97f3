"""The tables of what happened: `verdicts` with their `signals`, `events`, `assessments`."""

from typing import Any, Final

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Double,
    ForeignKey,
    Index,
    Integer,
    Table,
    Text,
    event,
    text,
)

from toolvet.store.tables import METADATA

# SQLite counts rows only in a column of type INTEGER.
SEQUENCE: Final = BigInteger().with_variant(Integer, "sqlite")

VERDICTS: Final = Table(
    "verdicts",
    METADATA,
    Column("seq", SEQUENCE, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("at", Double, nullable=False),
    Column("kind", Text, nullable=False),
    Column("trace", Text),
    Column("conversation", Text),
    Column("server", Text, nullable=False),
    Column("connection", Text, nullable=False),
    Column("request_id", Text),
    Column("tool", Text),
    Column("model", Text),
    Column("variant", Text),
    Column("era", Text),
    Column("outcome", Text, nullable=False),
    Column("failed", Boolean, nullable=False),
    Column("classification", Text),
    Column("state", Text),
    Column("blocked", Text),
    Column("score", Double),
    Column("escalate", Boolean, nullable=False),
    Column("confidence", Double),
    Column("reason", Text),
    Column("duration", Double),
    Column("size", BigInteger, nullable=False),
    Column("text", Text),
    Column("detail", Text, nullable=False),
    Column("version", Text, nullable=False),
    sqlite_autoincrement=True,
)
"""One row for each verdict. `detail` is JSON."""

Index("verdicts_by_time", VERDICTS.c.at)
Index("verdicts_by_tool", VERDICTS.c.server, VERDICTS.c.tool, VERDICTS.c.seq)
Index(
    "verdicts_by_trace",
    VERDICTS.c.trace,
    sqlite_where=VERDICTS.c.trace.is_not(None),
    postgresql_where=VERDICTS.c.trace.is_not(None),
)
Index(
    "verdicts_by_conversation",
    VERDICTS.c.conversation,
    sqlite_where=VERDICTS.c.conversation.is_not(None),
    postgresql_where=VERDICTS.c.conversation.is_not(None),
)
Index("verdicts_by_kind", VERDICTS.c.kind, VERDICTS.c.seq)
Index("verdicts_by_outcome", VERDICTS.c.outcome, VERDICTS.c.seq)
for _name in ("model", "variant", "state"):
    _given = VERDICTS.c[_name].is_not(None)
    Index(f"verdicts_by_{_name}", VERDICTS.c[_name], VERDICTS.c.seq, sqlite_where=_given, postgresql_where=_given)

# For searches of rows that may be rare: without these, the newest ten of nothing are looked for in all rows.
for _name, _holds in {
    "failed": VERDICTS.c.failed.is_(True),
    "escalated": VERDICTS.c.escalate.is_(True),
    "blocked": VERDICTS.c.blocked.is_not(None),
}.items():
    Index(f"verdicts_{_name}", VERDICTS.c.seq, sqlite_where=_holds, postgresql_where=_holds)
# For searches of bad verdicts. Indexes of all scores and durations cost a third of an insert, these nothing.
_BAD: Final[tuple[tuple[str, tuple[Column[Any], ...], ColumnElement[bool]], ...]] = (
    ("low_scores", (VERDICTS.c.score, VERDICTS.c.seq), VERDICTS.c.score < text("1")),
    ("slow", (VERDICTS.c.duration, VERDICTS.c.seq), VERDICTS.c.duration >= text("1")),
    ("with_words", (VERDICTS.c.seq,), VERDICTS.c.reason.is_not(None) | VERDICTS.c.text.is_not(None)),
)
for _name, _columns, _where in _BAD:
    Index(f"verdicts_{_name}", *_columns, sqlite_where=_where, postgresql_where=_where)
Index(
    "verdicts_failed_by_tool",
    VERDICTS.c.server,
    VERDICTS.c.tool,
    VERDICTS.c.seq,
    sqlite_where=VERDICTS.c.failed.is_(True),
    postgresql_where=VERDICTS.c.failed.is_(True),
)

SIGNALS: Final = Table(
    "signals",
    METADATA,
    Column("verdict", SEQUENCE, ForeignKey("verdicts.seq", ondelete="CASCADE"), nullable=False),
    Column("type", Text, nullable=False),
    Column("level", Text, nullable=False),
    Column("certainty", Double),
)
"""One row for each reason of a verdict, for filters and for the most common issues."""

Index("signals_by_verdict", SIGNALS.c.verdict)
Index("signals_by_type", SIGNALS.c.type, SIGNALS.c.verdict)

EVENTS: Final = Table(
    "events",
    METADATA,
    Column("seq", SEQUENCE, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("at", Double, nullable=False),
    Column("server", Text, nullable=False),
    Column("connection", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("tool", Text),
    Column("message", Text, nullable=False),
)
Index("events_by_time", EVENTS.c.at)

ASSESSMENTS: Final = Table(
    "assessments",
    METADATA,
    Column("seq", SEQUENCE, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("at", Double, nullable=False),
    Column("server", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("score", Double),
    Column("status", Text, nullable=False),
    Column("counts", Text, nullable=False),
    Column("version", Text, nullable=False),
    Column("detail", Text, nullable=False),
)
"""One row for each assessment. `detail` is the report, `counts` its findings by severity; both are JSON."""

Index("assessments_by_server", ASSESSMENTS.c.server, ASSESSMENTS.c.at)

# Full text. SQLite keeps only the index of the words: the texts are those of the rows.
FULL_TEXT: Final = {
    "sqlite": """CREATE VIRTUAL TABLE verdict_words USING fts5(
        tool, reason, text, content='verdicts', content_rowid='seq', tokenize='unicode61 remove_diacritics 2')""",
    # With the block as one more word (`tables/blocks.py`): this index knows no order, and is asked block by block.
    "postgresql": """CREATE INDEX verdicts_by_words ON verdicts USING gin ((to_tsvector('simple',
        coalesce(tool, '') || ' ' || coalesce(reason, '') || ' ' || coalesce(text, ''))
        || array_to_tsvector(ARRAY['#' || (seq / 8192)::text])))
        WHERE reason IS NOT NULL OR text IS NOT NULL""",
}
"""What makes words searchable, by the name of the database."""

for _dialect, _statement in FULL_TEXT.items():
    event.listen(
        VERDICTS,
        "after_create",
        DDL(_statement).execute_if(dialect=_dialect),  # type: ignore[no-untyped-call]
    )
