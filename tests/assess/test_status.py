from typing import Any

import pytest
from msgspec import structs
from tests.assess.report import parts

from toolvet.assess import server_status, tool_status
from toolvet.assess.assemble import always_failing, score
from toolvet.assess.report import wording
from toolvet.assess.report.document import Report, Scenario, Server, Tool
from toolvet.assess.rules import in_order
from toolvet.findings import Finding, Severity


@pytest.mark.parametrize(
    ("total", "executed", "passed", "expected"),
    [
        (4, 4, 4, "fully_working"),
        (4, 4, 3, "partially_working"),
        (4, 4, 2, "connectivity_only"),
        (4, 4, 0, "connectivity_only"),
        (4, 1, 0, "connectivity_only"),
        (4, 0, 0, "broken"),
        (0, 0, 0, "untested"),
    ],
)
def test_a_tool_is_what_its_scenarios_say(total: int, executed: int, passed: int, expected: str) -> None:
    assert tool_status(total=total, executed=executed, passed=passed) == expected


def tool(name: str, *passed: bool, messages: float | None = None) -> Tool:
    scenarios = [
        Scenario(name=str(number), category="progressive", arguments={}, outcome="result", passed=one)
        for number, one in enumerate(passed)
    ]
    status = tool_status(total=len(passed), executed=len(passed), passed=sum(passed))
    return Tool(name=name, status=status, confidence=100, error_message_score=messages, scenarios=scenarios)


def idle(name: str, **facts: Any) -> Tool:
    """A tool that was called and is not exercised."""
    return structs.replace(tool(name, True), status="not_exercised", **facts)


def error(name: str) -> Finding:
    return Finding(id="x", severity=Severity.ERROR, message="m", tool=name)


def test_a_server_is_fully_working_only_when_every_tested_tool_is() -> None:
    assert server_status([tool("a", True), tool("b", True), tool("untested")]) == "fully_working"
    assert server_status([tool("a", True), tool("b", True), tool("c", False)]) == "partially_working"
    assert server_status([tool("a", True), tool("b", False)]) == "partially_working"
    assert server_status([tool("a", False), tool("b", False)]) == "connectivity_only"
    assert server_status([tool("untested")]) == "untested"


def test_a_server_is_fully_working_only_with_a_success_of_most_called_tools() -> None:
    assert server_status([tool("a", True), tool("b", True), idle("c")]) == "fully_working"
    assert server_status([tool("a", True), idle("b")]) == "partially_working"
    assert server_status([idle("a")]) == "not_exercised"


def test_an_error_of_any_tool_keeps_a_server_from_fully_working() -> None:
    tools = [tool("a", True), tool("b", True), tool("untested")]
    assert server_status(tools, [error("untested")]) == "partially_working"
    warning = structs.replace(error("a"), severity=Severity.WARNING)
    assert server_status(tools, [warning, structs.replace(error("a"), tool=None)]) == "fully_working"


def test_the_score_is_four_fifths_scenarios_and_one_fifth_error_messages() -> None:
    assert score([tool("a", True, False, messages=100.0)], []) == 60.0
    assert score([tool("a", True, False)], []) == 50.0


def test_tools_that_were_not_called_do_not_count_in_the_score() -> None:
    assert score([tool("a", True), tool("b")], []) == 100.0
    assert score([tool("b")], []) is None


def test_a_score_that_rests_on_fewer_than_half_of_the_tools_is_at_most_90() -> None:
    assert score([tool("a", True), tool("b"), tool("c")], []) == 90.0
    assert score([tool("a", True), tool("b", True), tool("c"), tool("d")], []) == 100.0


def test_a_score_of_fewer_than_a_third_of_the_tools_is_no_grade() -> None:
    def report(*tools: Tool) -> Report:
        return parts.report(Server(name="s"), tools=list(tools), findings=[], score=90.0, status="fully_working")

    few, enough = report(tool("a", True), *map(tool, "bcd")), report(tool("a", True), *map(tool, "bc"))
    assert (few.rests_on, few.is_graded, wording.score(few)) == (1, False, "90/100 on 1 of 4 tools")
    assert (enough.rests_on, enough.is_graded, wording.score(enough)) == (1, True, "90/100 on 1 of 3 tools")


def test_an_error_finding_caps_the_score_of_its_tool_only() -> None:
    assert score([tool("a", True), tool("b", True)], [error("a")]) == 75.0


def test_a_tool_without_a_success_counts_half_at_most() -> None:
    failed = structs.replace(tool("a", True, True, True, False), valid_calls=1)
    assert score([failed], []) == 50.0
    assert score([structs.replace(failed, succeeded=1)], []) == 75.0


def test_a_fixture_never_lowers_the_score() -> None:
    """Without one the tool is not exercised; with one it works, or its fault comes to light."""
    listed, without = tool("list", True), idle("get")
    before = score([listed, without], [])
    bad = structs.replace(tool("get", True, False, False, False), valid_calls=2, succeeded=1)
    scenarios = [structs.replace(each, origin="fixture, schema") for each in bad.scenarios]
    for given in (tool("get", True), structs.replace(bad, scenarios=scenarios)):
        assert (score([listed, given], [error("get")]) or 0) >= (before or 0)
    assert score([listed, bad], []) == 62.5
    assert score([listed], []) == 100.0


def test_a_tool_that_was_not_exercised_shows_no_confidence() -> None:
    assert wording.shown_confidence(idle("a")) is None
    assert wording.shown_confidence(tool("a", True)) == 100


def test_what_fails_on_every_call_comes_first_then_what_most_tools_have_and_last_what_an_sdk_decides() -> None:
    one = structs.replace(tool("a", True, True), valid_calls=2)
    one = structs.replace(one, scenarios=[structs.replace(each, id=f"a/{each.name}") for each in one.scenarios])

    def found(check: str, severity: Severity = Severity.WARNING, **facts: Any) -> Finding:
        return Finding(id=check, severity=severity, message="m", **facts)

    ordered = [
        found("z-grave", Severity.ERROR, tool="b"),
        found("z-always", tool="a", scenario="a/0", occurrences=2),
        found("z-always", tool="b"),
        found("y-wide", tools=("a", "b", "c")),
        found("a-once", tool="a", scenario="a/0"),
        found("b-once", tool="a"),
        found("unknown-tool-answer"),
        found("never-succeeded", Severity.INFO, tools=("c", "d")),
        found("a-note", Severity.INFO, tools=("a", "b", "c")),
    ]
    assert in_order(ordered[::-1], fails_always=always_failing([one])) == ordered
