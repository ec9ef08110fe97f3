"""A refusal that says what it wanted is obeyed by the next attempt; one that does not teaches nothing."""

import asyncio
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from toolvet.assess import Options, Report, assess
from toolvet.assess.folder import Folder, list_folder
from toolvet.assess.lessons import learn, lesson_phrases
from toolvet.assess.rules import ToolDefinition, tool_definition
from toolvet.assess.values import MOST_RETRIES
from toolvet.mcp.transport import StdioTarget

SERVER = Path(__file__).parents[1] / "servers" / "scripted.py"


@pytest.mark.parametrize("phrase", lesson_phrases(), ids=lambda phrase: f"{phrase.kind}: {phrase.hits[0]}")
def test_every_phrase_takes_its_hits_and_leaves_its_misses(phrase: Any) -> None:
    assert [hit for hit in phrase.hits if not phrase.expression.search(hit)] == []
    assert [miss for miss in phrase.misses if phrase.expression.search(miss)] == []
    assert phrase.misses


def tool(*required: str, name: str = "work", description: str = "", **properties: object) -> ToolDefinition:
    declared = {key: {"type": "string"} for key in required} | properties
    return tool_definition(
        {
            "name": name,
            "description": description,
            "inputSchema": {"type": "object", "properties": declared, "required": list(required)},
        }
    )


WORK = Folder("/data", ("a.txt", "report.docx"))
NUMBER = {"type": "integer"}


