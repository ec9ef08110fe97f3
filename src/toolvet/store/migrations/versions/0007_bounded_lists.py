"""What lists need to look at few verdicts of millions: blocks, indexes of what is bad, words with their block."""

# pyright: reportUnknownArgumentType=false
# Types of SQLAlchemy are generic without saying of what.
import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"

_WORDS = (
    "CREATE INDEX verdicts_by_words ON verdicts USING gin ((to_tsvector('simple', coalesce(tool, '') || ' ' ||"
    " coalesce(reason, '') || ' ' || coalesce(text, '')) || array_to_tsvector(ARRAY['#' || (seq / 8192)::text])))"
    " WHERE reason IS NOT NULL OR text IS NOT NULL"
)


def upgrade() -> None:
    """Make the table and the indexes."""
    op.create_table(
        "verdict_blocks",
        sa.Column("block", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False, autoincrement=False),
        sa.Column("first", sa.Double(), nullable=False),
        sa.Column("last", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("block", name="verdict_blocks_pkey"),
    )
    op.execute(
        "INSERT INTO verdict_blocks (block, first, last)"
        " SELECT seq / 8192, min(at), max(at) FROM verdicts GROUP BY seq / 8192"
    )
    for name, columns, holds in (
        ("verdicts_low_scores", ["score", "seq"], "score < 1"),
        ("verdicts_slow", ["duration", "seq"], "duration >= 1"),
        ("verdicts_with_words", ["seq"], "reason IS NOT NULL OR text IS NOT NULL"),
    ):
        op.create_index(
            name, "verdicts", columns, unique=False, sqlite_where=sa.text(holds), postgresql_where=sa.text(holds)
        )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP INDEX verdicts_by_words")
        op.execute(_WORDS)
