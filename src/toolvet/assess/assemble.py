"""Builds the report from a run: findings from the rules, tools from their scenarios, and the totals."""

import time
from collections.abc import Iterator
from typing import Final

import msgspec

from toolvet.assess.assemble_items import build_items, find_in_items
from toolvet.assess.exchange import shown_text
from toolvet.assess.overrides import override
from toolvet.assess.report.baseline import count
from toolvet.assess.report.document import (
    Report,
    ReportedProbe,
    ReportedToolValidation,
    ReportedTransport,
    Scenario,
    Server,
    Summary,
    Tool,
)
from toolvet.assess.reproduce import reproduce_server
from toolvet.assess.rules import merge
from toolvet.assess.rules.cause import share
from toolvet.assess.rules.exercise import exercise_of
from toolvet.assess.rules.message import tool_message_score
from toolvet.assess.run import Run
from toolvet.assess.status import score, server_status, tool_status
from toolvet.assess.tool_run import ToolRun
from toolvet.core.checks import overall_confidence
from toolvet.core.redact import redact_text
from toolvet.findings import Finding
from toolvet.mcp.transport import HttpTarget
from toolvet.version import __version__

_ANSWERED: Final = frozenset({"result", "protocol_error"})
_LONGEST_STDERR: Final = 20_000  # Characters, from the end.


def build_report(run: Run, incomplete: str | None) -> Report:
    """The report of a run; `incomplete` says why it was stopped, and is None when it was not."""
    options = run.options
    counted, suppressed = override(merge(_find(run)), ignore=options.ignore, severity=options.severity)
    findings = sorted(
        share(counted),
        key=lambda finding: (-finding.severity.rank, finding.id, finding.subject or "", finding.tools),
    )
    tools = [_build_tool(tool) for tool in run.tools if not run.is_filtered(tool)]
    wall = time.perf_counter() - run.began
    waited = run.line.waited + (run.http.seconds if run.http else 0.0)
    scenarios = [scenario for tool in tools for scenario in tool.scenarios if is_counted(scenario)]
    session = run.session
    return Report(
        server=Server(
            name=(shown_text(session.server_name) if session else "") or "(unnamed)",
            version=shown_text(session.server_version) if session else "",
            protocol_version=shown_text(session.protocol_version) if session else "",
            transport="http" if isinstance(run.target, HttpTarget) else "stdio",
            command=run.target.describe(),
            tool_validation=_build_tool_validation(run),
        ),
        score=score(tools, findings),
        status=server_status(tools),
        tools=tools,
        findings=findings,
        suppressed=suppressed,
        summary=Summary(
            tools=len(tools),
            tested=sum(tool.status != "untested" for tool in tools),
            not_exercised=sum(tool.status == "not_exercised" for tool in tools),
            skipped=sum(tool.skipped is not None for tool in tools),
            scenarios=len(scenarios),
            passed=sum(scenario.passed for scenario in scenarios),
            findings=count(findings),
            calls=run.line.calls,
            overhead_share=round(max(0.0, 1 - waited / wall), 4) if wall else None,
        ),
        transport=_build_transport(run),
        items=build_items(run.items),
        filtered=[tool.definition.name for tool in run.tools if run.is_filtered(tool)],
        incomplete=incomplete or run.gave_up,
        stderr=redact_text(run.line.stderr)[-_LONGEST_STDERR:],
        toolvet_version=__version__,
        started_at=run.started_at.isoformat(timespec="seconds"),
        duration_ms=round(wall * 1000, 1),
        seed=run.options.seed,
    )


def _build_tool_validation(run: Run) -> ReportedToolValidation | None:
    seen = run.seen.validation
    if seen is None or not seen.announced:
        return None
    return ReportedToolValidation(method=seen.method, asked=seen.asked, answered=seen.asked - len(seen.failures))


def _build_transport(run: Run) -> ReportedTransport | None:
    seen = run.seen.http
    if seen is None or run.http is None:
        return None
    probes = [
        ReportedProbe(
            id=exchange.probe,
            sent=exchange.sent,
            wanted=exchange.wanted,
            outcome=exchange.outcome,
            status=exchange.status,
            as_wanted=exchange.as_wanted,
        )
        for exchange in seen.exchanges
    ]
    return ReportedTransport(
        probes=probes,
        requests=run.http.requests,
        not_probed=seen.not_probed or None,
        duration_ms=round(run.http.seconds * 1000, 1),
    )


def is_counted(scenario: Scenario) -> bool:
    """Whether a scenario was sent, and not shown before under another name."""
    return scenario.outcome != "not_run" and scenario.same_as is None


def _find(run: Run) -> Iterator[Finding]:
    """The findings about definitions, single calls, all calls of a tool, and the server; each with its command."""
    for tool in run.tools:
        yield from run.judge.find_in_tool(tool)
    if run.items is not None:
        yield from find_in_items(run.items, reproduce_server(run.target))
    calls = tuple(call for tool in run.tools for call in tool.calls)
    masks = [mask for tool in run.tools for mask in tool.masks]
    yield from run.judge.find_in_server(msgspec.structs.replace(run.seen, calls=calls), masks)


def _build_tool(tool: ToolRun) -> Tool:
    """Status and confidence over the scenarios; a call without any answer counts as a broken one in the confidence.

    Scenarios that met an outage count in neither.
    """
    planned = [item.scenario for item in tool.scenarios]
    counted = [scenario for scenario in planned if not scenario.outage and scenario.same_as is None]
    exercise = exercise_of(tool.calls)
    sent = [scenario for scenario in counted if scenario.outcome != "not_run"]
    verdicts = [scenario.verdict for scenario in sent if scenario.verdict is not None]
    silent = sum(scenario.outcome not in _ANSWERED for scenario in sent)
    messages = tool_message_score(tool.calls)
    confidence = overall_confidence(verdicts) * len(verdicts) / (len(verdicts) + silent) if verdicts else 0.0
    return Tool(
        name=tool.definition.name or f"(entry {tool.definition.position} of tools/list)",
        status=tool_status(
            total=len(counted) if sent else 0,
            executed=sum(scenario.outcome in _ANSWERED for scenario in sent),
            passed=sum(scenario.passed for scenario in sent),
            exercise=exercise if tool.calls else None,
        ),
        confidence=round(confidence, 1),
        error_message_score=None if messages is None else round(messages, 1),
        skipped=None if tool.skipped is None else redact_text(tool.skipped),
        not_exercised=exercise.reason or None,
        valid_calls=exercise.tried,
        succeeded=exercise.succeeded,
        description=shown_text(tool.definition.description),
        scenarios=planned,
    )
