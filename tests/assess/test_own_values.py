"""Values that toolvet made up are shown, those of the user and the server are not; long texts only by their length."""

import asyncio
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from toolvet.assess import Options, Report, assess
from toolvet.assess.rules import ObservedCall, Outcome, tool_definition
from toolvet.assess.rules.quote import describe_long, show_sent
from toolvet.mcp.transport import StdioTarget

SERVER = Path(__file__).parents[1] / "servers" / "scripted.py"
TOOL = {
    "name": "get_login",
    "description": "Returns whether a login works.",
    "inputSchema": {"type": "object", "properties": {"password": {"type": "string"}}, "required": ["password"]},
}
CRASH = {"content": [{"type": "text", "text": "KeyError: 'users'"}], "isError": True}


def assessed(tmp_path: Path, tool: dict[str, Any] = TOOL, answer: dict[str, Any] = CRASH, **options: Any) -> Report:
    script = {"tools": [tool], "answers": {"get_login": answer}}
    (tmp_path / "script.json").write_text(json.dumps(script), encoding="utf-8")
    target = StdioTarget(command=sys.executable, args=(str(SERVER), str(tmp_path / "script.json")))
    return asyncio.run(assess(target, Options(timeout=10, **options)))


def passwords(report: Report) -> set[object]:
    return {each.arguments["password"] for each in report.tools[0].scenarios if "password" in each.arguments}


def test_a_value_that_toolvet_made_up_is_shown_and_can_be_sent_again(tmp_path: Path) -> None:
    report = assessed(tmp_path)
    assert "[redacted]" not in passwords(report)
    first = report.tools[0].scenarios[0]
    words = shlex.split(first.reproduce)
    assert json.loads(words[words.index("--arguments") + 1]) == first.arguments


@pytest.mark.parametrize(
    "options",
    [{"values": {"password": "hunter2secret"}}, {"fixtures": {"get_login": ({"password": "hunter2secret"},)}}],
)
def test_a_value_of_the_user_is_not_shown(tmp_path: Path, options: dict[str, Any]) -> None:
    report = assessed(tmp_path, **options)
    assert "[redacted]" in passwords(report)
    assert "hunter2secret" not in repr(report)


def test_a_value_from_the_servers_schema_is_not_shown(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"password": {"type": "string", "default": "hunter2secret"}}}
    report = assessed(tmp_path, {**TOOL, "inputSchema": {**schema, "required": ["password"]}})
    assert "[redacted]" in passwords(report)


def test_the_command_of_a_tool_that_was_included_includes_it(tmp_path: Path) -> None:
    tool = {**TOOL, "description": "Deletes a login.", "inputSchema": {"type": "object", "properties": {}}}
    report = assessed(tmp_path, tool, {"content": []}, include=("get_login",), severity={})
    commands = [finding.reproduce for finding in report.findings if finding.tool and finding.scenario is None]
    assert all("--include get_login" in words for words in commands if "--plan-only" not in words)


@pytest.mark.parametrize("is_own", [True, False])
def test_a_very_long_text_is_told_by_its_length(*, is_own: bool) -> None:
    call = ObservedCall(tool=tool_definition(TOOL), arguments={}, outcome=Outcome.RESULT, is_own=is_own)
    assert show_sent(call, {"name": "x" * 1_000_000, "n": 1}) == '{"name": a text of 1,000,000 characters, "n": 1}'
    assert show_sent(call, ["y" * 90], 20) == '["yyyyyyyyyyyyyyyyy…'
    assert show_sent(call, list(range(9))) == "[0, 1, 2, 3, 4, …]"
    assert describe_long("short") == "short"


def test_only_what_toolvet_made_up_is_shown_as_it_is() -> None:
    call = ObservedCall(tool=tool_definition(TOOL), arguments={}, outcome=Outcome.RESULT, is_own=True)
    secret = {"password": "hunter2secret"}
    assert show_sent(call, secret) == '{"password": "hunter2secret"}'
    other = ObservedCall(tool=tool_definition(TOOL), arguments={}, outcome=Outcome.RESULT)
    assert show_sent(other, secret) == '{"password": "[redacted]"}'
