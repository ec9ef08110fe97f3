"""The audit log of a store: logins, refusals, labels, imports, exports, deletions. Rows are never changed.

Beyond a hundred thousand, the oldest are deleted, so that they cannot fill the disk.
"""

import msgspec
from sqlalchemy import select

from toolvet.store.inserting import insert_entry
from toolvet.store.store import Store
from toolvet.store.tables.audit import AUDIT


class AuditEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One action. `at` is in seconds since the epoch, `seq` its place, which only grows.

    `action` is a word such as `login`, `login_failed`, `refused`, `label`, `undo`, `export` or `delete`, `target` what
    it was done to, `address` where the request came from; empty for the command line.
    """

    seq: int
    at: float
    who: str
    action: str
    target: str
    address: str


def write_entry(
    store: Store, who: str, action: str, target: str = "", *, address: str = "", at: float | None = None
) -> None:
    """Add an entry; it is in the database when this returns. Raises StoreError, and then the action should not be done.

    Args:
        store: Where the action is done.
        who: The name of the person or program.
        action: The action, as a word.
        target: The object of the action.
        address: Where the request came from.
        at: When, in seconds since the epoch; None is now.
    """
    with store.connect() as connection:
        insert_entry(connection, who, action, target, address=address, at=at)


def read_entries(
    store: Store, *, who: str | None = None, action: str | None = None, before: int | None = None, limit: int = 100
) -> list[AuditEntry]:
    """Return the latest entries, the newest first: of a person, of an action, before a place."""
    query = select(AUDIT).order_by(AUDIT.c.seq.desc()).limit(limit)
    if who is not None:
        query = query.where(AUDIT.c.who == who)
    if action is not None:
        query = query.where(AUDIT.c.action == action)
    if before is not None:
        query = query.where(AUDIT.c.seq < before)
    with store.reading() as connection:
        return [AuditEntry(**row) for row in connection.execute(query).mappings()]
