"""Builds the report from a run: findings from the rules, tools from their scenarios, their status, and the totals.

The author's hand acts before anything is counted: findings that are left out (`--ignore`), and checks of another
severity (`--severity`). So the score, the exit code and every format agree.
"""

import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

import msgspec

from toolvet.assess.exchange import shown_text
from toolvet.assess.items import ItemRun, ItemsRun
from toolvet.assess.judge import CostsOnly, ToolRun
from toolvet.assess.options import Options
from toolvet.assess.report.document import (
    Item,
    ItemRequest,
    Items,
    Report,
    ReportedDirectory,
    ReportedProbe,
    ReportedToolValidation,
    ReportedTransport,
    Scenario,
    Server,
    Status,
    Summary,
    Tool,
)
from toolvet.assess.report.gate import count
from toolvet.assess.reproduce import reproduce_server
from toolvet.assess.requests import numbered
from toolvet.assess.rules import in_order, judge_items, merge, share
from toolvet.assess.rules.catalog.failures import NEVER_SUCCEEDED
from toolvet.assess.rules.catalog.steering import STEERS_MODEL, find_orders_to_others
from toolvet.assess.rules.ending import Exercise, exercise_of
from toolvet.assess.rules.hints import hint_evidence
from toolvet.assess.rules.message import tool_message_score
from toolvet.assess.run import Run
from toolvet.assess.tokens import count_tokens
from toolvet.core.checks import overall_confidence
from toolvet.core.directories import directory
from toolvet.core.redact import redact_text
from toolvet.findings import Finding, ItemKind, Severity
from toolvet.mcp.transport import HttpTarget
from toolvet.version import __version__

_ANSWERED: Final = frozenset({"result", "protocol_error"})
_LONGEST_STDERR: Final = 20_000  # Characters, from the end.
_HALF: Final = 50.0  # Points of a tool of which nothing is known.
_MOST_OF_FEW: Final = 90.0  # Points of a server most of whose tools were not exercised.
_WORKING = frozenset({"fully_working", "partially_working"})


def build_report(run: Run, incomplete: str | None) -> Report:
    """The report of a run; `incomplete` says why it was stopped, and is None when it was not."""
    with CostsOnly(run):
        run.judge.excuse(run.tools, [entry.requests for entry in run.items.runs] if run.items is not None else ())
    found: list[Finding] = []
    for tool in run.tools:
        with CostsOnly(tool):
            found += run.judge.find_in_tool(tool)
    if run.items is not None:
        with CostsOnly(run):
            found += find_in_items(run.items, reproduce_server(run.target))
    calls = tuple(call for tool in run.tools for call in tool.calls)
    seen = msgspec.structs.replace(run.seen, calls=calls)
    masks = [mask for tool in run.tools for mask in tool.masks]
    with CostsOnly(run):
        found += run.judge.find_in_server(seen, masks)
    counted, suppressed = override(merge(found), ignore=run.options.ignore, severity=run.options.severity)
    tools = [_build_tool(tool) for tool in run.tools if not run.is_filtered(tool)]
    findings = in_order(share(counted), fails_always=always_failing(tools))
    wall = time.perf_counter() - run.began
    waited = run.connection.waited + (run.http.seconds if run.http else 0.0)
    scenarios = [scenario for tool in tools for scenario in tool.scenarios if is_counted(scenario)]
    session, validation = run.session, run.seen.validation
    directories = {name: directory(name) for name in run.options.profiles}
    hints = dict.fromkeys(hint for given in directories.values() for hint in given.hints)
    return Report(
        server=Server(
            name=(shown_text(session.server_name) if session else "") or "(unnamed)",
            version=shown_text(session.server_version) if session else "",
            protocol_version=shown_text(session.protocol_version) if session else "",
            transport="http" if isinstance(run.target, HttpTarget) else "stdio",
            command=run.target.describe(),
            tool_validation=ReportedToolValidation(
                method=validation.method,
                asked=validation.asked,
                answered=validation.asked - len(validation.failures),
            )
            if validation is not None and validation.announced
            else None,
        ),
        score=score(tools, findings),
        status=server_status(tools, findings),
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
            calls=run.connection.calls,
            list_tokens=sum(tool.tokens for tool in run.tools),
            overhead_share=round(max(0.0, 1 - waited / wall), 4) if wall else None,
        ),
        transport=_build_transport(run),
        items=build_items(run.items),
        directories=[
            ReportedDirectory(name=name, title=given.title, source=given.source, date=given.date, asks=[*given.asks])
            for name, given in directories.items()
        ],
        hints=[
            msgspec.structs.replace(each, tool=shown_text(each.tool))
            for each in hint_evidence(seen, hints)
            if run.options.why_left_out(each.tool) is None
        ],
        filtered=[tool.definition.name for tool in run.tools if run.is_filtered(tool)],
        incomplete=incomplete or run.gave_up or run.skipped,
        stderr=redact_text(run.connection.stderr)[-_LONGEST_STDERR:],
        toolvet_version=__version__,
        started_at=run.started_at.isoformat(timespec="seconds"),
        duration_ms=round(wall * 1000, 1),
        seed=run.options.seed,
    )


