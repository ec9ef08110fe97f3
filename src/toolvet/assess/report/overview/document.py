"""The overview of many servers as a document: the format `toolvet-overview/1`, field by field.

Within version 1 fields are only added, never renamed or removed.
"""

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from toolvet.assess.report.document import Counts, Milliseconds, Percent, Status
from toolvet.findings import Severity

OVERVIEW_ID: Final = "toolvet-overview/1"


class RankedServer(msgspec.Struct, frozen=True, kw_only=True):
    """One assessed server. `rank` counts from 1, and servers with one score share it; null without a score.

    `file` is the name of its report and of its page in the results folder, without the suffix. `failures` says why it
    fails by the thresholds of the run.
    """

    rank: int | None
    name: str
    file: str
    version: str = ""
    command: Annotated[str, Meta(description="The command line or the URL, secrets masked.")] = ""
    score: Percent | None = None
    status: Status = "untested"
    tools: int = 0
    tested: int = 0
    findings: Counts = Counts()
    calls: int = 0
    incomplete: str | None = None
    failures: list[str] = []
    duration_ms: Milliseconds = 0.0
    peak_mib: Annotated[
        int, Meta(description="The most memory that the server and what assessed it took, in MiB; 0 is not known.")
    ] = 0


class SeenAt(msgspec.Struct, frozen=True, kw_only=True):
    """One occurrence of a finding: the server, its `file`, what it is about there, and the words that were seen."""

    server: str
    file: str
    subject: str = ""
    message: str = ""
    evidence: str = ""


class CommonCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A check that found something: at how many servers, how often, and the first examples, each of another server."""

    id: str
    title: str
    severity: Severity
    servers: int
    findings: int
    share: Annotated[float, Meta(description="The share of the assessed servers, 0 to 1.")]
    examples: list[SeenAt] = []


class UnassessedServer(msgspec.Struct, frozen=True, kw_only=True):
    """A server without a report. `reason` is a word for programs, `problem` a sentence for people."""

    name: str
    reason: str
    problem: str


class ServersOverview(msgspec.Struct, frozen=True, kw_only=True):
    """Many servers, assessed. `ranking` has the best first; `checks` those first that concern the most servers.

    `histogram` counts the servers by score: 0 to under 10, 10 to under 20, and so on, 90 to 100 in the last.
    """

    schema: Literal["toolvet-overview/1"] = OVERVIEW_ID
    servers: int
    assessed: int
    ranking: list[RankedServer]
    checks: list[CommonCheck]
    not_assessed: list[UnassessedServer]
    median_score: Percent | None = None
    histogram: list[int]
    tools: int = 0
    tested: int = 0
    calls: int = 0
    findings: Counts = Counts()
    toolvet_version: str = ""
