"""The table of blocks: from when to when the verdicts of each are, so that a search in time skips all others."""

from typing import Final

from sqlalchemy import Column, Double, Table

from toolvet.store.tables import METADATA
from toolvet.store.tables.verdicts import SEQUENCE

BLOCK: Final = 8_192
"""The number of places (`seq`) in a block. It is part of the database: the index of words has it, too."""

VERDICT_BLOCKS: Final = Table(
    "verdict_blocks",
    METADATA,
    Column("block", SEQUENCE, primary_key=True, autoincrement=False),
    Column("first", Double, nullable=False),
    Column("last", Double, nullable=False),
)
"""`first` and `last` are the times of a block's verdicts, as seconds since the epoch; verdicts may be gone since."""