def beside(report: Report, names: Collection[str], options: Options) -> Report:
    """Return the report with the descriptions that order a model to call a tool of another server of the same run.

    Args:
        report: One of the reports; it is not changed. Of its definitions it has the descriptions.
        names: The names of the tools of all servers.
        options: Those of the run: what they ignore is ignored here, too.
    """
    others = frozenset(names).difference((tool.name for tool in report.tools), report.filtered)
    known = {finding.tool for finding in report.findings if finding.id == STEERS_MODEL.id}
    found = [
        finding
        for tool in report.tools
        if tool.name not in known
        for finding in find_orders_to_others(tool.name, tool.description, others)
    ]
    if not found:
        return report
    kept, suppressed = override(found, ignore=options.ignore, severity=options.severity)
    findings = in_order([*report.findings, *kept], fails_always=always_failing(report.tools))
    return msgspec.structs.replace(
        report,
        findings=findings,
        suppressed=[*report.suppressed, *suppressed],
        summary=msgspec.structs.replace(report.summary, findings=count(findings)),
        score=score(report.tools, findings),
        status=server_status(report.tools, findings),
    )


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


def _build_tool(tool: ToolRun) -> Tool:
    with CostsOnly(tool):
        return _build_checked(tool)
    return Tool(name=tool.definition.name, status="untested", confidence=0.0, skipped=tool.skipped)


def _build_checked(tool: ToolRun) -> Tool:
    """An outage counts in neither status nor confidence; a call without any answer is a broken one in confidence."""
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
        tokens=tool.tokens,
        description_tokens=count_tokens(tool.definition.description),
    )


def build_items(run: ItemsRun | None) -> Items:
    """Return the report's section about everything beside tools; an empty one for a run that ended before."""
    if run is None:
        return Items()
    published = _publish(run)
    built = [(entry.item.kind, _build_item(entry, published)) for entry in run.runs]

    def of(kind: ItemKind) -> list[Item]:
        return [item for found, item in built if found == kind]

    return Items(
        announced=list(run.announced),
        left_out=run.left_out,
        resources=of("resource"),
        resource_templates=of("resource_template"),
        prompts=of("prompt"),
        skills=of("skill"),
        others=[published[id(entry)] for entry in run.others],
    )


def find_in_items(run: ItemsRun, command: str) -> Iterator[Finding]:
    """The findings about the lists, the items and the requests; `command` shows them again."""
    published = _publish(run)
    for entry in run.runs:
        yield from _with(entry.findings, command)
    for assessed in [request for entry in run.runs for request in entry.requests] + run.others:
        yield from _with(assessed.findings, command, published[id(assessed)].id)
    yield from _with(judge_items(run.seen), command)


def _publish(run: ItemsRun) -> dict[int, ItemRequest]:
    requests = [request for entry in run.runs for request in entry.requests] + run.others
    return {id(assessed): numbered(assessed, number) for number, assessed in enumerate(requests, start=1)}


def _build_item(entry: ItemRun, published: dict[int, ItemRequest]) -> Item:
    item = entry.item
    requests = [published[id(assessed)] for assessed in entry.requests]
    exercised = any(assessed.request.is_valid and assessed.request.succeeded for assessed in entry.requests)
    why_not = None
    if not exercised and entry.skipped is not None:
        why_not = redact_text(entry.skipped)
    elif not exercised:
        tried = (
            shown.note
            for shown, assessed in zip(requests, entry.requests, strict=True)
            if assessed.request.is_valid and not assessed.request.succeeded
        )
        why_not = next(tried, "not asked for: the run ended before")
    return Item(
        kind=item.kind,
        identity=shown_text(item.identity) or f"(entry {item.position + 1})",
        exercised=exercised,
        why_not=why_not,
        name=shown_text(item.text("title") or item.text("name")),
        description=shown_text(item.text("description")),
        mime_type=shown_text(item.text("mimeType")),
        requests=requests,
    )


def _with(findings: Sequence[Finding], command: str, request: str | None = None) -> Iterator[Finding]:
    for finding in findings:
        item = None if finding.item is None else redact_text(finding.item)
        yield msgspec.structs.replace(finding, item=item, reproduce=command, scenario=request)


