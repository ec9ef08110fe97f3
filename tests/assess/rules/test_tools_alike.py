"""Tools that look the same to a model: pairs of them, and near misses, in `tools_alike.toml`."""

import pytest

from toolvet.assess.rules import ObservedServer, ToolDefinition, judge_server, tool_definition
from toolvet.assess.rules.catalog.tools_alike import read_alike_source

SOURCE = read_alike_source()


def tool(line: str, position: int) -> ToolDefinition:
    """The tool of `name: description|parameter,parameter`."""
    head, _, parameters = line.rpartition("|")
    name, _, description = head.partition(": ")
    schema = {"type": "object", "properties": {each: {"type": "string"} for each in parameters.split(",") if each}}
    return tool_definition({"name": name, "description": description, "inputSchema": schema}, position)


def alike(*lines: str) -> list[str | None]:
    tools = tuple(tool(line, position) for position, line in enumerate(lines))
    return [finding.tool for finding in judge_server(ObservedServer(tools=tools)) if finding.id == "tools-alike"]


@pytest.mark.parametrize("pair", SOURCE.hits)
def test_a_pair_that_says_the_same_is_found(pair: tuple[str, str]) -> None:
    assert alike(*pair) == [pair[0].partition(":")[0]]


@pytest.mark.parametrize("pair", SOURCE.misses)
def test_a_near_miss_is_left_alone(pair: tuple[str, str]) -> None:
    assert alike(*pair) == []


def test_three_of_a_kind_are_one_finding() -> None:
    assert alike("get_note: Get a note.|id", "read_note: Reads a note.|id", "fetchNote: Fetches the note.|id") == [
        "get_note"
    ]
