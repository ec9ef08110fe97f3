"""What a failure of the store means for the person before a page: what happened, and what to do now.

StoreError("/var/shop.db: database is locked") → StoreOutage("Another program holds the database.", …)
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from toolvet.errors import StoreError

_WAITS: Final = (
    "This page looks again every five seconds. What programs hand in meanwhile is not lost: it waits beside the store."
)
_RESTORE: Final = (
    "Run toolvet store check: it says what is wrong. Put a copy in its place, or move the damaged file away; the next"
    " start begins a new one, and takes in what waits beside it."
)


@dataclass(frozen=True)
class StoreOutage:
    """Why the store cannot be read: `what` happened, what to do `now`, and the database's own words as `reason`."""

    what: str
    now: str
    reason: str


# Words of SQLite, PostgreSQL and the system. The first row that has one of them counts.
_KINDS: Final[Sequence[tuple[tuple[str, ...], str, str]]] = (
    (
        ("malformed", "not a database", "is damaged", "disk image", "corrupt", "could not decode to utf-8"),
        "The database is damaged.",
        _RESTORE,
    ),
    (
        ("locked", "busy"),
        "Another program holds the database.",
        f"{_WAITS} If it stays like this, end the program that holds the file.",
    ),
    (
        ("disk is full", "no space left", "quota"),
        "The disk of the store is full.",
        "Make room. toolvet store prune removes what is old.",
    ),
    (
        ("unable to open", "permission denied", "readonly", "read-only", "disk i/o"),
        "The file of the store cannot be opened.",
        f"See that it is there, and that this server may read and write it. {_WAITS}",
    ),
    (
        ("later release", "another program", "not toolvet's"),
        "This database is not one that this release of toolvet reads.",
        "Upgrade toolvet, or give it a database of its own with --store.",
    ),
    (
        ("connect", "server closed", "terminating", "shutting down", "starting up", "recovery", "host name", "timeout"),
        "The database server does not answer.",
        f"See that it runs and can be reached. {_WAITS}",
    ),
)


def outage_of(error: StoreError) -> StoreOutage:
    """Return what an error of the store means.

    >>> outage_of(StoreError("/var/shop.db: database is locked")).what
    'Another program holds the database.'
    """
    reason = f"{error}"
    words = reason.lower()
    for signs, what, now in _KINDS:
        if any(sign in words for sign in signs):
            return StoreOutage(what, now, reason)
    return StoreOutage("The store cannot be reached.", _WAITS, reason)
