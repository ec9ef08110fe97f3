"""Many servers at a glance: who works best, what is wrong most often, and which could not be assessed.

`build_overview` makes the document (`toolvet-overview/1`) out of one report after the other, so that thousands of
servers never stand in memory together; `page` and `terminal` show it.
"""

from toolvet.assess.report.overview.document import (
    AssessedServer,
    CommonCheck,
    RankedServer,
    ServersOverview,
    UnassessedServer,
    build_overview,
)

__all__ = ["AssessedServer", "CommonCheck", "RankedServer", "ServersOverview", "UnassessedServer", "build_overview"]
