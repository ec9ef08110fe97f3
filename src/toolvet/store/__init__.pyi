# The public names of this package; `__init__.py` loads each one when it is first used.

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
