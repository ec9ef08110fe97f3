"""The table of who did what: logins, labels, imports, deletions."""

from typing import Final

from sqlalchemy import Column, Double, Index, Table, Text

from toolvet.store.tables import METADATA
from toolvet.store.tables.verdicts import SEQUENCE

AUDIT: Final = Table(
    "audit",
    METADATA,
    Column("seq", SEQUENCE, primary_key=True, autoincrement=True),
    Column("at", Double, nullable=False),
    Column("who", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("address", Text, nullable=False),
    sqlite_autoincrement=True,
)
"""One row for each action. `target` is what it was done to, `address` where the request came from."""

Index("audit_by_who", AUDIT.c.who, AUDIT.c.seq)
