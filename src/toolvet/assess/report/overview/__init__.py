"""Many servers at a glance: who works best, what is wrong most often, and which could not be assessed.

`build_overview` makes the document (`toolvet-overview/1`) out of one report after the other, so that thousands of
servers never stand in memory together; `formats` shows it. Within version 1 fields are only added, never renamed or
removed.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta, structs

from toolvet.assess.report.document import Counts, Milliseconds, Percent, Report, Status, publish
from toolvet.assess.report.gate import why_failed
from toolvet.assess.report.wording import subject
from toolvet.core.visible import shorten
from toolvet.findings import Card, Finding, Severity

OVERVIEW_ID: Final = "toolvet-overview/1"
_EXAMPLES: Final = 3
_EVIDENCE: Final = 200
OVERVIEW_FILE: Final = "toolvet-overview-1.schema.json"


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
    is_graded: Annotated[bool, Meta(description="Whether the score rests on at least a third of the tools.")] = True
    findings: Counts = Counts()
    calls: int = 0
    incomplete: str | None = None
    failures: list[str] = []
    duration_ms: Milliseconds = 0.0
    peak_mib: Annotated[
        int, Meta(description="The most memory that the server and what assessed it took, in MiB; 0 is not known.")
    ] = 0


class FoundAt(msgspec.Struct, frozen=True, kw_only=True):
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
    examples: list[FoundAt] = []


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


@dataclass(frozen=True, kw_only=True)
class AssessedServer:
    """The outcome of one server: its report, or without one `reason` and `problem`.

    `file` is the name of its report in the results folder, without the suffix.
    """

    name: str
    file: str
    report: Report | None = None
    reason: str = ""
    problem: str = ""
    peak_mib: int = 0


def build_overview(servers: Iterable[AssessedServer], cards: Mapping[str, Card], version: str) -> ServersOverview:
    """The overview of these servers.

    Args:
        servers: The outcome of each; a report is let go before the next is asked for.
        cards: The cards of the checks by id, for their titles.
        version: The version of toolvet.

    Example:
        build_overview([AssessedServer(name="shop", file="shop", report=report)], cards(), "0.1.0").median_score
    """
    ranked: list[RankedServer] = []
    unassessed: list[UnassessedServer] = []
    tallies: dict[tuple[str, Severity], _CheckTally] = {}
    for server in servers:
        if server.report is None:
            unassessed.append(UnassessedServer(name=server.name, reason=server.reason, problem=server.problem))
            continue
        report = server.report
        row = RankedServer(
            rank=None,
            name=server.name,
            file=server.file,
            version=report.server.version,
            command=report.server.command,
            score=report.score,
            status=report.status,
            tools=report.summary.tools,
            tested=report.summary.tested,
            is_graded=report.is_graded,
            findings=report.summary.findings,
            calls=report.summary.calls,
            incomplete=report.incomplete,
            failures=list(why_failed(report)),
            duration_ms=report.duration_ms,
            peak_mib=server.peak_mib,
        )
        ranked.append(row)
        for finding in report.findings:
            tallies.setdefault((finding.id, finding.severity), _CheckTally()).add(finding, server)
    scores = [row.score for row in ranked if row.score is not None]
    return ServersOverview(
        servers=len(ranked) + len(unassessed),
        assessed=len(ranked),
        ranking=_in_order(ranked),
        checks=_common(tallies, cards, len(ranked)),
        not_assessed=unassessed,
        median_score=round(median(scores), 1) if scores else None,
        histogram=[sum(min(int(score // 10), 9) == place for score in scores) for place in range(10)],
        tools=sum(row.tools for row in ranked),
        tested=sum(row.tested for row in ranked),
        calls=sum(row.calls for row in ranked),
        findings=Counts(
            error=sum(row.findings.error for row in ranked),
            warning=sum(row.findings.warning for row in ranked),
            info=sum(row.findings.info for row in ranked),
        ),
        toolvet_version=version,
    )


@dataclass(slots=True)
class _CheckTally:
    """The findings of one check at one severity."""

    servers: dict[str, None] = field(default_factory=dict[str, None])
    findings: int = 0
    examples: list[FoundAt] = field(default_factory=list[FoundAt])

    def add(self, finding: Finding, server: AssessedServer) -> None:
        self.findings += 1
        if server.name in self.servers:
            return
        self.servers[server.name] = None
        if len(self.examples) < _EXAMPLES:
            self.examples.append(
                FoundAt(
                    server=server.name,
                    file=server.file,
                    subject=subject(finding),
                    message=finding.message,
                    evidence=shorten(finding.evidence, _EVIDENCE),
                )
            )


def _in_order(rows: Iterable[RankedServer]) -> list[RankedServer]:
    def worth(row: RankedServer) -> tuple[bool, float, int, int, str]:
        return (row.score is None, -(row.score or 0.0), row.findings.error, row.findings.warning, row.name)

    ordered = sorted(rows, key=worth)
    first_of: dict[float, int] = {}
    for position, row in enumerate(ordered, 1):
        if row.score is not None:
            first_of.setdefault(row.score, position)
    return [structs.replace(row, rank=None if row.score is None else first_of[row.score]) for row in ordered]


def _common(
    tallies: Mapping[tuple[str, Severity], _CheckTally], cards: Mapping[str, Card], assessed: int
) -> list[CommonCheck]:
    def weight(item: tuple[tuple[str, Severity], _CheckTally]) -> tuple[int, int, int, str]:
        (name, severity), tally = item
        return (-len(tally.servers), -severity.rank, -tally.findings, name)

    return [
        CommonCheck(
            id=name,
            title=cards[name].title if name in cards else name,
            severity=severity,
            servers=len(tally.servers),
            findings=tally.findings,
            share=round(len(tally.servers) / assessed, 4),
            examples=tally.examples,
        )
        for (name, severity), tally in sorted(tallies.items(), key=weight)
    ]


def overview_schema() -> dict[str, object]:
    """JSON Schema 2020-12 of `overview.json`. Unknown fields are allowed: within version 1 fields are added."""
    (root,), definitions = msgspec.json.schema_components([ServersOverview], ref_template="#/$defs/{name}")
    head: dict[str, object] = {
        "$id": "urn:toolvet:overview:1",
        "title": "toolvet overview, version 1",
        "description": "What `toolvet assess --into FOLDER` writes as `overview.json`: many servers at a glance.",
        **root,
    }
    return publish(head, definitions, named={ServersOverview.__name__})
