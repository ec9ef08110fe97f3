"""The words for statuses, categories and numbers, the groups of findings, and JSON values: the same in every format."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import orjson

from toolvet.assess.report.document import (
    Category,
    Counts,
    Item,
    Outcome,
    Report,
    ReportedProbe,
    ReportedTransport,
    Scenario,
    Status,
    Tool,
)
from toolvet.assess.rules.terms import STATUSES, TERMS
from toolvet.core.visible import shorten, visible
from toolvet.findings import Card, Finding, ItemKind, Severity

_DIGITS: Final = re.compile(r"\d+")
_SHOWN: Final = 8  # tools of a finding that are named in one line
NONE: Final = "–"  # noqa: RUF001 - a dash instead of a number
HINT_VALUE: Final = {True: "true", False: "false", None: "not set"}
STATUS: Final[dict[Status, str]] = {
    "fully_working": "fully working",
    "partially_working": "partially working",
    "connectivity_only": "connectivity only",
    "broken": "broken",
    "not_exercised": "not exercised",
    "untested": "untested",
}
CATEGORY: Final[dict[Category, str]] = {
    "progressive": "progressive",
    "happy_path": "happy path",
    "edge_case": "edge case",
    "boundary": "boundary",
    "error_case": "error case",
}
ITEM: Final[dict[ItemKind, str]] = {
    "resource": "resource",
    "resource_template": "template",
    "prompt": "prompt",
    "skill": "skill",
}
OUTCOME: Final[dict[Outcome, str]] = {
    "result": "result",
    "protocol_error": "protocol error",
    "timeout": "timed out",
    "server_died": "server died",
    "invalid_message": "invalid message",
    "not_run": "not run",
}


def counted(number: int, singular: str) -> str:
    """`1 error`, `2 errors`, `1,024 calls`."""
    return f"{number:,} {singular}" if number == 1 else f"{number:,} {singular}s"


def listed(names: Sequence[str], shown: int) -> str:
    """The first `shown` names, and how many more there are: `a, b, c and 12 more`."""
    more = len(names) - shown
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:shown])} and {more:,} more"


def worst_first(tools: Sequence[Tool], findings: Sequence[Finding], most: int) -> list[Tool]:
    """The tools in their order; of more than `most` those that did not work fully or have findings, then the others."""
    if len(tools) <= most:
        return list(tools)
    found = {name for finding in findings for name in finding.concerns}
    return sorted(tools, key=lambda tool: tool.status == "fully_working" and tool.name not in found)[:most]


def reasons(tools: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return each reason with its tools, from (reason, tool); those that differ in names and digits are one."""
    alike: dict[str, tuple[str, list[str]]] = {}
    for reason, tool in tools:
        kind = _DIGITS.sub("…", reason.replace(tool, "…"))
        alike.setdefault(kind, (reason, []))[1].append(tool)
    return dict(alike.values())


def not_called(report: Report) -> list[tuple[str, str]]:
    """Return why each tool was not called, as `reasons` takes it."""
    skipped = [(tool.skipped, tool.name) for tool in report.tools if tool.skipped is not None]
    return skipped + [("excluded by the filter of this run", name) for name in report.filtered]


def others(findings: Sequence[Finding], shown: int) -> str:
    """Findings that are only counted, with the first of their tools: `and 37 more: a, b, c, …`."""
    names = list(dict.fromkeys(name for finding in findings for name in finding.subjects or ("the server",)))
    dots = ", …" if len(names) > shown else ""
    return f"and {len(findings):,} more: {', '.join(names[:shown])}{dots}"


def subject(finding: Finding) -> str:
    """Return the subject of a finding: a tool, `prompt plan`, or `4 tools (a, b, c and 1 more)`; "" for the server."""
    if finding.together:
        noun = ITEM[finding.item_kind] if finding.item_kind else "tool"
        return f"{counted(len(finding.together), noun)} ({listed(finding.together, _SHOWN)})"
    return finding.subject or ""


def severities(counts: Counts) -> str:
    """`2 errors, 1 warning, 3 notes`, without severities that did not occur; `no findings`."""
    parts = [
        counted(number, word)
        for number, word in ((counts.error, "error"), (counts.warning, "warning"), (counts.info, "note"))
        if number
    ]
    return ", ".join(parts) or "no findings"


def duration(milliseconds: float) -> str:
    """`8 ms`, `1.4 s`, `2 min 05 s`."""
    if milliseconds < 999.5:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s"


def number(value: float | None) -> str:
    """A score or a confidence without decimals; a dash if there is none."""
    return NONE if value is None else f"{value:.0f}"


def times(occurrences: int) -> str:
    """`×3`; nothing for once."""  # noqa: RUF002 - the multiplication sign
    return f"×{occurrences}" if occurrences > 1 else ""  # noqa: RUF001 - as above


def grade(percent: float | None) -> str:
    """`good`, `fair`, `poor` or `none`: how a score is coloured."""
    if percent is None:
        return "none"
    return "good" if percent >= 85 else "fair" if percent >= 50 else "poor"


