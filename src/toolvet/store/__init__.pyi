# What this package offers; `__init__.py` loads each name when it is first asked for.

from toolvet.store.archive import SQLiteArchive as SQLiteArchive
from toolvet.store.overview import (
    FigureFilter as FigureFilter,
    GroupFigures as GroupFigures,
    IssueCount as IssueCount,
    Overview as Overview,
    TrendPoint as TrendPoint,
    VerdictFigures as VerdictFigures,
)
from toolvet.store.records import (
    AssessmentRecord as AssessmentRecord,
    EventRecord as EventRecord,
    RecordedTurn as RecordedTurn,
    SignalRecord as SignalRecord,
    VerdictFilter as VerdictFilter,
    VerdictRecord as VerdictRecord,
)
from toolvet.store.store import Store as Store