def tool_status(*, total: int, executed: int, passed: int, exercise: Exercise | None = None) -> Status:
    """The status of a tool over its scenarios.

    All passed: fully working; more than half: partially; any answer at all: connectivity only; none: broken.
    Nothing planned: untested. A tool none of whose valid calls succeeded is not exercised, or at best connectivity only
    when it failed by its own fault.

    Args:
        total: How many scenarios were planned, without those that met an outage.
        executed: How many of them brought an answer of any kind.
        passed: How many of them brought the right answer.
        exercise: How the valid calls went; None if only the numbers are known.

    Example:
        >>> tool_status(total=4, executed=4, passed=3)
        'partially_working'
        >>> tool_status(total=4, executed=4, passed=4, exercise=Exercise(tried=2, succeeded=0))
        'not_exercised'
    """
    if exercise is not None and not exercise.succeeded and not exercise.failed and (total > 0 or exercise.tried):
        return "not_exercised"
    if total <= 0:
        return "untested"
    if exercise is None or exercise.succeeded:
        if passed >= total:
            return "fully_working"
        if passed > total * 0.5:
            return "partially_working"
    return "connectivity_only" if executed > 0 else "broken"


def server_status(tools: Sequence[Tool], findings: Sequence[Finding] = ()) -> Status:
    """The status of a server follows from its exercised tools.

    All work fully, they are most of the called ones, and no tool has a finding of severity error: fully working; any
    works, fully or partially, or answered a valid call: partially working; any answers at all: connectivity only; none:
    broken. Without an exercised tool it is not exercised, or untested.
    """
    called = [tool for tool in tools if tool.status != "untested"]
    seen = [tool for tool in called if tool.status != "not_exercised"]
    if not seen:
        return "not_exercised" if called else "untested"
    if all(tool.status == "fully_working" for tool in seen) and 2 * len(seen) > len(called) and not _faulty(findings):
        return "fully_working"
    if any(tool.status in _WORKING or tool.succeeded for tool in seen):
        return "partially_working"
    return "broken" if all(tool.status == "broken" for tool in seen) else "connectivity_only"


def _faulty(findings: Iterable[Finding]) -> set[str]:
    return {tool for finding in findings if finding.severity is Severity.ERROR for tool in finding.concerns}


def score(tools: Sequence[Tool], findings: Sequence[Finding]) -> float | None:
    """0-100 for a server, or None when no tool was exercised.

    A tool scores four fifths for the share of its scenarios that passed and one fifth for its error messages (where no
    message could be scored, the scenarios alone count). Scenarios that met an outage are left out, as are those that
    share a call with an earlier one. A tool with a finding of severity error, or none of whose valid calls succeeded,
    scores at most 50. A called tool that was not exercised counts 50 unless it met an outage, and one that succeeded
    with a fixture at least that, so that a fixture does not lower the score. The server scores the mean of its called
    tools, and at most 90 where fewer than half of all tools were exercised.
    """
    faulty, scores, exercised = _faulty(findings), list[float](), 0
    for tool in tools:
        counted = [scenario for scenario in tool.scenarios if not scenario.outage and scenario.same_as is None]
        if not counted or tool.status == "untested":
            continue
        if tool.status == "not_exercised":
            scores.append(_HALF)
        else:
            exercised += 1
            passed = 100 * sum(scenario.passed for scenario in counted) / len(counted)
            messages = tool.error_message_score
            value = passed if messages is None else 0.8 * passed + 0.2 * messages
            if tool.name in faulty or (tool.valid_calls and not tool.succeeded):
                value = min(value, _HALF)
            if tool.succeeded and any(scenario.origin.startswith("fixture") for scenario in counted):
                value = max(value, _HALF)
            scores.append(value)
    if not exercised:
        return None
    mean = sum(scores) / len(scores)
    return round(mean if 2 * exercised >= len(tools) else min(mean, _MOST_OF_FEW), 1)


def always_failing(tools: Sequence[Tool]) -> Callable[[Finding], bool]:
    """Return whether a finding is about valid calls, and every valid call of its tools shows it or none succeeded."""
    valid = {one.id: tool.valid_calls for tool in tools for one in tool.scenarios if one.category != "error_case"}
    never = sys.maxsize  # Of what no valid call shows.
    return lambda found: (
        found.id == NEVER_SUCCEEDED.id
        or found.occurrences >= max(len(found.concerns), 1) * valid.get(found.scenario or "", never)
    )


def override(
    findings: Iterable[Finding], *, ignore: Sequence[str], severity: Mapping[str, str]
) -> tuple[list[Finding], list[Finding]]:
    """Return the findings that count, and those that are ignored.

    Args:
        findings: The findings of the rules.
        ignore: `CHECK` or `CHECK:TOOL`, where the tool may be a pattern (`get_*`); or a URI, or the name of a prompt.
        severity: The severity (`error`, `warning`, `info`) of the findings of a check, by its id.
    """
    kept: list[Finding] = []
    suppressed: list[Finding] = []
    patterns = [pattern.partition(":") for pattern in ignore]
    for finding in findings:
        found = finding.item if finding.tool is None else finding.tool
        if any(
            check == finding.id and (not colon or (found is not None and fnmatchcase(found, name)))
            for check, colon, name in patterns
        ):
            suppressed.append(finding)
        elif finding.id in severity:
            kept.append(msgspec.structs.replace(finding, severity=Severity(severity[finding.id])))
        else:
            kept.append(finding)
    return kept, suppressed
