"""A server that announces its own validation is asked about each call, and what its tools then do is compared."""

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from toolvet.assess import Options, Report, assess
from toolvet.mcp.transport import StdioTarget

SERVER = Path(__file__).parents[1] / "servers" / "scripted.py"
SEARCH = {
    "name": "search",
    "description": "Search the shelves.",
    "inputSchema": {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "Words to look for."}},
        "required": ["query"],
    },
}
ANNOUNCED = {"tools": {}, "experimental": {"toolValidation": {"supported": True, "method": "check"}}}
YES = {"content": [{"type": "text", "text": '{"valid": true, "errors": []}'}]}
NO = {"content": [{"type": "text", "text": '{"valid": false, "errors": ["query: not today"]}'}]}
REFUSES = {"content": [{"type": "text", "text": "Invalid argument 'query': must be ISO 8601"}], "isError": True}
Assessed = Callable[..., Report]


def calls_of(report: Report) -> int:
    """How many calls the scenarios made: those that share one with another made none."""
    return sum(scenario.same_as is None for tool in report.tools for scenario in tool.scenarios)


@pytest.fixture
def assessed(tmp_path: Path) -> Assessed:
    def run(
        check: Mapping[str, Any] | None,
        search: Mapping[str, Any],
        capabilities: Mapping[str, Any] = ANNOUNCED,
        **script: object,
    ) -> Report:
        answers = {"search": search, **({"check": check} if check is not None else {})}
        path = tmp_path / "script.json"
        path.write_text(
            json.dumps(
                {
                    "tools": [SEARCH],
                    "answers": answers,
                    "capabilities": capabilities,
                    "marker": str(tmp_path / "marker"),
                    **script,
                }
            ),
            encoding="utf-8",
        )
        target = StdioTarget(command=sys.executable, args=(str(SERVER), str(path)))
        return asyncio.run(assess(target, Options(timeout=1.0)))

    return run


def ids(report: Report) -> set[str]:
    return {finding.id for finding in report.findings if finding.id.startswith("validation-")}


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_validator_that_says_what_the_tool_does_is_reported_and_not_blamed(era: str, assessed: Assessed) -> None:
    right = {"validator": True}
    report = assessed(right, {"validate": True}, era=era)
    assert ids(report) == set()
    assert report.server.tool_validation is not None
    assert report.server.tool_validation.method == "check"
    assert report.server.tool_validation.asked == report.server.tool_validation.answered
    assert report.server.tool_validation.asked == calls_of(report)
    assert report.server.protocol_version == ("2026-07-28" if era == "modern" else "2025-11-25")


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_wrong_yes_is_found(era: str, assessed: Assessed) -> None:
    report = assessed(YES, {"validate": True}, era=era)
    (finding,) = [finding for finding in report.findings if finding.id == "validation-disagrees"]
    assert (finding.tool, finding.confidence) == ("search", 95)
    assert "'query' is required" in finding.message


def test_a_wrong_yes_to_what_the_schema_allows_is_found(assessed: Assessed) -> None:
    report = assessed(YES, REFUSES)
    (finding,) = [finding for finding in report.findings if finding.id == "validation-disagrees"]
    assert finding.confidence < 95 or finding.occurrences > 1
    assert "ISO 8601" in finding.message


def test_a_wrong_no_is_found(assessed: Assessed) -> None:
    report = assessed(NO, {"validate": True})
    (finding,) = [finding for finding in report.findings if finding.id == "validation-disagrees"]
    assert finding.tool == "search"
    assert "not today" in finding.message


@pytest.mark.parametrize(
    ("check", "words"),
    [
        (None, "Unknown tool: check"),
        ({"error": {"code": -32603, "message": "boom"}}, "boom"),
        ({"content": [{"type": "text", "text": "looks fine to me"}]}, "looks fine to me"),
        ({"content": [{"type": "text", "text": '{"ok": true}'}]}, "without 'valid'"),
        ({"content": [{"type": "text", "text": "out of order"}], "isError": True}, "out of order"),
    ],
    ids=["missing", "protocol error", "prose", "another shape", "isError"],
)
def test_a_validator_that_gives_no_verdict_is_found_and_not_asked_for_long(
    check: Mapping[str, Any] | None, words: str, assessed: Assessed
) -> None:
    report = assessed(check, {"validate": True})
    (finding,) = [finding for finding in report.findings if finding.id == "validation-broken"]
    assert finding.severity.value == "error"
    assert words in finding.message
    assert report.server.tool_validation is not None
    assert (report.server.tool_validation.asked, report.server.tool_validation.answered) == (3, 0)
    assert "validation-disagrees" not in ids(report)


@pytest.mark.parametrize("check", [{"hang": True}, {"die": 3}], ids=["hangs", "dies"])
def test_a_validator_without_an_answer_is_asked_once_and_the_tools_are_still_called(
    check: Mapping[str, Any], assessed: Assessed
) -> None:
    report = assessed(check, {"validate": True})
    assert ids(report) == {"validation-broken"}
    assert report.server.tool_validation is not None
    assert report.server.tool_validation.asked == 1
    assert {scenario.outcome for scenario in report.tools[0].scenarios} == {"result"}


def test_a_bare_true_is_found(assessed: Assessed) -> None:
    report = assessed(YES, {"validate": True}, {"tools": {}, "experimental": {"toolValidation": True}})
    (finding,) = [finding for finding in report.findings if finding.id == "validation-broken"]
    assert "official clients fail to connect" in finding.message
    assert report.server.tool_validation is None


def test_a_server_that_announces_nothing_is_asked_nothing(assessed: Assessed) -> None:
    report = assessed({"die": 3}, {"validate": True}, {"tools": {}})
    assert ids(report) == set()
    assert report.server.tool_validation is None
    assert report.summary.calls == calls_of(report) + 3  # an unknown tool, odd arguments


def test_the_tool_that_validates_is_no_tool_like_the_others(assessed: Assessed) -> None:
    check = {"name": "check", "description": "Check a call.", "inputSchema": {"type": "object"}}
    report = assessed({"validator": True}, {"validate": True}, tools=[SEARCH, check])
    assert {tool.name: tool.skipped is None for tool in report.tools} == {"search": True, "check": False}
    assert "validates the calls of the other tools" in (report.tools[1].skipped or "")


def test_a_validator_is_tried_even_if_no_other_tool_may_be_called(assessed: Assessed) -> None:
    delete = {**SEARCH, "name": "delete_shelf", "annotations": {"destructiveHint": True}}
    report = assessed({"error": {"code": -32603, "message": "boom"}}, {}, tools=[delete])
    assert ids(report) == {"validation-broken"}
    assert report.tools[0].skipped is not None
