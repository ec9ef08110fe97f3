import pytest

from toolvet.assess import server_status, tool_status
from toolvet.assess.assemble import score
from toolvet.assess.report.document import Scenario, Tool
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


def test_a_server_is_fully_working_only_when_every_tested_tool_is() -> None:
    assert server_status([tool("a", True), tool("b", True), tool("untested")]) == "fully_working"
    assert server_status([tool("a", True), tool("b", True), tool("c", False)]) == "partially_working"
    assert server_status([tool("a", True), tool("b", False)]) == "partially_working"
    assert server_status([tool("a", False), tool("b", False)]) == "connectivity_only"
    assert server_status([tool("untested")]) == "untested"


def test_the_score_is_four_fifths_scenarios_and_one_fifth_error_messages() -> None:
    assert score([tool("a", True, False, messages=100.0)], []) == 60.0
    assert score([tool("a", True, False)], []) == 50.0


def test_tools_that_were_not_called_do_not_count_in_the_score() -> None:
    assert score([tool("a", True), tool("b")], []) == 100.0
    assert score([tool("b")], []) is None


def test_an_error_finding_caps_the_score_of_its_tool_only() -> None:
    found = [Finding(id="x", severity=Severity.ERROR, message="m", tool="a")]
    assert score([tool("a", True), tool("b", True)], found) == 75.0
