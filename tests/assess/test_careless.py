"""Answers to what is absent, junk or no object at all, from real servers; each with one that does it right."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from toolvet.assess import Options, Report, assess
from toolvet.findings import Finding
from toolvet.mcp.transport import StdioTarget

SERVERS = Path(__file__).parents[1] / "servers"
CHECKS = {"absent-answered", "junk-answered", "arguments-not-object", "empty-success", "invalid-accepted"}


def assessed(server: str, *words: str, seed: int = 0) -> Report:
    target = StdioTarget(command=sys.executable, args=(str(SERVERS / server), *words))
    return asyncio.run(assess(target, Options(timeout=20, era="legacy", seed=seed)))


def scripted(tmp_path: Path, **script: object) -> Report:
    schema = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    tool = {"name": "get_thing", "description": "Gets it.", "inputSchema": {**schema, "additionalProperties": False}}
    whole = {"tools": [tool], "answers": {"*": {"validate": True}}, **script}
    (tmp_path / "script.json").write_text(json.dumps(whole), encoding="utf-8")
    return assessed("scripted.py", str(tmp_path / "script.json"))


def found(report: Report) -> list[tuple[str, str | None]]:
    return sorted((finding.id, finding.tool) for finding in report.findings if finding.id in CHECKS)


def the(report: Report, check: str) -> Finding:
    (finding,) = [finding for finding in report.findings if finding.id == check]
    return finding


def test_a_record_for_an_absent_id_and_a_weekday_of_junk_are_found() -> None:
    report = assessed("careless.py")
    assert found(report) == [("absent-answered", "get_book"), ("junk-answered", "get_weekday")]


def test_who_refuses_them_is_not_blamed() -> None:
    report = assessed("careless.py", "careful")
    assert found(report) == []
    assert [finding for finding in report.findings if finding.severity.value == "error"] == []


def test_an_empty_list_of_an_untyped_tool_is_one_note_of_the_server() -> None:
    report = assessed("careless.py", "careful")
    search = next(tool for tool in report.tools if tool.name == "search_books")
    answers = [scenario.result for scenario in search.scenarios if isinstance(scenario.result, dict)]
    assert any(answer.get("content") == [] for answer in answers)
    assert search.status == "fully_working"
    assert (the(report, "text-mirror-missing").tool, the(report, "text-mirror-missing").severity) == (None, "info")


@pytest.mark.parametrize(
    ("odd", "severity"),
    [
        ({"error": {"code": -32603, "message": "'NoneType' object has no attribute 'get'"}}, "warning"),
        ({"content": [{"type": "text", "text": "TypeError: argument of type 'NoneType'"}], "isError": True}, "warning"),
        ({"error": {"code": -32603, "message": '[{"path": ["params", "arguments"], "code": "invalid_type"}]'}}, "info"),
        ({"error": {"code": -32602, "message": "arguments must be an object"}}, None),
        ({"content": [{"type": "text", "text": "fine"}]}, None),
    ],
)
def test_arguments_that_are_no_object(tmp_path: Path, odd: object, severity: str | None) -> None:
    findings = [one for one in scripted(tmp_path, odd=odd).findings if one.id == "arguments-not-object"]
    assert [(one.severity, one.tool) for one in findings] == ([(severity, None)] if severity else [])


def test_an_ignored_argument_is_a_note_even_where_the_schema_forbids_it(tmp_path: Path) -> None:
    report = scripted(tmp_path)
    assert "invalid-accepted" not in {
        finding.id for finding in report.findings if "additionalProperties" in finding.message
    }
    note = the(report, "unknown-argument-ignored")
    assert (note.tool, note.severity) == (None, "info")
    (asked,) = [scenario for scenario in report.tools[0].scenarios if scenario.breaks == "additionalProperties"]
    assert asked.passed
    assert "as SDKs do" in asked.note