@pytest.mark.parametrize(
    ("definition", "arguments", "refusal", "expected"),
    [
        (
            tool("shape", "operation"),
            {"shape": "circle", "operation": "Addition"},
            "Invalid operation type: Addition, supported operations: ['area', 'volume']",
            {"shape": "circle", "operation": "area"},
        ),
        (tool("status"), {"status": "x"}, "status must be one of: open, closed", {"status": "open"}),
        (tool("goal"), {"goal": "x"}, "goal must use '<email>'", {"goal": "alice@example.com"}),
        (
            tool("goal", "owner"),
            {"goal": "x", "owner": "me"},
            "Invalid goal 'x'. Expected format: '<owner>/a'",
            {"goal": "me/a", "owner": "me"},
        ),
        (
            tool("object", path={"type": "string", "default": "."}),
            {"object": "x", "path": "."},
            "No directory set. Please specify a 'path' or use 'set_directory' first.",
            {"object": "x", "path": "/data"},
        ),
        (
            tool("t", text={}, text_path={}),
            {"t": "x", "text": "x", "text_path": "y"},
            "Provide either text OR text_path, not both",
            {"t": "x", "text": "x"},
        ),
        (
            tool("t", text={}, text_path={}),
            {"t": "x"},
            '{"error": "Must provide either text or text_path", "text": 0}',
            {"t": "x", "text": 1},
        ),
        (tool("kinds"), {"kinds": ["x"]}, "'x' is not one of ['lo', 'hi']", {"kinds": ["lo"]}),
        (
            tool("filename"),
            {"filename": "/data/a.txt"},
            "filename must end with .docx",
            {"filename": "/data/report.docx"},
        ),
        (tool("path"), {"path": "/data/a.txt"}, "Only .csv files are supported", {"path": "/data/toolvet.csv"}),
        (
            tool("path", head=NUMBER, tail=NUMBER),
            {"path": "p", "head": 1, "tail": 1},
            "Cannot specify both head and tail parameters simultaneously",
            {"path": "p", "head": 1},
        ),
        (
            tool("a", graph_data={}, edge_list={}),
            {"a": "b"},
            "Either graph_data or edge_list is required",
            {"a": "b", "graph_data": 1},
        ),
        (tool("item_id"), {}, "f() missing 1 required positional argument: 'item_id'", {"item_id": 1}),
        (
            tool("path"),
            {"path": "/etc/x.txt"},
            "Access denied - path outside allowed directories: /etc/x.txt not in /srv/data",
            {"path": "/srv/data/x.txt"},
        ),
        (tool(limit=NUMBER), {"limit": 1}, "limit must be at least 10", {"limit": 10}),
        (tool(limit=NUMBER), {"limit": 0}, "limit must be greater than 0", {"limit": 1}),
        (tool(limit=NUMBER), {"limit": 200}, "limit must be at most 100", {"limit": 100}),
        (tool("start"), {"start": "x"}, "Invalid date. Use YYYY-MM-DD.", {"start": "2025-01-15"}),
        (
            tool("text", style={}),
            {"text": "a", "style": "b"},
            "style is not supported for 'markdown'. Supported formats: docx, odt",
            {"text": "a"},
        ),
        (
            tool("from", "to", value=NUMBER),
            {"value": 1, "from": "example", "to": "example"},
            "Error: Unknown unit: example. Supported units: m, km, kg",
            {"value": 1, "from": "m", "to": "m"},
        ),
        (
            tool("value", "source", "target", description="Konvertiert Farb-Formate: hex, rgb, hsl."),
            {"value": "v", "source": "s", "target": "t"},
            "Format muss in ['hex', 'hsl', 'rgb'] sein",
            {"value": "v", "source": "hex", "target": "hex"},
        ),
        (
            tool("front", "back"),
            {"front": "example", "back": "example"},
            "Ungueltiger Hex-Wert: 'example'",
            {"front": "#336699", "back": "#336699"},
        ),
        (tool("net"), {"net": "hello"}, "Invalid CIDR: 'hello'", {"net": "192.0.2.0/24"}),
        (
            tool("from_unit", "to_unit", description="Convert.\n- length: mm, cm, m\n- weight: g, kg, t"),
            {"from_unit": "metric", "to_unit": "metric"},
            "{\"error\": \"Mismatched units: 'metric' -> 'metric'\"}",
            {"from_unit": "mm", "to_unit": "mm"},
        ),
        (tool("path"), {"path": "/data/a.txt"}, "Absolute paths are not allowed", {"path": "a.txt"}),
        (tool("path"), {"path": "/data"}, "Absolute paths are not allowed", {"path": "."}),
        (tool(points={}), {"points": [1.5]}, "At least 4 data points are required", {"points": [1.5, 2.5, 3.5, 4.5]}),
        (tool(names={}), {"names": ["a"]}, "needs two values", {"names": ["a", "a"]}),
        (
            tool(dates={}, amounts={}),
            {"dates": ["2025-01-15"], "amounts": [1.5]},
            "at least two cash flows are required",
            {"dates": ["2025-01-15", "2025-01-16"], "amounts": [1.5, 2.5]},
        ),
        (
            tool(dates={}, amounts={}),
            {"dates": ["2025-01-15"], "amounts": [1.5, 2.5]},
            "must contain at least one positive and one negative value",
            {"dates": ["2025-01-15"], "amounts": [-1.5, 2.5]},
        ),
        (
            tool("claim", "id"),
            {"claim": "x", "id": "b"},
            "claim must use '<source> reaches <target>'",
            {"claim": "example reaches main", "id": "b"},
        ),
        (tool(qi=NUMBER, Di=NUMBER), {"qi": 1, "Di": 0.0}, "Di must be positive", {"qi": 1, "Di": 1}),
        (
            tool(gr_clean=NUMBER, gr_shale=NUMBER),
            {"gr_clean": 1, "gr_shale": 1},
            "gr_clean and gr_shale must differ",
            {"gr_clean": 1, "gr_shale": 2},
        ),
        (
            tool("pay_date"),
            {"pay_date": "the"},
            "dates must look like 2025-04-01, got 'the'",
            {"pay_date": "2025-04-01"},
        ),
        (tool("path"), {"path": "/data"}, "EISDIR: illegal operation on a directory, read", {"path": "/data/a.txt"}),
    ],
)
def test_the_next_attempt_obeys(
    definition: ToolDefinition, arguments: Mapping[str, object], refusal: str, expected: Mapping[str, object]
) -> None:
    lesson = learn(definition, arguments, refusal, wider=dict.fromkeys(definition.properties, 1), folder=WORK)
    assert lesson is not None
    assert lesson.arguments == expected


