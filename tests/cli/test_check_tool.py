"""`toolvet check tool` and `toolvet assess --provider`."""

import json
import sys
from pathlib import Path

import pytest

from toolvet.cli import run

TOOLS = [
    {
        "name": "find",
        "inputSchema": {
            "type": "object",
            "properties": {"limit": {"type": "integer", "minimum": 1}},
            "required": ["limit"],
            "additionalProperties": False,
        },
    },
    {
        "name": "tag",
        "inputSchema": {"type": "object", "properties": {"labels": {"type": "object", "additionalProperties": True}}},
    },
]

SERVER = '''
from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("library")


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def tag(labels: dict[str, str]) -> str:
    """Counts labels."""
    return str(len(labels))


server.run()
'''


@pytest.fixture
def tools(tmp_path: Path) -> str:
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(TOOLS), encoding="utf-8")
    return str(file)


def test_it_says_what_a_provider_refuses_and_what_the_rewriting_loses(
    tools: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", "tool", tools, "--provider", "openai,anthropic-strict"]) == 1
    out = capsys.readouterr().out
    assert "openai: find is taken as it is\n" in out
    assert "openai: tag\n  refuses  /inputSchema/properties/labels/additionalProperties: " in out
    assert "  refuses  /inputSchema/properties/limit/minimum: `minimum`: bounds of numbers are not supported\n" in out
    assert "    loses  /inputSchema/properties/limit: `minimum` is not enforced\n" in out
    assert "  rewritten (proven, " in out


def test_exit_codes_follow_fail_on(tools: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "tool", tools, "--provider", "mistral"]) == 0
    assert run(["check", "tool", tools, "--provider", "openai", "--fail-on", "never"]) == 0
    assert run(["check", "tool", tools, "--provider", "gemini-json-schema", "--fail-on", "ignores"]) == 0
    assert run(["check", "tool", tools, "--provider", "gemini", "--fail-on", "changes"]) == 1
    capsys.readouterr()


def test_json_has_the_issues_with_their_source_and_the_rewritten_definition(
    tools: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["check", "tool", tools, "--provider", "openai", "--json"])
    find, tag = map(json.loads, capsys.readouterr().out.splitlines())
    assert find["issues"] == []
    assert tag["issues"][0]["source"].startswith("https://")
    assert tag["portable"]["is_portable"]
    assert tag["portable"]["input_schema"]["additionalProperties"] is False
    assert "noted" not in tag["portable"]


def test_limits_of_a_request_count_over_all_tools(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "many.json"
    closed = {"type": "object", "additionalProperties": False}
    file.write_text(json.dumps([{"name": f"t{number}", "inputSchema": closed} for number in range(21)]), "utf-8")
    assert run(["check", "tool", str(file), "--provider", "anthropic-strict"]) == 1
    assert "anthropic-strict: all 21 tools\n  refuses  at most 20 strict tools" in capsys.readouterr().out


def test_an_unknown_provider_is_a_usage_error(tools: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "tool", tools, "--provider", "acme"]) == 2
    assert "there is no provider 'acme'" in capsys.readouterr().err
    assert run(["assess", "--provider", "acme", "--", sys.executable]) == 2


def test_assess_reports_what_a_provider_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "library.py"
    file.write_text(SERVER, encoding="utf-8")
    code = run(["assess", "--json", "--provider", "openai", "--", sys.executable, str(file)])
    report = json.loads(capsys.readouterr().out)
    found = [each for each in report["findings"] if each["id"].startswith("provider-")]
    assert code == 1
    assert ("provider-refuses", "tag") in {(each["id"], each.get("tool")) for each in found}
    assert any("toolvet.portable rewrites it (proven)" in each["message"] for each in found)
