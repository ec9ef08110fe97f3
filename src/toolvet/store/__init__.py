"""Data on disk: what happened (`Store`), and content that responses left out (`SQLiteArchive`)."""

from typing import TYPE_CHECKING

from toolvet.core.discover.names import named

if TYPE_CHECKING:
    from toolvet.store.archive import SQLiteArchive
    from toolvet.store.filters import VerdictFilter
    from toolvet.store.overview import FigureFilter, GroupFigures, IssueCount, Overview, TrendPoint, VerdictFigures
    from toolvet.store.records import AssessmentRecord, EventRecord, SignalRecord, VerdictRecord
    from toolvet.store.store import Store
    from toolvet.store.turns import RecordedTurn

__all__ = [
    "AssessmentRecord",
    "EventRecord",
    "FigureFilter",
    "GroupFigures",
    "IssueCount",
    "Overview",
    "RecordedTurn",
    "SQLiteArchive",
    "SignalRecord",
    "Store",
    "TrendPoint",
    "VerdictFigures",
    "VerdictFilter",
    "VerdictRecord",
]

if not TYPE_CHECKING:  # A type checker knows the names above, and should report others.
    # The proxy writes without the checks of answers and without SQLAlchemy, an archive needs neither (start-up time).
    __getattr__ = named(
        __name__,
        {
            "archive": "SQLiteArchive",
            "filters": "VerdictFilter",
            "overview": "FigureFilter VerdictFigures GroupFigures IssueCount Overview TrendPoint",
            "records": "AssessmentRecord EventRecord SignalRecord VerdictRecord",
            "store": "Store",
            "turns": "RecordedTurn",
        },
    )
