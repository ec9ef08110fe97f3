"""The table of who sends to another platform now: `score_claims`."""

from typing import Final

from sqlalchemy import Column, Double, Table, Text

from toolvet.store.tables import METADATA

SCORE_CLAIMS: Final = Table(
    "score_claims",
    METADATA,
    Column("destination", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("until", Double, nullable=False),
)
"""One row for each destination that a process sends to; a claim ends at `until`, in seconds since the epoch."""