@pytest.mark.parametrize(
    ("definition", "arguments", "refusal"),
    [
        (tool("task_id"), {"task_id": "x"}, "Task x not found"),
        (tool("status"), {"status": "open"}, "status must be one of: open, closed"),
        (tool("a", "b"), {"a": "x", "b": "y"}, "The colour must be one of: red, green"),
        (tool("text"), {"text": "x"}, "filename must end with .docx"),
        (tool("path"), {"path": "/data/report.docx"}, "Failed: must be a valid .docx file"),
        (tool(limit=NUMBER, other=NUMBER), {"limit": 1, "other": 1}, "it must be at least 10"),
        (tool("a"), {"a": "x"}, "Rate limit exceeded, try again later"),
        (tool("head", "tail"), {"head": "a", "tail": "b"}, "Cannot specify both head and tail"),
        (tool("a"), {"a": "x"}, ""),
        (tool("task"), {"task": "t-9"}, "Task 't-9' not found"),
        (tool("task"), {"task": "t-9"}, "Invalid request: 'other'"),
        (tool("path"), {"path": "/elsewhere/a.txt"}, "Absolute paths are not allowed"),
        (tool("password", a={}), {"password": "x", "a": [1]}, "A password needs at least 8 characters"),
        (tool("gr_clean", gr_shale=NUMBER), {"gr_clean": "x"}, "start and end must differ"),
        (tool(a={}), {"a": [1]}, "At least 99 values are required"),
        # Nothing is known that fills the gaps.
        (tool("goal"), {"goal": "x"}, "goal must use '<a> reaches <b>'"),
        (tool("goal"), {"goal": "x"}, "goal must use '<goal>'"),
        (tool("goal"), {"goal": "x"}, "The tag '<div>' is not closed"),
        (tool("a", "b", "c", description="x, y"), {"a": "1", "b": "2", "c": "3"}, "muss in ['x', 'y'] sein"),
    ],
)
def test_what_says_nothing_of_the_arguments_teaches_nothing(
    definition: ToolDefinition, arguments: Mapping[str, object], refusal: str
) -> None:
    assert learn(definition, arguments, refusal, folder=WORK) is None


# ── paths ──


def test_a_path_is_below_the_folder_and_has_the_extension_that_the_tool_speaks_of() -> None:
    word = tool("filename", description="Read a Word document (.docx)")
    assert WORK.value(word, "filename") == "/data/report.docx"
    assert Folder("/data").value(word, "filename") == "/data/toolvet.docx"
    assert WORK.value(tool("file_path"), "file_path") == "/data/a.txt"
    assert WORK.value(tool("directory"), "directory") == "/data"
    assert WORK.value(tool("path", name="list_directory"), "path") == "/data"
    assert WORK.value(tool("path", name="list_files"), "path") == "/data"
    assert WORK.value(tool("path", name="read_multiple_files"), "path") == "/data/a.txt"
    assert WORK.value(tool("title"), "title") is None


def test_a_folder_is_listed_without_what_is_hidden(tmp_path: Path) -> None:
    for name in (".secret", "b.txt", "a.txt"):
        (tmp_path / name).touch()
    (tmp_path / "sub" / "deep").mkdir(parents=True)
    for name in (".secret", "a.py", "deep/z.py"):
        (tmp_path / "sub" / name).touch()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").touch()
    assert list_folder(str(tmp_path)) == Folder(str(tmp_path.resolve()), ("a.txt", "b.txt", "sub/a.py"))
    assert list_folder(str(tmp_path / "none")) is None
    assert list_folder(None) is None


# ── in a run ──


def assessed(tmp_path: Path, definition: Mapping[str, object], answer: Mapping[str, object]) -> Report:
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"tools": [definition], "answers": {"*": answer}}), encoding="utf-8")
    return asyncio.run(assess(StdioTarget(command=sys.executable, args=(str(SERVER), str(script))), Options(timeout=5)))


def refusal(words: str) -> dict[str, object]:
    return {"content": [{"type": "text", "text": words}], "isError": True}


CONVERT = {"name": "convert_text", "description": "Converts.", "inputSchema": tool("text", "style").input_schema}


def test_what_the_refusal_asked_for_is_sent_next(tmp_path: Path) -> None:
    report = assessed(tmp_path, CONVERT, refusal("style must be one of: 'upper', 'lower'"))
    first, second = report.tools[0].scenarios[:2]
    assert (first.name, second.name) == ("minimal", "minimal, as the refusal asked")
    assert second.arguments["style"] == "upper"
    assert second.origin == "refusal"


