"""The review queue: items, places, labels, skips, changes, and how far it was filled."""

# pyright: reportUnknownArgumentType=false

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "queue_items",
        sa.Column("seq", _SEQUENCE, autoincrement=True, nullable=False),
        sa.Column("verdict", _SEQUENCE, nullable=False),
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("rule", sa.Text(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["verdict"], ["verdicts.seq"], name=op.f("queue_items_verdict_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("seq", name=op.f("queue_items_pkey")),
        sa.UniqueConstraint("verdict", name=op.f("queue_items_verdict_key")),
        sa.UniqueConstraint("id", name=op.f("queue_items_id_key")),
    )
    op.create_table(
        "queue_places",
        sa.Column("item", _SEQUENCE, nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("rank", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("reviewer", sa.Text(), nullable=True),
        sa.Column("until", sa.Double, nullable=True),
        sa.ForeignKeyConstraint(["item"], ["queue_items.seq"], name=op.f("queue_places_item_fkey"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("item", "place", name=op.f("queue_places_pkey")),
        sa.UniqueConstraint("item", "reviewer", name=op.f("queue_places_item_reviewer_key")),
        sa.CheckConstraint("state IN ('free', 'leased', 'labelled')", name="queue_places_state"),
        sa.CheckConstraint("(state = 'free') = (reviewer IS NULL)", name="queue_places_reviewer"),
        sa.CheckConstraint("(state = 'leased') = (until IS NOT NULL)", name="queue_places_until"),
    )
    op.create_index(
        "queue_places_open",
        "queue_places",
        ["rank", "item", "place"],
        unique=False,
        sqlite_where=sa.text("state != 'labelled'"),
        postgresql_where=sa.text("state != 'labelled'"),
    )
    op.create_index("queue_places_by_reviewer", "queue_places", ["reviewer", "state"], unique=False)
    _make_labels()


def _make_labels() -> None:
    op.create_table(
        "queue_labels",
        sa.Column("item", _SEQUENCE, nullable=False),
        sa.Column("reviewer", sa.Text(), nullable=False),
        sa.Column("signal", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.ForeignKeyConstraint(
            ["item", "reviewer"],
            ["queue_places.item", "queue_places.reviewer"],
            name=op.f("queue_labels_item_reviewer_fkey"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("item", "reviewer", "signal", name=op.f("queue_labels_pkey")),
    )
    op.create_table(
        "queue_skips",
        sa.Column("item", _SEQUENCE, nullable=False),
        sa.Column("reviewer", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["item"], ["queue_items.seq"], name=op.f("queue_skips_item_fkey"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("item", "reviewer", name=op.f("queue_skips_pkey")),
    )
    op.create_table(
        "queue_changes",
        sa.Column("seq", _SEQUENCE, autoincrement=True, nullable=False),
        sa.Column("item", _SEQUENCE, nullable=False),
        sa.Column("reviewer", sa.Text(), nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("before", sa.Text(), nullable=False),
        sa.Column("after", sa.Text(), nullable=False),
        sa.Column("undoes", _SEQUENCE, nullable=True),
        sa.ForeignKeyConstraint(
            ["item"], ["queue_items.seq"], name=op.f("queue_changes_item_fkey"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["undoes"], ["queue_changes.seq"], name=op.f("queue_changes_undoes_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("seq", name=op.f("queue_changes_pkey")),
        sa.UniqueConstraint("undoes", name=op.f("queue_changes_undoes_key")),
    )
    op.create_index("queue_changes_by_item", "queue_changes", ["item", "seq"], unique=False)
    op.create_index("queue_changes_by_reviewer", "queue_changes", ["reviewer", "seq"], unique=False)
    op.create_table(
        "queue_marks",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("safe", _SEQUENCE, nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("queue_marks_pkey")),
    )
