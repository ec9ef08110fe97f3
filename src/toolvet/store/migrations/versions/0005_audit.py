"""The audit log: logins, labels, imports, deletions."""

# pyright: reportUnknownArgumentType=false

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"

_SEQUENCE = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Make the table."""
    op.create_table(
        "audit",
        sa.Column("seq", _SEQUENCE, autoincrement=True, nullable=False),
        sa.Column("at", sa.Double, nullable=False),
        sa.Column("who", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("audit_pkey")),
        sqlite_autoincrement=True,
    )
    op.create_index("audit_by_who", "audit", ["who", "seq"], unique=False)
