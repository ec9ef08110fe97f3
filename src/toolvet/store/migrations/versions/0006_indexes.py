"""Indexes for what pages ask of millions of verdicts."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"

_RARE = {
    "failed": {"sqlite": "failed IS 1", "postgresql": "failed IS true"},
    "escalated": {"sqlite": "escalate IS 1", "postgresql": "escalate IS true"},
    "blocked": {"sqlite": "blocked IS NOT NULL", "postgresql": "blocked IS NOT NULL"},
}


def upgrade() -> None:
    """Make the indexes."""
    op.create_index("verdicts_by_outcome", "verdicts", ["outcome", "seq"], unique=False)
    for name in ("model", "variant", "state"):
        _make(f"verdicts_by_{name}", [name, "seq"], dict.fromkeys(("sqlite", "postgresql"), f"{name} IS NOT NULL"))
    for name, holds in _RARE.items():
        _make(f"verdicts_{name}", ["seq"], holds)
    _make("verdicts_failed_by_tool", ["server", "tool", "seq"], _RARE["failed"])
    op.create_index("queue_items_by_priority", "queue_items", [sa.text("priority DESC"), "seq"], unique=False)


def _make(name: str, columns: list[str], holds: dict[str, str]) -> None:
    op.create_index(
        name,
        "verdicts",
        columns,
        unique=False,
        sqlite_where=sa.text(holds["sqlite"]),
        postgresql_where=sa.text(holds["postgresql"]),
    )
