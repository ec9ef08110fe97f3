"""The scores sent to other platforms, and the states of alerts."""

# pyright: reportUnknownArgumentType=false

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

_SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make both tables."""
    op.create_table(
        "score_sends",
        sa.Column("destination", sa.Text(), nullable=False),
        sa.Column("verdict", _SEQUENCE, nullable=False),
        sa.ForeignKeyConstraint(
            ["verdict"], ["verdicts.seq"], name=op.f("score_sends_verdict_fkey"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("destination", "verdict", name=op.f("score_sends_pkey")),
    )
    op.create_index("score_sends_by_verdict", "score_sends", ["verdict"], unique=False)
    op.create_table(
        "alert_states",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("firing", sa.Boolean(), nullable=False),
        sa.Column("since", sa.Double(), nullable=True),
        sa.Column("beyond_since", sa.Double(), nullable=True),
        sa.Column("value", sa.Double(), nullable=True),
        sa.Column("checked", sa.Double(), nullable=True),
        sa.Column("delivered", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("alert_states_pkey")),
    )
