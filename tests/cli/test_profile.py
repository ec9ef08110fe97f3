"""`toolvet assess --profile`: what directories require, and what the calls of a run say about the hints."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from toolvet.assess.folder import file_changes, snapshot
from toolvet.cli import run

SERVER = '''
from pathlib import Path

from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations

server = MCPServer("files")


@server.tool(annotations=ToolAnnotations(title="Read", readOnlyHint=True, destructiveHint=False, openWorldHint=False))
def read_file(path: str) -> str:
    """Reads a text file (.txt)."""
    Path("served.bin").write_bytes(b"1")
    return Path(path).read_text(encoding="utf-8")


@server.tool(annotations=ToolAnnotations(readOnlyHint=True, destructiveHint=False, openWorldHint=False))
def count_lines(path: str) -> str:
    """Counts the lines of a text file (.md)."""
    file = Path(path)
    file.write_text(file.read_text(encoding="utf-8") + "\\n", encoding="utf-8")
    return "counted"


@server.tool(annotations=ToolAnnotations(readOnlyHint=False, destructiveHint=False, openWorldHint=False))
def create_file(path: str, text: str) -> str:
    """Creates a text file (.txt)."""
    Path(path).write_text(text, encoding="utf-8")
    return f"Created {path}"


@server.tool(annotations=ToolAnnotations(readOnlyHint=False, destructiveHint=True))
def delete_file(path: str) -> str:
    """Deletes a text file (.txt)."""
    Path(path).unlink()
    return "Deleted."


server.run()
'''


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("server") / "files.py"
    file.write_text(SERVER, encoding="utf-8")
    return str(file)


def assessed(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    run(["assess", "--json", *words])
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def test_hints_are_compared_with_what_the_calls_changed(server: str, capsys: pytest.CaptureFixture[str]) -> None:
    report = assessed(capsys, "--profile", "openai", "--include", "*", "--", sys.executable, server)
    hints = {(each["tool"], each["hint"]): (each["verdict"], each["evidence"]) for each in report["hints"]}
    assert hints["read_file", "readOnlyHint"][0] == "not_contradicted"
    assert hints["read_file", "readOnlyHint"][1].endswith("; `readOnlyHint: true` is not contradicted")
    assert hints["create_file", "readOnlyHint"] == (
        "right",
        "call 1 made toolvet-made.txt in the working folder; `readOnlyHint: false` is right",
    )
    assert hints["delete_file", "destructiveHint"] == (
        "right",
        "call 1 removed toolvet-made.txt from the working folder; `destructiveHint: true` is right",
    )
    assert hints["read_file", "openWorldHint"][0] == "no_evidence"
    found = [each for each in report["findings"] if each["id"] in {"directory-unmet", "hint-contradicted"}]
    wrong = [(each["id"], each.get("tool"), each["pointer"]) for each in found if each["severity"] == "error"]
    assert sorted(wrong) == [
        ("directory-unmet", "delete_file", "/annotations/openWorldHint"),
        ("hint-contradicted", "count_lines", "/annotations/readOnlyHint"),
    ]
    assert report["directories"][0]["name"] == "openai"
    assert any("privacy policy" in ask for ask in report["directories"][0]["asks"])


def test_a_tool_that_was_not_called_has_no_evidence(server: str, capsys: pytest.CaptureFixture[str]) -> None:
    report = assessed(capsys, "--profile", "claude", "--tool", "delete_file", "--", sys.executable, server)
    assert [(each["tool"], each["hint"], each["evidence"]) for each in report["hints"]] == [
        ("delete_file", "readOnlyHint", "not called: no evidence"),
        ("delete_file", "destructiveHint", "not called: no evidence"),
    ]


def test_reports_have_a_table_to_paste(server: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "report.md"
    words = [
        "--profile",
        "claude",
        "--tool",
        "count_lines",
        "--report",
        f"markdown={page}",
        "--",
        sys.executable,
        server,
    ]
    run(["assess", *words])
    shown = capsys.readouterr().out
    assert "Hints, and what the calls show" in shown
    assert "Claude also asks for" in shown
    text = page.read_text(encoding="utf-8")
    assert "| Tool | Hint | Value | What the calls show |" in text
    assert "| `count_lines` | `readOnlyHint` | true | call 1 changed " in text
    assert "Claude also asks for" in text


def test_the_file_of_a_directory_is_read_from_the_current_folder(
    server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    words = ("--profile", "registry", "--plan-only", "--", sys.executable, server)

    def found() -> list[str]:
        findings = assessed(capsys, *words)["findings"]
        return [each["message"] for each in findings if each["id"] == "directory-unmet"]

    assert found() == ["MCP registry: the current folder has no server.json, so its rules were not checked."]
    (tmp_path / "server.json").write_text('{"name": "weather"', encoding="utf-8")
    assert found()[0] == "MCP registry: server.json: the file must contain a JSON object."
    (tmp_path / "server.json").write_text(
        '{"name": "weather", "description": "Forecasts", "version": "1.0.0",'
        ' "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"}',
        encoding="utf-8",
    )
    assert [message.partition(" must")[0] for message in found()] == ["MCP registry: server.json: `name`"]


def test_an_unknown_profile_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["assess", "--profile", "acme", "--", sys.executable]) == 2
    assert "there is no profile 'acme'; there are claude, openai, registry" in capsys.readouterr().err


def test_a_folder_is_compared_without_what_a_server_keeps_for_itself(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt", "notes.db", "notes.db-wal", "server.log", ".state"):
        (tmp_path / name).write_text("1", encoding="utf-8")
    before = snapshot(str(tmp_path))
    assert before is not None
    assert sorted(before) == ["a.txt", "b.txt"]
    (tmp_path / "a.txt").unlink()
    (tmp_path / "b.txt").write_text("22", encoding="utf-8")
    (tmp_path / "new").mkdir()
    changes = file_changes(before, snapshot(str(tmp_path))) or ()
    assert [(each.kind, each.path) for each in changes] == [
        ("removed", "a.txt"),
        ("changed", "b.txt"),
        ("added", "new"),
    ]
    assert file_changes(before, None) is None
    for number in range(1_000):
        (tmp_path / f"{number}.txt").touch()
    assert snapshot(str(tmp_path)) is None
