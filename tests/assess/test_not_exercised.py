"""Without a success no praise: what a tool needs for a status and a score, end to end."""

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from toolvet.assess import Options, Report, assess
from toolvet.assess.report.document import Tool
from toolvet.mcp.transport import StdioTarget

SERVER = Path(__file__).parents[1] / "servers" / "scripted.py"
SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "description": "Its name."}},
    "required": ["name"],
}


def said(words: str, *, is_error: bool = True) -> dict[str, object]:
    return {"content": [{"type": "text", "text": words}], "isError": is_error}


def passed(tool: Tool) -> float:
    counted = [scenario for scenario in tool.scenarios if scenario.same_as is None]
    return sum(scenario.passed for scenario in counted) / len(counted)


def run(folder: Path, fixtures: Mapping[str, Any] | None = None, **answers: Mapping[str, object]) -> Report:
    tools = [{"name": name, "description": "Reads.", "inputSchema": SCHEMA} for name in answers]
    script: dict[str, Any] = {"tools": tools, "answers": answers}
    (folder / "script.json").write_text(json.dumps(script), encoding="utf-8")
    target = StdioTarget(command=sys.executable, args=(str(SERVER), str(folder / "script.json")))
    return asyncio.run(assess(target, Options(timeout=5, fixtures=fixtures or {})))


def test_a_tool_that_refuses_every_valid_call_is_not_exercised_and_has_no_score(tmp_path: Path) -> None:
    found = run(tmp_path, get_book=said("Book not found"), get_page=said("Book not found"))
    assert (found.status, found.score) == ("not_exercised", None)
    assert {tool.status for tool in found.tools} == {"not_exercised"}
    assert "fixture" in (found.tools[0].not_exercised or "")
    assert '"Book not found"' in (found.tools[0].not_exercised or "")
    assert found.summary.not_exercised == 2


def test_two_tools_that_refuse_alike_are_one_finding(tmp_path: Path) -> None:
    found = run(tmp_path, get_book=said("Book not found"), get_page=said("Book not found"))
    (finding,) = [finding for finding in found.findings if finding.id == "never-succeeded"]
    assert finding.tools == ("get_book", "get_page")
    assert '"Book not found"' in finding.message


def test_the_status_of_a_server_follows_from_its_exercised_tools(tmp_path: Path) -> None:
    found = run(tmp_path, get_book=said("Book not found"), get_page={"validate": True})
    tools = {tool.name: tool for tool in found.tools}
    assert tools["get_book"].status == "not_exercised"
    assert (found.status, tools["get_page"].status) == ("partially_working", "partially_working")
    message = tools["get_page"].error_message_score or 0.0
    # A tool that was not exercised counts half.
    assert found.score == pytest.approx((80 * passed(tools["get_page"]) + 0.2 * message + 50) / 2, abs=0.1)


@pytest.mark.parametrize(
    ("words", "help_with"),
    [
        ("connect ECONNREFUSED 127.0.0.1:5432", "127.0.0.1:5432"),
        ("SHOP_TOKEN is not set", "--env SHOP_TOKEN"),
        ("spawn rg ENOENT", "the program rg"),
        ("Error: connection refused", "the service that it asks"),
    ],
)
def test_an_outage_is_said_once_and_held_against_nothing(tmp_path: Path, words: str, help_with: str) -> None:
    found = run(tmp_path, get_book=said(words), get_page=said(words), get_line={"validate": True})
    assert [finding.id for finding in found.findings if finding.severity.value != "info"] == []
    (finding,) = [finding for finding in found.findings if finding.id == "environment-outage"]
    assert finding.tool is None
    assert "'get_book' and 'get_page'" in finding.message
    tools = {tool.name: tool for tool in found.tools}
    assert tools["get_book"].status == "not_exercised"
    assert tools["get_book"].error_message_score is None
    assert help_with in (tools["get_book"].not_exercised or "")
    assert all(scenario.outage for scenario in tools["get_book"].scenarios)
    own = tools["get_line"]
    assert found.score == pytest.approx(80 * passed(own) + 0.2 * (own.error_message_score or 0.0), abs=0.1)
    assert found.status == "partially_working"


def test_a_tool_that_fails_by_its_own_fault_is_not_excused(tmp_path: Path) -> None:
    found = run(tmp_path, get_book=said("KeyError: 'title'"))
    assert found.tools[0].status == "connectivity_only"
    assert found.tools[0].not_exercised is None
    assert found.score is not None
    assert "valid-call-failed" in {finding.id for finding in found.findings}


@pytest.mark.parametrize(
    "answer",
    [
        said("KeyError: 'title'"),
        said('{"error": "the database exploded"}', is_error=False),
        {"content": [], "isError": True},
        {"error": {"code": -32603, "message": "Internal error"}},
        {"die": 3},
    ],
)
def test_a_server_whose_every_call_fails_has_no_score_above_half(tmp_path: Path, answer: dict[str, object]) -> None:
    found = run(tmp_path, get_book=answer, get_page=answer, get_line=answer)
    assert found.status not in {"fully_working", "partially_working"}
    assert found.score is None or found.score <= 50


def test_a_fixture_does_not_lower_the_score(tmp_path: Path) -> None:
    """`get_page` works for one name only, which toolvet does not know, and is careless about all others."""
    answers: dict[str, Mapping[str, object]] = {
        "get_book": {"validate": True},
        "get_page": {"knows": "p-1", "refusal": "Error: no such page"},
    }
    before = run(tmp_path, **answers)
    after = run(tmp_path, {"get_page": ({"name": "p-1"},)}, **answers)
    assert [tool.status for tool in before.tools][1] == "not_exercised"
    assert after.tools[1].succeeded
    assert (after.score or 0) >= (before.score or 0) > 0


def test_a_refusal_in_another_language_is_no_failure(tmp_path: Path) -> None:
    found = run(tmp_path, get_book=said("Das Buch ist nicht in diesem Regal"))
    assert "valid-call-failed" not in {finding.id for finding in found.findings}
    assert found.status == "not_exercised"
