"""Data on disk: content that responses left out (`SQLiteArchive`), and records of calls (`toolvet.store.verdicts`)."""

from toolvet.store.archive import SQLiteArchive

__all__ = ["SQLiteArchive"]