def score(report: Report) -> str:
    """The score with what it rests on: `92/100 on 5 of 21 tools`; a dash without a score."""
    if report.score is None:
        return NONE
    return f"{number(report.score)}/100 on {report.rests_on:,} of {counted(report.summary.tools, 'tool')}"


def shown_confidence(tool: Tool) -> float | None:
    """The tool's confidence; None for a tool that was not exercised, whose answers show nothing of it."""
    return tool.confidence if tool.scenarios and tool.status != "not_exercised" else None


def legend(reports: Sequence[Report]) -> list[tuple[str, str]]:
    """The words of judgement in these reports, each with its meaning: the statuses that occur, score and confidence."""
    seen = {tool.status for report in reports for tool in report.tools if tool.skipped is None}
    seen |= {report.status for report in reports}
    statuses = [(STATUS[status], STATUSES[STATUS[status]]) for status in STATUS if status in seen]
    return [*statuses, ("score", TERMS["score"].brief), ("confidence", TERMS["confidence"].brief)]


def items_lines(report: Report) -> list[str]:
    """Return a line for each list of the server beside tools: `5 of 7 resources read`; none if it has no such list."""
    items = report.items
    lines = [
        f"{sum(item.exercised for item in listed):,} of {counted(len(listed), noun)} {deed}"
        for listed, noun, deed in (
            (items.resources, "resource", "read"),
            (items.resource_templates, "template", "read"),
            (items.prompts, "prompt", "fetched"),
            (items.skills, "skill", "read"),
        )
        if listed
    ]
    completions = [
        request
        for item in (*items.resource_templates, *items.prompts)
        for request in item.requests
        if request.method == "completion/complete"
    ]
    if completions:
        passed = sum(request.passed is True for request in completions)
        lines.append(f"{passed:,} of {counted(len(completions), 'completion')} answered")
    if items.left_out is not None and items.announced:
        lines.append(f"{' and '.join(items.announced)}: {items.left_out}")
    return lines


def not_exercised(report: Report) -> dict[str, list[str]]:
    """The resources, templates and prompts that were not exercised, by the reason."""
    reasons: dict[str, list[str]] = {}
    for item in all_items(report):
        if not item.exercised:
            reasons.setdefault(item.why_not or "", []).append(f"{ITEM[item.kind]} {item.identity}")
    return reasons


def all_items(report: Report) -> list[Item]:
    """All resources, templates, prompts and skills of a report."""
    items = report.items
    return [*items.resources, *items.resource_templates, *items.prompts, *items.skills]


def title(report: Report) -> str:
    """The server's name and version."""
    return f"{report.server.name} {report.server.version}".strip()


def passed(tool: Tool) -> str:
    """How many scenarios of the tool passed, of how many: `5/12`; a dash when there are none."""
    own = own_scenarios(tool)
    return f"{sum(scenario.passed for scenario in own)}/{len(own)}" if own else NONE


def own_scenarios(tool: Tool) -> list[Scenario]:
    """The scenarios that count, without those that share a call with an earlier one."""
    return [scenario for scenario in tool.scenarios if scenario.same_as is None]


def costliest(report: Report, most: int | None = None) -> list[tuple[str, str, str, str]]:
    """The tools that cost a model most: name, tokens, tokens of the description, change since the baseline (or "")."""
    before = report.baseline.tokens if report.baseline is not None else {}
    rows: list[tuple[str, str, str, str]] = []
    for tool in sorted((tool for tool in report.tools if tool.tokens), key=lambda tool: -tool.tokens)[:most]:
        more = tool.tokens - before.get(tool.name, 0)
        change = ("new" if tool.name not in before else f"{more:+,}" if more else "") if before else ""
        rows.append((tool.name, f"{tool.tokens:,}", f"{tool.description_tokens:,}", change))
    return rows


def cost(report: Report) -> str:
    """What tools/list costs a model, in a line; empty if that is not known."""
    tokens, before = report.summary.list_tokens, report.baseline.list_tokens if report.baseline is not None else None
    change = f", {tokens - before:+,} since the baseline" if before else ""
    return f"tools/list costs a model about {tokens:,} tokens{change}" if tokens else ""


def origin(report: Report) -> str:
    """How the server was reached: `MCP 2025-11-25 over stdio`."""
    revision = f"MCP {report.server.protocol_version}" if report.server.protocol_version else "MCP"
    return f"{revision} over {'HTTP' if report.server.transport == 'http' else report.server.transport}"


def framework_words(report: Report) -> str:
    """How many error messages a framework wrote instead of the author, in a sentence; empty if there are none."""
    names = Counter(
        scenario.framework for tool in report.tools for scenario in tool.scenarios if scenario.framework is not None
    )
    if not names:
        return ""
    which = ", ".join(f"{name} {number:,}" for name, number in names.most_common())
    return (
        f"{counted(names.total(), 'error message')} came from a framework ({which}), not from the server's code; "
        "they do not affect the score"
    )


