"""Builds the report from a run: findings from the rules, tools from their scenarios, and the totals."""

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from toolvet.assess.assemble_items import build_items, find_in_items
from toolvet.assess.exchange import mask_of
from toolvet.assess.overrides import override
from toolvet.assess.reproduce import reproduce_definition, reproduce_server, reproduce_tool, reproduce_transport
from toolvet.assess.run import Run, ToolRun
from toolvet.assess.status import score, server_status, tool_status
from toolvet.checks.result import overall_confidence
from toolvet.findings import Finding
from toolvet.redact import SecretMask, redact_text
from toolvet.report.baseline import count
from toolvet.report.document import (
    Report,
    ReportedProbe,
    ReportedToolValidation,
    ReportedTransport,
    Scenario,
    Server,
    Summary,
    Tool,
)
from toolvet.rules import ObservedCall, judge_call, judge_calls, judge_server, merge
from toolvet.rules.cause import share
from toolvet.rules.ending import words_of
from toolvet.rules.exercise import exercise_of
from toolvet.rules.http import PLACE_OF_PROBES
from toolvet.rules.message import tool_message_score
from toolvet.transport import HttpTarget
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
            name=(redact_text(session.server_name) if session else "") or "(unnamed)",
            version=redact_text(session.server_version) if session else "",
            protocol_version=session.protocol_version if session else "",
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
    paths = _known_paths(run)
    for tool in run.tools:
        name = tool.definition.name
        if tool.findings:
            yield from _with_command(tool.findings, reproduce_definition(run.target, name))
        for item in tool.scenarios:
            if item.call is not None:
                call = msgspec.structs.replace(item.call, known_paths=paths)
                found = _masked(judge_call(call), mask_of(item.call))
                yield from _with_command(found, item.scenario.reproduce, item.scenario.id)
        if tool.scenarios:
            found = _masked(judge_calls(tool.definition, tool.calls), _mask_of(tool.calls))
            yield from _with_command(found, reproduce_tool(run.target, name))
    if run.items is not None:
        yield from find_in_items(run.items, paths, reproduce_server(run.target))
    calls = tuple(call for tool in run.tools for call in tool.calls)
    seen = msgspec.structs.replace(run.seen, calls=calls)
    for finding in _masked(judge_server(seen), _mask_of(calls)):
        command = reproduce_tool(run.target, finding.tool) if finding.tool else reproduce_server(run.target)
        if finding.pointer.startswith(PLACE_OF_PROBES):
            command = reproduce_transport(run.target)
        yield from _with_command([finding], command)


def _mask_of(calls: Iterable[ObservedCall]) -> SecretMask:
    return SecretMask.learned(*(call.arguments for call in calls), *(words_of(call) for call in calls))


def _masked(findings: Iterable[Finding], mask: SecretMask) -> Iterator[Finding]:
    """The findings without the secrets of the calls that they are about, also where they quote a bare word."""
    for finding in findings:
        message, evidence, cause = (mask.text(words) for words in (finding.message, finding.evidence, finding.cause))
        yield msgspec.structs.replace(finding, message=message, evidence=evidence, cause=cause) if mask else finding


def _known_paths(run: Run) -> tuple[str, ...]:
    """The absolute paths that the server has from the caller: the working folder, its arguments and variables."""
    if isinstance(run.target, HttpTarget):
        return ()
    given = (run.target.cwd or str(Path.cwd()), *run.target.args, *(run.target.env or {}).values())
    return tuple(path for path in given if Path(path).is_absolute() and path.strip("/"))


def _with_command(findings: Iterable[Finding], command: str, scenario: str | None = None) -> Iterator[Finding]:
    """The findings with the command that shows them again and the id of the scenario that they are about."""
    for finding in findings:
        yield msgspec.structs.replace(finding, reproduce=command, scenario=scenario)


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
        description=redact_text(tool.definition.description),
        scenarios=planned,
    )
