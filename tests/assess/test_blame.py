"""Blame: all calls of a server show whose fault the failure of one is."""

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolvet.assess import Options, Report, assess
from toolvet.mcp.transport import StdioTarget

SERVER = Path(__file__).parents[1] / "servers" / "scripted.py"
UNREACHABLE = {"content": [{"type": "text", "text": "connect ECONNREFUSED 10.0.0.1:5432"}], "isError": True}
FINE = {"content": [{"type": "text", "text": "Fine"}]}
VAGUE = {"content": [{"type": "text", "text": "An unexpected error occurred."}], "isError": True}


def assessed(tmp_path: Path, answers: Mapping[str, object], *, timeout: float = 10, **script: Any) -> Report:
    """A server whose tools answer as `answers` say; each takes an optional text."""
    schema = {"type": "object", "properties": {"id": {"type": "string", "description": "Which."}}}
    whole = {
        "tools": [{"name": name, "description": "Reads.", "inputSchema": schema} for name in answers],
        "answers": answers,
        "marker": str(tmp_path / "marker"),
        **script,
    }
    (tmp_path / "script.json").write_text(json.dumps(whole), encoding="utf-8")
    target = StdioTarget(command=sys.executable, args=(str(SERVER), str(tmp_path / "script.json")))
    return asyncio.run(assess(target, Options(timeout=timeout)))


def found(report: Report) -> set[tuple[str, str | None]]:
    return {(finding.id, finding.tool) for finding in report.findings if finding.severity != "info"}


def test_a_server_that_refuses_notifications_without_an_id_is_assessed(tmp_path: Path) -> None:
    report = assessed(tmp_path, {"get_a": FINE}, notices=True)
    assert [tool.succeeded > 1 for tool in report.tools] == [True]
    assert found(report) == {("unknown-id-answer", None)}


def test_an_outage_of_one_tool_explains_the_silence_and_the_vague_words_of_others(tmp_path: Path) -> None:
    report = assessed(
        tmp_path,
        {"get_a": UNREACHABLE, "get_b": {"hang": True}, "get_c": VAGUE, "get_d": FINE},
        timeout=0.5,
    )
    assert found(report) == set()
    (outage,) = [finding for finding in report.findings if finding.id == "environment-outage"]
    assert "'get_b' and 'get_c'" in outage.message
    assert {tool.name: tool.status for tool in report.tools if tool.name != "get_d"} == {
        "get_a": "not_exercised",
        "get_b": "not_exercised",
        "get_c": "not_exercised",
    }


def test_silence_without_an_outage_is_the_fault_of_the_tool(tmp_path: Path) -> None:
    report = assessed(tmp_path, {"get_a": FINE, "get_b": {"hang": True}}, timeout=0.5)
    assert found(report) == {("call-timeout", "get_b")}


def test_a_path_that_another_tool_returns_is_no_leak(tmp_path: Path) -> None:
    root = {"content": [{"type": "text", "text": '{"root": "/home/ann/notes"}'}]}
    lost = {"content": [{"type": "text", "text": "cannot read /home/ann/notes/index.json"}], "isError": True}
    report = assessed(tmp_path, {"get_root": root, "read_note": lost})
    assert ("path-leaked", "read_note") not in found(report)
    other = {"content": [{"type": "text", "text": '{"root": "/home/bob/notes, /home"}'}]}
    assert ("path-leaked", "read_note") in found(assessed(tmp_path, {"get_root": other, "read_note": lost}))


def test_a_tool_that_always_fails_alike_does_not_crash_on_an_unknown_argument(tmp_path: Path) -> None:
    report = assessed(tmp_path, {"get_a": {"error": {"code": -32603, "message": "Internal error"}}})
    assert found(report) == {("valid-call-failed", "get_a")}
