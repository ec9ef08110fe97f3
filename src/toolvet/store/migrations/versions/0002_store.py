"""The store: verdicts with their signals, events, assessments and sums, in place of the record of calls."""

# pyright: reportUnknownArgumentType=false
# Constraints and types of SQLAlchemy are generic without saying of what.
import sqlalchemy as sa
from alembic import op
from sqlalchemy.types import TypeEngine

revision = "0002"
down_revision = "0001"

_SEQUENCE: TypeEngine[int] = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_OLD = ("calls", "events", "answers")
_OLD_INDEXES = ("calls_by_time", "calls_by_tool", "calls_by_trace", "events_by_time", "answers_by_trace")
_WORDS = {
    "sqlite": "CREATE VIRTUAL TABLE verdict_words USING fts5("
    "tool, reason, text, content='verdicts', content_rowid='seq', tokenize='unicode61 remove_diacritics 2')",
    "postgresql": "CREATE INDEX verdicts_by_words ON verdicts USING gin (to_tsvector('simple', "
    "coalesce(tool, '') || ' ' || coalesce(reason, '') || ' ' || coalesce(text, ''))) "
    "WHERE reason IS NOT NULL OR text IS NOT NULL",
}


def upgrade() -> None:
    """Make the tables; the old ones stay as `old_…` until `upgrade.py` has copied their rows."""
    connection = op.get_bind()
    present = set(sa.inspect(connection).get_table_names())
    for index in _OLD_INDEXES:
        op.execute(f"DROP INDEX IF EXISTS {index}")
    for table in _OLD:
        if table in present:
            op.rename_table(table, f"old_{table}")
    op.create_table(
        "assessments",
        sa.Column("seq", _SEQUENCE, autoincrement=True, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("server", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("counts", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="assessments_pkey"),
        sa.UniqueConstraint("id", name="assessments_id_key"),
    )
    op.create_index("assessments_by_server", "assessments", ["server", "at"], unique=False)
    op.create_table(
        "events",
        sa.Column("seq", _SEQUENCE, autoincrement=True, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("server", sa.Text(), nullable=False),
        sa.Column("connection", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=True),
        sa.Column("message", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="events_pkey"),
        sa.UniqueConstraint("id", name="events_id_key"),
    )
    op.create_index("events_by_time", "events", ["at"], unique=False)
    _make_sums()
    _make_verdicts()
    op.execute(_WORDS[connection.dialect.name])


def _make_sums() -> None:
    op.create_table(
        "rollup_signals",
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("bucket", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("server", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("variant", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("signals", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint(
            "width", "bucket", "kind", "server", "tool", "model", "variant", "type", name="rollup_signals_pkey"
        ),
    )
    op.create_table(
        "rollups",
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("bucket", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("server", sa.Text(), nullable=False),
        sa.Column("tool", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("variant", sa.Text(), nullable=False),
        sa.Column("verdicts", sa.BigInteger(), nullable=False),
        sa.Column("failed", sa.BigInteger(), nullable=False),
        sa.Column("escalated", sa.BigInteger(), nullable=False),
        sa.Column("blocked", sa.BigInteger(), nullable=False),
        sa.Column("score_sum", sa.Double(), nullable=False),
        sa.Column("score_count", sa.BigInteger(), nullable=False),
        sa.Column("duration_sum", sa.Double(), nullable=False),
        sa.Column("duration_count", sa.BigInteger(), nullable=False),
        *(sa.Column(f"took_{number}", sa.BigInteger(), nullable=False) for number in range(14)),
        sa.Column("duration_max", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("width", "bucket", "kind", "server", "tool", "model", "variant", name="rollups_pkey"),
    )


def _make_verdicts() -> None:
    op.create_table(
        "verdicts",
        sa.Column("seq", _SEQUENCE, autoincrement=True, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("trace", sa.Text(), nullable=True),
        sa.Column("conversation", sa.Text(), nullable=True),
        sa.Column("server", sa.Text(), nullable=False),
        sa.Column("connection", sa.Text(), nullable=False),
        sa.Column("request_id", sa.Text(), nullable=True),
        sa.Column("tool", sa.Text(), nullable=True),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("variant", sa.Text(), nullable=True),
        sa.Column("era", sa.Text(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=False),
        sa.Column("failed", sa.Boolean(), nullable=False),
        sa.Column("classification", sa.Text(), nullable=True),
        sa.Column("state", sa.Text(), nullable=True),
        sa.Column("blocked", sa.Text(), nullable=True),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("escalate", sa.Boolean(), nullable=False),
        sa.Column("confidence", sa.Double(), nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.Column("duration", sa.Double(), nullable=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("text", sa.Text(), nullable=True),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="verdicts_pkey"),
        sa.UniqueConstraint("id", name="verdicts_id_key"),
        sqlite_autoincrement=True,
    )
    op.create_index(
        "verdicts_by_conversation",
        "verdicts",
        ["conversation"],
        unique=False,
        sqlite_where=sa.text("conversation IS NOT NULL"),
        postgresql_where=sa.text("conversation IS NOT NULL"),
    )
    op.create_index("verdicts_by_kind", "verdicts", ["kind", "seq"], unique=False)
    op.create_index("verdicts_by_time", "verdicts", ["at"], unique=False)
    op.create_index("verdicts_by_tool", "verdicts", ["server", "tool", "seq"], unique=False)
    op.create_index(
        "verdicts_by_trace",
        "verdicts",
        ["trace"],
        unique=False,
        sqlite_where=sa.text("trace IS NOT NULL"),
        postgresql_where=sa.text("trace IS NOT NULL"),
    )
    op.create_table(
        "signals",
        sa.Column("verdict", _SEQUENCE, nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("level", sa.Text(), nullable=False),
        sa.Column("certainty", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["verdict"], ["verdicts.seq"], name="signals_verdict_fkey", ondelete="CASCADE"),
    )
    op.create_index("signals_by_type", "signals", ["type", "verdict"], unique=False)
    op.create_index("signals_by_verdict", "signals", ["verdict"], unique=False)
