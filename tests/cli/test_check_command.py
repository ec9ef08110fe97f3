"""`toolvet check` and `toolvet explain` from outside."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOOL = {
    "name": "find_book",
    "inputSchema": {
        "type": "object",
        "properties": {"title": {"type": "string"}, "limit": {"type": "integer", "minimum": 1, "maximum": 50}},
        "required": ["title"],
    },
}


def toolvet(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "toolvet", *words], input=given, capture_output=True, text=True, timeout=60, check=False
    )


def lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def tool(tmp_path: Path) -> str:
    path = tmp_path / "tool.json"
    path.write_text(json.dumps(TOOL), encoding="utf-8")
    return str(path)


# ── result ──


def test_results_come_back_as_verdicts_with_their_ids_in_their_order() -> None:
    missing = {"id": 7, "result": {"isError": True, "content": [{"type": "text", "text": "User not found"}]}}
    fine = {"content": [{"type": "text", "text": "Emma"}]}
    done = toolvet("check", "result", "--json", given=f"{json.dumps(missing)}\n{json.dumps(fine)}\n")
    first, second = lines(done)
    assert (first["id"], first["state"], second["classification"]) == (7, "not_found", "fully_working")
    assert done.returncode == 0


def test_a_failed_result_ends_with_1_unless_that_is_not_asked_for() -> None:
    crash = json.dumps({"isError": True, "content": [{"type": "text", "text": "Segmentation fault"}]})
    assert toolvet("check", "result", given=crash).returncode == 1
    assert toolvet("check", "result", "--fail-on", "never", given=crash).returncode == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [("", "empty"), ('{"content": []}\n{"content"', "line 2")],
)
def test_broken_input_is_named_with_its_place(given: str, words: str) -> None:
    done = toolvet("check", "result", given=given)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_results_of_any_shape_are_judged_and_the_shape_is_named() -> None:
    records: list[object] = [
        {"role": "tool", "tool_call_id": "1", "content": "No such book: Emma II"},
        {
            "id": 2,
            "tool": "find_book",
            "result": {"type": "tool_result", "tool_use_id": "1", "content": "x", "is_error": True},
        },
        {"id": 3, "result": "Emma, by Jane Austen"},
        {"title": "Emma"},
        "Emma, by Jane Austen",
        {"jsonrpc": "2.0", "id": 6, "result": {"content": [{"type": "text", "text": "Emma"}]}},
        {"id": 7, "tool": "find_book"},
    ]
    done = toolvet("check", "result", "--json", given="\n".join(map(json.dumps, records)))
    taken = [line["metadata"].get("taken_for") for line in lines(done)]  # type: ignore[attr-defined]
    assert taken == [
        "OpenAI tool message", "Anthropic tool_result", "text", "payload", "text", "JSON-RPC response", "nothing"
    ]  # fmt: skip
    shown = toolvet("check", "result", given=json.dumps(records[0]))
    assert "OpenAI tool message" in " ".join(shown.stdout.split())


# ── arguments ──


CALLS: list[object] = [
    {"id": "a", "type": "function", "function": {"name": "find_book", "arguments": '{"title": 3}'}},
    {"type": "function_call", "call_id": "a", "name": "find_book", "arguments": '{"title": 3}'},
    {"type": "tool_use", "id": "a", "name": "find_book", "input": {"title": 3}},
    {"functionCall": {"id": "a", "name": "find_book", "args": {"title": 3}}},
    {"toolUse": {"toolUseId": "a", "name": "find_book", "input": {"title": 3}}},
    {"type": "tool_call", "id": "a", "name": "find_book", "args": {"title": 3}},
    {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "find_book", "arguments": {"title": 3}}},
    {"id": "a", "tool": "find_book", "arguments": {"title": 3}},
]


def test_calls_of_any_api_are_read(tool: str) -> None:
    done = toolvet("check", "arguments", "--tool", tool, "--json", given="\n".join(map(json.dumps, CALLS)))
    assert done.returncode == 1
    found = lines(done)
    assert len(found) == len(CALLS)
    for line in found:
        assert line["id"] == "a"
        assert [issue["field"] for issue in line["error"]["issues"]] == ["title"]  # type: ignore[index]


def test_tools_of_any_api_are_read(tmp_path: Path) -> None:
    schema = TOOL["inputSchema"]
    path = tmp_path / "tools.json"
    for definitions in (
        schema,
        {"tools": [{"type": "function", "function": {"name": "find_book", "parameters": schema}}]},
        [{"name": "find_book", "input_schema": schema}],
        {"tools": [{"functionDeclarations": [{"name": "other"}, {"name": "find_book", "parameters": schema}]}]},
        {"toolSpec": {"name": "find_book", "inputSchema": {"json": schema}}},
    ):
        path.write_text(json.dumps(definitions), encoding="utf-8")
        given = (
            '{"name": "find_book", "arguments": {"title": 3}}\n{"name": "find_book", "arguments": {"title": "Emma"}}'
        )
        first, second = lines(done := toolvet("check", "arguments", "--tool", str(path), "--json", given=given))
        assert (first["valid"], second["valid"], done.returncode) == (False, True, 1)


@pytest.mark.parametrize("definition", ['{"name": "t"}', '{"name": "t", "inputSchema": {"type": "nonsense"}}'])
def test_a_tool_that_cannot_be_checked_ends_with_2(tmp_path: Path, definition: str) -> None:
    path = tmp_path / "tool.json"
    path.write_text(definition, encoding="utf-8")
    done = toolvet("check", "arguments", "--tool", str(path), given='{"a": 1}')
    assert done.returncode == 2
    assert "Not checked" in done.stdout or "cannot be used" in done.stdout


def test_what_is_no_tool_is_named_with_the_shapes_that_are_read(tmp_path: Path) -> None:
    path = tmp_path / "tool.json"
    path.write_text('{"a": 1}', encoding="utf-8")
    done = toolvet("check", "arguments", "--tool", str(path), given='{"a": 1}')
    assert done.returncode == 2
    assert "not a tool definition" in done.stderr
    assert "Traceback" not in done.stderr


def test_valid_arguments_end_with_0(tool: str) -> None:
    done = toolvet("check", "arguments", "--tool", tool, given='{"title": "Emma"}')
    assert (done.returncode, done.stdout) == (0, "stdin, object 1: valid\n")


def test_invalid_arguments_are_reported_as_text_and_end_with_1(tool: str) -> None:
    done = toolvet("check", "arguments", "--tool", tool, given='{"title": "Emma", "limit": "ten"}')
    assert done.returncode == 1
    assert "limit" in done.stdout
    assert "integer" in done.stdout


def test_a_line_of_json_comes_out_for_each_call_that_goes_in(tool: str) -> None:
    calls = '{"id": 1, "arguments": {"title": "Emma"}}\n{"id": 2, "arguments": {"title": "Emma", "limit": "10"}}\n'
    done = toolvet("check", "arguments", "--tool", tool, "--json", given=calls)
    first, second = lines(done)
    assert first == {"id": 1, "valid": True}
    assert (second["id"], second["valid"]) == (2, False)
    assert second["error"]["repair"]["arguments"] == {"title": "Emma", "limit": 10}  # type: ignore[index]


def test_malformed_text_is_checked_as_what_a_model_wrote(tool: str) -> None:
    done = toolvet("check", "arguments", "--tool", tool, "--json", given="{'title': 'Emma', 'limit': 10,}")
    (report,) = lines(done)
    assert report["valid"] is False
    assert report["error"]["repair"]["arguments"] == {"title": "Emma", "limit": 10}  # type: ignore[index]


def test_the_repair_is_in_the_json_once_and_without_secrets(tmp_path: Path) -> None:
    path = tmp_path / "tool.json"
    properties = {"api_key": {"type": "string"}, "limit": {"type": "integer"}}
    path.write_text(json.dumps({"name": "t", "inputSchema": {"type": "object", "properties": properties}}))
    done = toolvet("check", "arguments", "--tool", str(path), "--json", given='{"api_key": "hunter2x", "limit": "10"}')
    (report,) = lines(done)
    assert "repair" not in report
    repair: Any = report["error"]["repair"]  # type: ignore[index]
    assert repair["masked"] is True
    assert repair["arguments"]["limit"] == 10
    assert "hunter2x" not in done.stdout


def test_a_list_of_tools_needs_a_name_and_says_which_there_are(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps({"tools": [TOOL, {**TOOL, "name": "other"}]}), encoding="utf-8")
    unnamed = toolvet("check", "arguments", "--tool", str(path), given='{"title": "Emma"}')
    assert unnamed.returncode == 2
    assert "find_book, other" in unnamed.stderr
    named = toolvet(
        "check", "arguments", "--tool", str(path), given='{"name": "other", "arguments": {"title": "Emma"}}'
    )
    assert named.returncode == 0


# ── explain ──


def test_explain_describes_one_check_and_lists_all() -> None:
    one = toolvet("explain", "call-timeout", "--json")
    assert json.loads(one.stdout)["id"] == "call-timeout"
    assert "call-timeout" in toolvet("explain").stdout
