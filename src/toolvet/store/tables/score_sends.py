"""The table of what was sent to other platforms: `score_sends`."""

from typing import Final

from sqlalchemy import Column, ForeignKey, Index, PrimaryKeyConstraint, Table, Text

from toolvet.store.tables import METADATA
from toolvet.store.tables.verdicts import SEQUENCE

SCORE_SENDS: Final = Table(
    "score_sends",
    METADATA,
    Column("destination", Text, nullable=False),
    Column("verdict", SEQUENCE, ForeignKey("verdicts.seq", ondelete="CASCADE"), nullable=False),
    PrimaryKeyConstraint("destination", "verdict"),
)
"""One row for each verdict that a destination has; `destination` names the platform and the project there."""

# For the foreign key: a verdict that is pruned takes its rows with it.
Index("score_sends_by_verdict", SCORE_SENDS.c.verdict)
