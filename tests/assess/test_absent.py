"""Things that do not exist are asked for, and "not found" as a success is found every time."""

import asyncio
import re
import sys
from pathlib import Path

import pytest

from toolvet.assess import Options, Report, assess
from toolvet.assess.exchange import SeededChoice
from toolvet.assess.folder import Folder
from toolvet.assess.harvest import Harvest, absent_values, is_fed, is_identifier
from toolvet.assess.rules import ObservedCall, Outcome, tool_definition
from toolvet.assess.rules.ending import Ending, ending
from toolvet.assess.scenarios.absent import scenarios
from toolvet.assess.values import Values
from toolvet.core.checks.result import check_result
from toolvet.mcp.transport import StdioTarget

SERVER = Path(__file__).parents[1] / "servers" / "tasks.py"


def assessed(tmp_path: Path, *words: str, seed: int = 0) -> Report:
    target = StdioTarget(command=sys.executable, args=(str(SERVER), str(tmp_path / "calls"), *words))
    return asyncio.run(assess(target, Options(timeout=5.0, seed=seed)))


def found(report: Report, check: str) -> list[str | None]:
    return [finding.tool for finding in report.findings if finding.id == check]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("words", [(), ("forgets",)])
def test_not_found_as_a_success_is_found_with_every_seed(tmp_path: Path, seed: int, words: tuple[str, ...]) -> None:
    assert "get_task" in found(assessed(tmp_path, *words, seed=seed), "error-without-flag")


@pytest.mark.parametrize("seed", range(5))
def test_not_found_with_the_flag_is_as_it_should_be(tmp_path: Path, seed: int) -> None:
    report = assessed(tmp_path, "flags", seed=seed)
    assert found(report, "error-without-flag") == []
    (asked,) = [
        scenario
        for tool in report.tools
        for scenario in tool.scenarios
        if scenario.name == "a task_id that does not exist"
    ]
    assert asked.arguments["task_id"] not in {1, 2, 17}
    assert asked.passed


@pytest.mark.parametrize(
    ("name", "declared", "expected"),
    [
        ("task_id", {"type": "integer"}, True),
        ("taskId", {"type": "string"}, True),
        ("id", {}, True),
        ("slug", {"type": "string"}, True),
        ("isbn", {"type": "string"}, True),
        ("issueKey", {"type": "string"}, True),
        ("who", {"type": "string", "format": "uuid"}, True),
        ("order_id", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, True),
        ("grid", {"type": "string"}, False),
        ("valid", {"type": "boolean"}, False),
        ("sort_key", {"type": "string"}, False),
        ("api_key", {"type": "string"}, False),
        ("kind_id", {"enum": ["a"]}, False),
        ("limit", {"type": "integer"}, False),
    ],
)
def test_identifiers_are_known_by_name_or_format(name: str, declared: object, *, expected: bool) -> None:
    assert is_identifier(name, declared) is expected


def test_what_a_listing_feeds_is_an_identifier_where_it_names_a_thing() -> None:
    assert is_fed("table_name", {"type": "string"}, "describe_table")
    assert is_fed("branch", {"type": "string"}, "get_branch")
    assert not is_fed("status", {"type": "string"}, "search_tasks")
    assert not is_fed("title", {"type": "string"}, "find_book")


def test_a_list_of_paths_is_asked_for_one_that_does_not_exist() -> None:
    schema = {"type": "object", "properties": {"paths": {"type": "array", "items": {"type": "string"}}}}
    tool = tool_definition({"name": "read_many", "inputSchema": {**schema, "required": ["paths"]}})
    (call,) = scenarios(Values(tool, Harvest(), folder=Folder("/data", ("a.txt",))), SeededChoice(0, ""))
    assert call.name == "a paths that does not exist"
    assert call.arguments["paths"] != ["/data/a.txt"]


@pytest.mark.parametrize(
    ("source", "asked"),
    [
        ("def f(x):\n    return x", []),
        ("Sort the rows of a table by the day", []),
        ("b-17", ["a code that does not exist"]),
    ],
)
def test_code_and_prose_that_another_tool_returned_name_nothing(source: str, asked: list[str]) -> None:
    schema = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}
    harvest = Harvest()
    harvest.note(("code",), source)
    values = Values(tool_definition({"name": "analyze_code", "inputSchema": schema}), harvest)
    assert [call.name for call in scenarios(values, SeededChoice(0, ""))] == asked


@pytest.mark.parametrize(
    ("known", "shape"),
    [
        ("b-17", r"[a-z]-\d{6,}"),
        ("PROJ-12", r"[A-Z]{4}-\d{3,}"),
        ("17", r"\d{9}"),
        ("1b4e28ba-2fa1-11d2-883f-0016d3cca427", r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
        ("507f1f77bcf86cd799439011", r"[0-9a-f]{24}"),
        ("/srv/books/emma.txt", r"/srv/books/[a-z]{4,}\.txt"),
        ("hello world", r"[a-z]{5} [a-z]{5}"),
    ],
)
def test_an_absent_value_has_the_shape_of_a_known_one(known: str, shape: str) -> None:
    value = next(absent_values(known, lambda _value: True))
    assert isinstance(value, str)
    assert re.fullmatch(shape, value)
    assert value != known


def test_an_absent_number_is_far_away_and_within_the_bounds() -> None:
    assert next(absent_values(17, lambda _value: True)) == 987_654_321
    assert next(absent_values(17, lambda value: isinstance(value, int) and value <= 1000)) == 987
    assert list(absent_values(True, lambda _value: True)) == []
    assert next(absent_values([17], lambda _value: True)) == [987_654_321]


@pytest.mark.parametrize(
    "words",
    [
        "Error: task 99 not found",
        "Task 99 not found.",
        "No task with id 99",
        "Task 99 does not exist",
        "There is no such task",
        "Could not find task 99",
        '{"message": "Task not found"}',
        "Unknown task id: 99",
        "task 99 could not be found",
    ],
)
def test_a_lack_of_the_thing_that_was_asked_for_is_an_error_without_a_flag(words: str) -> None:
    assert ending(absent_call("get_task", words)) is Ending.UNFLAGGED_ERROR


@pytest.mark.parametrize(
    ("tool", "words"),
    [
        ("list_comments", "No comments found"),
        ("search_tasks", "No results found for 99"),
        ("get_task", '{"id": 99, "title": "a task"}'),
        ("get_comments", "[]"),
        ("get_task", "Lost and found: " + "the long tale of a thing that was not found. " * 10),
    ],
)
def test_an_empty_list_or_an_answer_about_existence_is_none(tool: str, words: str) -> None:
    assert ending(absent_call(tool, words)) is Ending.SUCCESS


def test_the_same_words_about_a_thing_that_may_exist_are_judged_by_the_words_alone() -> None:
    assert ending(absent_call("get_task", "No task with id 99", absent="")) is Ending.SUCCESS


def absent_call(tool: str, words: str, absent: str = "task_id") -> ObservedCall:
    schema = {"type": "object", "properties": {"task_id": {"type": "integer"}}, "required": ["task_id"]}
    definition = tool_definition({"name": tool, "inputSchema": schema})
    result = {"content": [{"type": "text", "text": words}]}
    return ObservedCall(
        tool=definition,
        arguments={"task_id": 99},
        outcome=Outcome.RESULT,
        result=result,
        verdict=check_result(definition.raw, {"task_id": 99}, result),
        absent=absent,
    )