def transport(seen: ReportedTransport) -> str:
    """The probes in one line: `29 probes in 164 ms, 27 answered as the protocol requires`."""
    if not seen.probes:
        return f"not probed: {seen.not_probed or 'no probe was sent'}"
    right = sum(probe.as_wanted is True for probe in seen.probes)
    line = f"{counted(len(seen.probes), 'probe')} in {duration(seen.duration_ms)}, "
    line += f"{right:,} answered as the protocol requires"
    return f"{line}; then no more: {seen.not_probed}" if seen.not_probed else line


def unwanted(seen: ReportedTransport) -> list[ReportedProbe]:
    """The probes that were not answered as the protocol requires."""
    return [probe for probe in seen.probes if probe.as_wanted is not True]


def response(probe: ReportedProbe) -> str:
    """Return the response to a probe, and the wanted one: `HTTP 200 (wanted: 403)`."""
    return f"{'no response' if probe.status is None else f'HTTP {probe.status}'} (wanted: {probe.wanted})"


def tally(report: Report) -> str:
    """The report in one line: tools, calls, findings, time."""
    summary = report.summary
    parts = [
        f"{summary.tested:,} of {counted(summary.tools, 'tool')} tested",
        *([f"{summary.not_exercised:,} not exercised"] if summary.not_exercised else []),
        f"{summary.passed:,} of {counted(summary.scenarios, 'scenario')} passed",
        *items_lines(report),
        severities(summary.findings),
    ]
    if report.baseline is not None and report.baseline.known:
        parts.append(f"{len(report.baseline.known):,} known from the baseline")
    if report.suppressed:
        parts.append(f"{len(report.suppressed):,} ignored")
    validation = report.server.tool_validation
    if validation is not None:
        judged = f", {validation.answered:,} of {counted(validation.asked, 'call')} judged" if validation.asked else ""
        parts.append(f"validation announced{judged}")
    return " · ".join([*parts, duration(report.duration_ms)])


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """The findings of one check at one severity, in the order they were reported. Never empty."""

    id: str
    severity: Severity
    findings: tuple[Finding, ...]

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools concerned, each once, in the order they were reported; the server itself is not one."""
        return tuple(dict.fromkeys(tool for finding in self.findings for tool in finding.concerns))

    @property
    def subjects(self) -> tuple[str, ...]:
        """The same with resources, templates and prompts: `search`, `prompt plan`."""
        return tuple(dict.fromkeys(name for finding in self.findings for name in finding.subjects))

    @property
    def where(self) -> str:
        """How many things are concerned, in words: `2 tools`, `3 prompts`, `4 places`; empty for the server alone."""
        kinds = {finding.item_kind or "tool" for finding in self.findings if finding.subjects}
        noun = next(iter(kinds)).replace("_", " ") if len(kinds) == 1 else "place"
        return counted(len(self.subjects), noun) if kinds else ""

    @property
    def why(self) -> str:
        """Why it matters, when all findings say the same; else empty, and each finding is shown with its own words."""
        return _agreed([finding.why for finding in self.findings])

    @property
    def remedy(self) -> str:
        """What to do, when all findings say the same; else empty, and each finding is shown with its own words."""
        return _agreed([finding.remedy for finding in self.findings])


def group_findings(findings: Iterable[Finding]) -> tuple[FindingGroup, ...]:
    """The worst first; within a severity the checks in the order of the report."""
    groups: dict[tuple[Severity, str], list[Finding]] = {}
    for finding in findings:
        groups.setdefault((finding.severity, finding.id), []).append(finding)
    ordered = sorted(groups.items(), key=lambda item: -item[0][0].rank)
    return tuple(FindingGroup(name, severity, tuple(members)) for (severity, name), members in ordered)


def note_line(group: FindingGroup, card: Card | None) -> str:
    """The notes of one check in a line: `284 parameters have no description: 21 tools (a, b and 19 more)`."""
    first, *more = group.findings
    if not more:
        said = f"{whose}: {first.message}" if (whose := subject(first)) else first.message
        return f"{said}  {times(first.occurrences)}".rstrip() if first.scenario else said
    count = sum(finding.occurrences for finding in group.findings)
    said = card.many.format(count=f"{count:,}") if card and card.many else card.title if card else first.message
    return f"{said}: {group.where} ({listed(group.subjects, _SHOWN)})" if group.where else said


def _agreed(texts: list[str]) -> str:
    return texts[0] if all(text == texts[0] for text in texts) else ""


def pretty(value: object, limit: int) -> str:
    """Indented JSON, cut after `limit` characters. Total: a value that is not JSON is shown by its `repr`."""
    try:
        text = orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except TypeError:
        text = _encode_slowly(value, indent=2)
    return shorten(visible(text), limit)


def compact(value: object, limit: int) -> str:
    """JSON on one line, cut after `limit` characters. Total, like `pretty`."""
    try:
        text = orjson.dumps(value).decode()
    except TypeError:
        text = _encode_slowly(value, indent=None)
    return shorten(visible(text), limit)


def _encode_slowly(value: object, indent: int | None) -> str:
    """JSON of what orjson refuses: large integers, lone surrogates, other keys than strings, 255 levels and more."""
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent, default=repr)
    except (TypeError, ValueError, RecursionError):
        return "(a value that cannot be shown as JSON)"
