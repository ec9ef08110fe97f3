"""What a run saw → the report."""

import time

import msgspec

from toolvet.assess.reproduce import reproduce
from toolvet.assess.run import Run, ToolRun
from toolvet.assess.status import score, server_status, tool_status
from toolvet.checks.result import overall_confidence
from toolvet.findings import Finding
from toolvet.redact import redact_text
from toolvet.report.baseline import count
from toolvet.report.document import Report, ReportedToolValidation, Server, Summary, Tool
from toolvet.rules import judge_call, judge_calls, judge_server, merged
from toolvet.rules.message import tool_message_score
from toolvet.transport import HttpTarget
from toolvet.version import __version__

_ANSWERED = frozenset({"result", "protocol_error"})
_LONGEST_STDERR = 20_000


def assembled(run: Run, incomplete: str | None) -> Report:
    """The report of a run, finished or not."""
    findings = sorted(
        (finding for finding in merged(_findings(run))),
        key=lambda finding: (-finding.severity.rank, finding.id, finding.tool or ""),
    )
    shown = [tool for tool in run.tools if run.options.why_left_out(tool.definition.name) is None]
    tools = [_tool(tool) for tool in shown]
    wall = time.perf_counter() - run.began
    waited = run.line.waited
    called = [tool for tool in tools if tool.status != "untested"]
    scenarios = [scenario for tool in tools for scenario in tool.scenarios if scenario.outcome != "not_run"]
    session = run.session
    return Report(
        server=Server(
            name=(session.server_name if session else "") or "(unnamed)",
            version=session.server_version if session else "",
            protocol_version=session.protocol_version if session else "",
            transport="http" if isinstance(run.target, HttpTarget) else "stdio",
            command=run.target.describe(),
            tool_validation=_tool_validation(run),
        ),
        score=score(tools, findings),
        status=server_status(tools),
        tools=tools,
        findings=findings,
        summary=Summary(
            tools=len(tools),
            tested=len(called),
            skipped=sum(tool.skipped is not None for tool in tools),
            scenarios=len(scenarios),
            passed=sum(scenario.passed for scenario in scenarios),
            findings=count(findings),
            calls=run.line.calls,
            overhead_share=round(max(0.0, 1 - waited / wall), 4) if wall else None,
        ),
        filtered=[tool.definition.name for tool in run.tools if tool not in shown],
        incomplete=incomplete or run.gave_up,
        stderr=redact_text(run.line.stderr[-_LONGEST_STDERR:]),
        toolvet_version=__version__,
        started_at=run.started_at.isoformat(timespec="seconds"),
        duration_ms=round(wall * 1000, 1),
        seed=run.options.seed,
    )


def _tool_validation(run: Run) -> ReportedToolValidation | None:
    seen = run.seen.validation
    if seen is None or not seen.announced:
        return None
    return ReportedToolValidation(method=seen.method, asked=seen.asked, answered=seen.asked - len(seen.failures))


def _findings(run: Run) -> list[Finding]:
    """Definition, calls one by one, calls together, server: each with the command that shows it again."""
    found: list[Finding] = []
    for tool in run.tools:
        name = tool.definition.name
        found += [_reproducible(finding, reproduce(run.target, name or None)) for finding in tool.findings]
        for call, scenario in zip(tool.calls, _sent(tool), strict=True):
            found += [_reproducible(finding, scenario) for finding in judge_call(call)]
        whole = reproduce(run.target, name or None).replace(" --plan-only", "")
        found += [_reproducible(finding, whole) for finding in judge_calls(tool.definition, tool.calls)]
    return [*found, *(_reproducible(finding, reproduce(run.target)) for finding in judge_server(run.seen))]


def _sent(tool: ToolRun) -> list[str]:
    return [scenario.reproduce for scenario in tool.scenarios if scenario.outcome != "not_run"]


def _reproducible(finding: Finding, command: str) -> Finding:
    return msgspec.structs.replace(
        finding, reproduce=command, evidence=redact_text(finding.evidence), message=redact_text(finding.message)
    )


def _tool(tool: ToolRun) -> Tool:
    """Status and confidence over the scenarios; a call without any answer counts as a broken one in the confidence."""
    planned = list(tool.scenarios)
    sent = [scenario for scenario in planned if scenario.outcome != "not_run"]
    verdicts = [scenario.verdict for scenario in sent if scenario.verdict is not None]
    silent = sum(scenario.outcome not in _ANSWERED for scenario in sent)
    confidence = overall_confidence(verdicts) * len(verdicts) / (len(verdicts) + silent) if verdicts else 0.0
    return Tool(
        name=tool.definition.name or f"(entry {tool.definition.position} of tools/list)",
        status=tool_status(
            total=len(planned) if sent else 0,
            executed=sum(scenario.outcome in _ANSWERED for scenario in sent),
            passed=sum(scenario.passed for scenario in sent),
        ),
        confidence=round(confidence, 1),
        error_message_score=_rounded(tool_message_score(tool.calls)),
        skipped=tool.skipped,
        description=tool.definition.description,
        scenarios=planned,
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 1)
