"""Adds an entry to the audit log in the transaction of the deed."""

import time
from typing import Final

from sqlalchemy import Connection, delete

from toolvet.store.records import clean_text
from toolvet.store.tables.audit import AUDIT

MOST_ENTRIES: Final = 100_000
# The oldest go a thousand at a time: counting them for every row would cost more than the row.
_SLACK: Final = 1_000
_LONGEST: Final = 500


def insert_entry(
    connection: Connection, who: str, action: str, target: str = "", *, address: str = "", at: float | None = None
) -> None:
    """Add an entry in the transaction of the deed: there is neither without the other."""
    texts = {"who": who, "action": action, "target": target, "address": address}
    row = {name: clean_text(value)[:_LONGEST] for name, value in texts.items()}
    added = AUDIT.insert().returning(AUDIT.c.seq)
    seq = connection.execute(added, {"at": time.time() if at is None else at, **row}).scalar_one()
    if seq % _SLACK == 0:
        connection.execute(delete(AUDIT).where(AUDIT.c.seq <= seq - MOST_ENTRIES))
