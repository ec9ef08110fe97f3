"""Migrations of a store with Alembic: `versions/NNNN_what.py`, where NNNN is the revision. `upgrade` runs them.

The revision of a database says which migrations its tables have been through.
"""

from pathlib import Path
from typing import Final

from sqlalchemy import Connection, text

VERSIONS: Final = Path(__file__).with_name("versions")


def newest_revision() -> str:
    """Return the revision that this release writes: the number of the last file in `migrations/versions`."""
    return max(path.name.partition("_")[0] for path in VERSIONS.glob("[0-9]*.py"))


def mark_revision(connection: Connection, revision: str) -> None:
    """Note in the database which revision its tables have, as Alembic does."""
    connection.execute(
        text(
            "CREATE TABLE IF NOT EXISTS alembic_version"
            " (version_num VARCHAR(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
        )
    )
    connection.execute(text("DELETE FROM alembic_version"))
    connection.execute(text("INSERT INTO alembic_version (version_num) VALUES (:revision)"), {"revision": revision})