def test_what_was_not_found_is_looked_up_in_a_search_that_names_no_noun(tmp_path: Path) -> None:
    one = {"type": "object", "properties": {"fqn": {"type": "string"}}, "required": ["fqn"]}
    look = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    tools = [
        {"name": "get_callers", "description": "Callers.", "inputSchema": one},
        {"name": "search", "description": "Search.", "inputSchema": look},
    ]
    answers = {
        "search": {"content": [{"type": "text", "text": '{"results": ["core.load"]}'}]},
        "get_callers": refusal("fqn_not_in_graph"),
    }
    script = tmp_path / "script.json"
    script.write_text(json.dumps({"tools": tools, "answers": answers}), encoding="utf-8")
    target = StdioTarget(command=sys.executable, args=(str(SERVER), str(script)))
    report = asyncio.run(assess(target, Options(timeout=5)))
    asked = [scenario.arguments["fqn"] for scenario in report.tools[0].scenarios if scenario.origin == "refusal"]
    assert asked[0] == "core.load"


def test_a_tool_that_never_has_enough_is_asked_at_most_three_times_more(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"limit": {"type": "integer"}}, "required": ["limit"]}
    counting = {"name": "get_rows", "description": "Gets rows.", "inputSchema": schema}
    report = assessed(tmp_path, counting, refusal("limit must be less than 5. limit must be at least 9"))
    asked = [scenario for scenario in report.tools[0].scenarios if scenario.origin == "refusal"]
    assert 0 < len(asked) <= MOST_RETRIES


def test_optional_parameters_are_added_one_at_a_time(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {name: {"type": "string"} for name in ("one", "two", "three")}}
    definition = {"name": "get_rows", "description": "Gets rows.", "inputSchema": schema}
    report = assessed(tmp_path, definition, {"echo": True})
    sent = [set(scenario.arguments) for scenario in report.tools[0].scenarios[:4]]
    assert sent == [set(), {"one"}, {"one", "two"}, {"one", "two", "three"}]


PLAIN = {"inputSchema": {"type": "object"}}


def asks_for(tmp_path: Path, first: str, **options: Any) -> Report:
    """A server whose `list_items` refuses until `first` was called."""
    script = {
        "tools": [{"name": "list_items", **PLAIN}, {"name": first, **PLAIN}],
        "answers": {
            "list_items": {"after": first, "refusal": f"No project is open. Call {first} first."},
            first: {"echo": True},
        },
    }
    (tmp_path / "script.json").write_text(json.dumps(script), encoding="utf-8")
    target = StdioTarget(command=sys.executable, args=(str(SERVER), str(tmp_path / "script.json")))
    return asyncio.run(assess(target, Options(timeout=10, concurrency=1, **options)))


def test_a_tool_that_a_refusal_asks_for_is_called_first_and_the_call_repeated_once(tmp_path: Path) -> None:
    items = asks_for(tmp_path, "find_project").tools[0]
    assert [(scenario.name, scenario.passed) for scenario in items.scenarios[:2]] == [
        ("minimal", True),
        ("minimal, after find_project, as the refusal asked", True),
    ]
    assert items.succeeded >= 1
    assert items.status == "fully_working"


def test_a_tool_that_may_change_things_is_not_called_for_a_refusal(tmp_path: Path) -> None:
    report = asks_for(tmp_path, "open_project")
    assert "--include open_project" in (report.tools[1].skipped or "")
    assert (report.tools[0].status, report.tools[0].succeeded) == ("not_exercised", 0)
    included = asks_for(tmp_path, "open_project", include=("open_project",))
    assert included.tools[0].succeeded >= 1


def test_a_tool_that_goes_on_asking_is_obeyed_once(tmp_path: Path) -> None:
    script = {
        "tools": [{"name": "list_items", **PLAIN}, {"name": "find_project", **PLAIN}],
        "answers": {"list_items": {"after": "nothing", "refusal": "Call find_project first"}, "*": {"echo": True}},
    }
    (tmp_path / "script.json").write_text(json.dumps(script), encoding="utf-8")
    target = StdioTarget(command=sys.executable, args=(str(SERVER), str(tmp_path / "script.json")))
    report = asyncio.run(assess(target, Options(timeout=10)))
    assert sum("find_project" in scenario.name for scenario in report.tools[0].scenarios) == 1
