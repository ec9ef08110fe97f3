"""A handle of a tool stands for its definition: the same verdicts, read once and compiled once."""

import pickle
from typing import Any

import pytest

import toolvet
from toolvet import check_arguments, check_conversation, check_result, extract_metadata
from toolvet.core.schema import compilation
from toolvet.core.tools import view

SCHEMA = {"type": "object", "properties": {"port": {"enum": ["Lisbon", "Porto"]}}, "required": ["port"]}
OUTPUT = {"type": "object", "required": ["at"]}
SAIL = {"name": "sail", "description": "Sail to a port", "inputSchema": SCHEMA, "outputSchema": OUTPUT}
SHAPES: dict[str, object] = {
    "MCP": SAIL,
    "OpenAI": {"type": "function", "function": {"name": "sail", "description": "Sail to a port", "parameters": SCHEMA}},
    "schema": {**SCHEMA, "title": "sail", "description": "Sail to a port"},
    "no schema": {"name": "sail"},
    "unusable": {"name": "sail", "inputSchema": {"type": "ship"}},
}
ARGUMENTS: tuple[object, ...] = (
    {"port": "Porto"},
    {"port": "porto"},
    {},
    [],
    '{"port": "Porto"}',
    '{"port": ',
    float("nan"),
    None,
)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("arguments", ARGUMENTS, ids=repr)
def test_a_handle_gets_the_report_of_its_definition(shape: str, arguments: object) -> None:
    definition = SHAPES[shape]
    handle = toolvet.tool(definition)
    for unchecked in ("refuse", "pass"):
        mine = check_arguments(handle, arguments, unchecked=unchecked, trace="7")
        other = check_arguments(definition, arguments, unchecked=unchecked, trace="7")
        assert (mine.to_dict(), mine.to_text(), repr(mine)) == (other.to_dict(), other.to_text(), repr(other))
        assert pickle.loads(pickle.dumps(mine)).to_dict() == other.to_dict()  # noqa: S301 - ours


@pytest.mark.parametrize("result", [{"content": [], "structuredContent": {}}, {"isError": True, "content": []}])
def test_a_handle_gets_the_verdict_of_its_definition(result: dict[str, Any]) -> None:
    handle = toolvet.tool(SAIL)
    assert check_result(handle, {}, result).to_dict() == check_result(SAIL, {}, result).to_dict()
    assert extract_metadata(handle, result) == extract_metadata(SAIL, result)


def test_a_conversation_takes_handles() -> None:
    call = {"id": "1", "type": "function", "function": {"name": "sail", "arguments": '{"port": 1}'}}
    messages = [{"role": "user", "content": "Sail!"}, {"role": "assistant", "content": None, "tool_calls": [call]}]
    mine, other = (check_conversation(messages, tools=[each]) for each in (toolvet.tool(SAIL), SAIL))
    assert mine.to_dict() == other.to_dict()
    assert mine.turns[0].calls[0].failed


def test_a_handle_has_the_parts_of_the_definition() -> None:
    handle = toolvet.tool(SAIL)
    assert (handle.name, handle.description) == ("sail", "Sail to a port")
    assert (handle.input_schema, handle.output_schema) == (SCHEMA, OUTPUT)
    assert toolvet.tool(handle) is handle
    assert pickle.loads(pickle.dumps(handle)).input_schema == SCHEMA  # noqa: S301 - ours


def test_what_is_no_tool_gets_no_handle() -> None:
    with pytest.raises(toolvet.ToolShapeError, match="not a tool definition"):
        toolvet.tool({"tools": [SAIL]})


def test_a_check_of_a_handle_neither_reads_the_tool_nor_looks_for_its_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    handle = toolvet.tool(SAIL)
    seen: list[object] = []

    def watch(home: object, name: str) -> None:
        own: Any = getattr(home, name)

        def watched(value: object) -> object:
            seen.append(value)
            return own(value)

        monkeypatch.setattr(home, name, watched)

    watch(compilation, "_marshalled")
    watch(compilation, "_compiled_by_text")
    watch(view, "_read")
    assert check_arguments(handle, {"port": "Porto"}).valid
    assert seen == []
    # The definition itself costs one key, and no walk through it, once it is known.
    assert check_arguments(SAIL, {"port": "Porto"}).valid
    assert seen == [SCHEMA]
