"""Items of the review queue that are assigned to a person, and final labels where reviewers differ."""

# pyright: reportUnknownArgumentType=false
import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the column, its index, and the table."""
    op.add_column("queue_places", sa.Column("assigned", sa.Text(), nullable=True))
    # Without the places that are not assigned: else the search for a free place would use it.
    is_kept = sa.text("assigned IS NOT NULL")
    op.create_index(
        "queue_places_by_assigned", "queue_places", ["assigned"], sqlite_where=is_kept, postgresql_where=is_kept
    )
    op.create_table(
        "queue_finals",
        sa.Column("item", _SEQUENCE, nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["item"], ["queue_items.seq"], name=op.f("queue_finals_item_fkey"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("item", name=op.f("queue_finals_pkey")),
    )
