"""The tables of a store, found because their module is in this folder; `load_tables` returns them all.

A new table is a module here that uses `METADATA`, and a migration in `toolvet/store/migrations/versions`.
"""

import pkgutil
from importlib import import_module
from typing import Final

from sqlalchemy import MetaData

METADATA: Final = MetaData(
    naming_convention={
        "ix": "%(table_name)s_by_%(column_0_N_name)s",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "pk": "%(table_name)s_pkey",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
    }
)
"""All tables: `METADATA.create_all` makes a fresh database."""


def load_tables() -> MetaData:
    """Return `METADATA` with the tables of all modules in this folder."""
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        import_module(module.name)
    return METADATA
