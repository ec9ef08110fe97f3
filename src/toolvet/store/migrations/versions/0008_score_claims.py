"""Claims on sending verdicts to another platform, so that two processes do not send the same."""

# pyright: reportUnknownArgumentType=false
import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "score_claims",
        sa.Column("destination", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("until", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("destination", name="score_claims_pkey"),
    )
