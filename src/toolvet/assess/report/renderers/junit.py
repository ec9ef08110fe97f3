"""JUnit XML as Jenkins, GitLab and the test reporters for GitHub read it: the structure of junit-10.xsd.

A suite per tool with a case per scenario, and a suite per server for the findings that no failed scenario shows. A case
fails for a finding that `fail_on` of the report names, the score for `fail_under` and the cost of tools/list for
`max_tools_tokens`: so the document fails exactly where the exit code is 1. All else goes into the output of a case.
"""

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from toolvet.assess.report.document import ItemRequest, Report, Scenario, Tool
from toolvet.assess.report.gate import fails, thresholds
from toolvet.assess.report.renderers import Format
from toolvet.assess.report.wording import CATEGORY, ITEM, OUTCOME, all_items, listed, pretty, subject
from toolvet.core.visible import one_line, shorten, visible
from toolvet.findings import Card, Finding

_MOST_IDLE: Final = 1_000  # suites of tools that were not called
_MOST_TOOLS: Final = 200  # names in one finding
_PAYLOAD: Final = 4_000  # characters of a request or a response


def render(reports: Sequence[Report], cards: Mapping[str, Card]) -> str:
    """One `testsuites` document over all servers."""
    suites = [suite for report in reports for suite in _render_report(report, cards)]
    # The XSD gives the root no `skipped`.
    totals = {name: value for name, value in _count(suites).items() if name != "skipped"}
    root = ET.Element("testsuites", {"name": "toolvet", **totals})
    root.extend(suites)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _render_report(report: Report, cards: Mapping[str, Card]) -> list[ET.Element]:
    failed = {
        scenario.id
        for tool in report.tools
        for scenario in tool.scenarios
        if not scenario.passed and scenario.outcome != "not_run"
    }
    requests = [*(request for item in all_items(report) for request in item.requests), *report.items.others]
    failed |= {request.id for request in requests}
    by_scenario: dict[str, list[Finding]] = {}
    others: list[Finding] = []
    for finding in report.findings:
        if finding.scenario in failed and not finding.together:
            by_scenario.setdefault(finding.scenario, []).append(finding)
        else:
            others.append(finding)
    suites = [_render_server(report, others, cards)]
    idle = [tool for tool in report.tools if not tool.scenarios]
    uncounted = {id(tool) for tool in idle[_MOST_IDLE:]}
    suites.extend(_render_tool(report, tool, by_scenario) for tool in report.tools if id(tool) not in uncounted)
    if uncounted:
        # One suite for the tools that were not called and have none of their own: readers choke on ten thousand suites.
        more = f"{len(uncounted):,} more tools"
        case = _make_element(
            "testcase", {"name": more, "classname": _name_class(report.server.name, "not called"), "time": "0"}
        )
        _add_child(case, "skipped", "", {"message": f"{more} were not called: see the JSON report"})
        suites.append(_make_suite(report, f"{report.server.name}: not called", {}, [case]))
    if all_items(report):
        # A suite for all resources, templates and prompts: a case per request, and one for each without any.
        classname = _name_class(report.server.name, "resources and prompts")
        cases: list[ET.Element] = []
        for item in all_items(report):
            label = f"{ITEM[item.kind]} {item.identity}"
            cases += [_render_request(report, request, label, classname, by_scenario) for request in item.requests]
            if not item.requests:
                case = _make_element("testcase", {"name": label, "classname": classname, "time": "0"})
                _add_child(case, "skipped", "", {"message": item.why_not or "not asked for"})
                cases.append(case)
        cases += [_render_request(report, request, "", classname, by_scenario) for request in report.items.others]
        suites.append(_make_suite(report, f"{report.server.name}: resources and prompts", {}, cases))
    return suites


def _render_server(report: Report, findings: Iterable[Finding], cards: Mapping[str, Card]) -> ET.Element:
    facts = {
        "seed": str(report.seed),
        "score": "" if report.score is None else f"{report.score:g}",
        "status": report.status,
        "protocol_version": report.server.protocol_version,
        "transport": report.server.transport,
        "toolvet_version": report.toolvet_version,
        "incomplete": report.incomplete or "",
    }
    classname = _name_class(report.server.name, "findings")
    cases: list[ET.Element] = []
    for finding in findings:
        where = " ".join(part for part in (subject(finding), finding.pointer) if part)
        case = _make_element("testcase", {"name": f"{finding.id} {where}".strip(), "classname": classname, "time": "0"})
        body = _describe(finding, cards.get(finding.id))
        if fails(report, finding):
            _add_child(case, "failure", body, {"message": finding.message, "type": finding.id})
        else:
            _add_child(case, "system-out", f"{finding.severity}: {body}")
        cases.append(case)
    for name, problem in thresholds(report):
        case = _make_element("testcase", {"name": name, "classname": classname, "time": "0"})
        if problem:
            _add_child(case, "failure", problem, {"message": problem, "type": name.partition(" ")[0]})
        cases.append(case)
    return _make_suite(report, f"{report.server.name}: findings", facts, cases, stderr=report.stderr)


def _describe(finding: Finding, card: Card | None) -> str:
    lines = [card.title if card is not None else "", finding.message]
    for label, text in (
        ("tools" if finding.tools else "items", listed(finding.together, _MOST_TOOLS)),
        ("at", finding.pointer),
        ("seen", finding.evidence),
        ("why", finding.why),
        ("fix", finding.remedy),
        ("reproduce", finding.reproduce),
    ):
        if text:
            lines.append(f"{label}: {shorten(text, _PAYLOAD)}")
    return "\n".join(line for line in lines if line)


