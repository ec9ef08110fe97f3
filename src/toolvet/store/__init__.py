"""Data on disk: content that responses left out (`SQLiteArchive`), records of calls (`verdicts`), turns (`turns`)."""

from typing import TYPE_CHECKING

from toolvet.discover.names import named

if TYPE_CHECKING:
    from toolvet.store.archive import SQLiteArchive
    from toolvet.store.turns import record_answer

__all__ = ["SQLiteArchive", "record_answer"]

if not TYPE_CHECKING:  # A type checker knows the names above, and should report others.
    # The proxy keeps its record without the checks of answers, and an archive needs neither (start-up time).
    __getattr__ = named(__name__, {"archive": "SQLiteArchive", "turns": "record_answer"})