def _render_tool(report: Report, tool: Tool, findings: Mapping[str, list[Finding]]) -> ET.Element:
    facts = {
        "status": tool.status,
        "confidence": f"{tool.confidence:g}",
        "error_message_score": "" if tool.error_message_score is None else f"{tool.error_message_score:g}",
    }
    classname = _name_class(report.server.name, tool.name)
    if tool.skipped is not None:
        case = _make_element("testcase", {"name": "not called", "classname": classname, "time": "0"})
        _add_child(case, "skipped", "", {"message": tool.skipped})
        cases = [case]
    else:
        cases = [
            _render_scenario(report, scenario, classname, findings.get(scenario.id, [])) for scenario in tool.scenarios
        ]
    if tool.not_exercised is not None:
        case = _make_element("testcase", {"name": "a valid call succeeds", "classname": classname, "time": "0"})
        _add_child(case, "skipped", "", {"message": f"not exercised: {tool.not_exercised}"})
        cases.append(case)
    return _make_suite(report, f"{report.server.name}: {tool.name}", facts, cases)


def _render_request(
    report: Report, request: ItemRequest, label: str, classname: str, by_request: Mapping[str, list[Finding]]
) -> ET.Element:
    name = f"{label} {request.method}: {request.name}".strip()
    case = _make_element("testcase", {"name": name, "classname": classname, "time": _seconds(request.duration_ms)})
    findings = by_request.get(request.id, [])
    parts = [_describe(finding, None) for finding in findings]
    parts += [request.note, f"params:\n{pretty(request.params, _PAYLOAD)}"]
    described = "\n\n".join(part for part in parts if part)
    failing = [finding for finding in findings if fails(report, finding)]
    if failing:
        _add_child(case, "failure", described, {"message": failing[0].message, "type": failing[0].id})
    elif findings or request.passed is not True:
        _add_child(case, "system-out", described)
    return case


def _render_scenario(report: Report, scenario: Scenario, classname: str, findings: Sequence[Finding]) -> ET.Element:
    name = f"{CATEGORY[scenario.category]}: {scenario.name}"
    case = _make_element("testcase", {"name": name, "classname": classname, "time": _seconds(scenario.duration_ms)})
    if scenario.outcome == "not_run" or (scenario.outage and not findings):
        _add_child(case, "skipped", "", {"message": scenario.note or "the run ended before this call"})
    elif not scenario.passed:
        message = scenario.note or (findings[0].message if findings else OUTCOME[scenario.outcome])
        answer = pretty(scenario.result, _PAYLOAD) if scenario.result is not None else "(nothing)"
        parts = [_describe(finding, None) for finding in findings]
        parts += [f"arguments:\n{pretty(scenario.arguments, _PAYLOAD)}", f"{OUTCOME[scenario.outcome]}:\n{answer}"]
        if scenario.reproduce and not findings:
            parts.append(f"reproduce: {scenario.reproduce}")
        described = "\n\n".join(parts)
        failing = [finding for finding in findings if fails(report, finding)]
        if failing:
            _add_child(case, "failure", described, {"message": message, "type": failing[0].id})
        else:
            _add_child(case, "system-out", f"not passed: {message}\n{described}")
    return case


def _make_suite(
    report: Report, name: str, facts: Mapping[str, str], cases: Sequence[ET.Element], stderr: str = ""
) -> ET.Element:
    suite = _make_element("testsuite", {"name": name, **_count(cases)})
    if report.started_at:
        suite.set("timestamp", one_line(report.started_at))
    properties = ET.SubElement(suite, "properties")
    for key, value in facts.items():
        if value:
            properties.append(_make_element("property", {"name": key, "value": value}))
    suite.extend(cases)
    if stderr:
        _add_child(suite, "system-err", shorten(stderr, 50_000))
    return suite


def _count(elements: Sequence[ET.Element]) -> dict[str, str]:
    if elements and elements[0].tag == "testsuite":
        names = ("tests", "failures", "errors", "skipped")
        counts = {name: sum(int(suite.get(name, "0")) for suite in elements) for name in names}
    else:
        failures = sum(case.find("failure") is not None for case in elements)
        skipped = sum(case.find("skipped") is not None for case in elements)
        counts = {"tests": len(elements), "failures": failures, "errors": 0, "skipped": skipped}
    time = sum(float(element.get("time", "0")) for element in elements)
    return {**{name: str(count) for name, count in counts.items()}, "time": f"{time:.3f}"}


def _name_class(server: str, tool: str) -> str:
    """Readers group by the dots of a class name, so a dot inside a name becomes an underscore."""
    return f"{server.replace('.', '_')}.{tool.replace('.', '_')}"


def _seconds(milliseconds: float) -> str:
    return f"{milliseconds / 1000:.3f}"


def _make_element(tag: str, attributes: Mapping[str, str]) -> ET.Element:
    """An element whose attributes hold nothing that XML 1.0 forbids: control characters are made visible."""
    return ET.Element(tag, {name: shorten(one_line(text), 1_000) for name, text in attributes.items()})


def _add_child(parent: ET.Element, tag: str, text: str, attributes: Mapping[str, str] | None = None) -> None:
    element = _make_element(tag, attributes or {})
    element.text = visible(text) or None
    parent.append(element)


FORMAT = Format(name="junit", suffix=".xml", render=render)
