"""Tools that an assessment calls unasked: every row of the table's proof, and the rules about annotations."""

from pathlib import Path

import msgspec
import pytest

from toolvet.assess.rules import ToolDefinition, tool_definition
from toolvet.core.tool_rules.consent import (
    ConsentProof,
    _words,
    habits_of,
    only_computes,
    why_not_called,
    writing_parameters,
)

MORE = msgspec.toml.decode(Path(__file__).with_name("disguised.toml").read_bytes(), type=ConsentProof)


def _tool(row: str) -> tuple[ToolDefinition, str]:
    name, description, parameters, word = row.split("|")
    properties: dict[str, object] = {}
    required: list[str] = []
    for each in filter(None, parameters.replace(",", "\0").split("\0") if "=" not in parameters else [parameters]):
        key, mark, rest = each.partition("=") if "=" in each else each.partition(":")
        if not key.endswith("?"):
            required.append(key)
        key = key.removesuffix("?")
        properties[key] = {"type": "string", "enum": rest.split(",")} if mark == "=" else {"type": rest}
    schema = {"type": "object", "properties": properties, "required": required}
    return tool_definition({"name": name, "description": description, "inputSchema": schema}), word


@pytest.mark.parametrize("row", [*_words().proof.hits, *MORE.hits])
def test_what_may_change_something_is_skipped_and_the_reason_quotes_it(row: str) -> None:
    tool, word = _tool(row)
    reason = why_not_called(tool, habits_of([tool]))
    assert reason is not None
    assert word in reason


@pytest.mark.parametrize("row", [*_words().proof.misses, *MORE.misses])
def test_what_plainly_reads_is_called(row: str) -> None:
    tool, _ = _tool(row)
    assert why_not_called(tool, habits_of([tool])) is None


def _annotated(name: str, **annotations: object) -> ToolDefinition:
    return tool_definition({"name": name, "inputSchema": {"type": "object"}, "annotations": annotations})


def test_read_only_is_believed_unless_something_contradicts_it() -> None:
    tools = [_annotated("summon_report", readOnlyHint=True), _annotated("delete_report", readOnlyHint=True)]
    habits = habits_of(tools)
    assert why_not_called(tools[0], habits) is None
    assert why_not_called(tools[1], habits) == "it says readOnlyHint: true, but its name says 'delete'"


def test_not_read_only_is_skipped_even_where_nothing_is_destroyed() -> None:
    tool = _annotated("get_report", readOnlyHint=False, destructiveHint=False)
    assert why_not_called(tool, habits_of([tool])) == "its annotations say readOnlyHint: false"


def test_a_tool_without_annotations_counts_as_a_writer_beside_tools_that_have_them() -> None:
    plain, marked = _annotated("get_report"), _annotated("list_reports", readOnlyHint=True)
    assert why_not_called(plain, habits_of([plain])) is None
    assert "no readOnlyHint" in str(why_not_called(plain, habits_of([plain, marked])))


def test_several_words_that_all_names_share_are_no_verb_and_what_all_tools_do_is_none_of_them() -> None:
    recipes = [_annotated(f"mcp_cook_{name}") for name in ("getAllRecipes", "listCategories", "saveMenu")]
    assert ("mcp", "cook") in habits_of(recipes).prefixes
    assert [why_not_called(tool, habits_of(recipes)) is None for tool in recipes] == [True, True, False]
    for verb in ("purge", "rotate", "generate", "list"):
        assert habits_of([_annotated(f"{verb}_{name}") for name in ("list", "status", "info")]).prefixes == frozenset()
    assert habits_of(recipes[:2]).prefixes == frozenset()


def test_words_that_three_names_share_say_nothing_whatever_the_others_are_called() -> None:
    names = ("pantry_list", "pantry_add", "pantry_remove", "cook", "box_read_file", "box_write", "box_stop", "meal_get")
    tools = [_annotated(name) for name in names]
    called = [tool.name for tool in tools if why_not_called(tool, habits_of(tools)) is None]
    assert called == ["pantry_list", "box_read_file"]
    plots = [
        tool_definition(
            {"name": f"plot_{what}", "description": "Plot what was found.", "inputSchema": {"type": "object"}}
        )
        for what in ("search", "list", "tree")
    ]
    assert all(why_not_called(tool, habits_of(plots)) for tool in plots)


def test_members_of_a_structure_count_as_parameters_behind_a_reference_too() -> None:
    inner = {
        "type": "object",
        "properties": {"options": {"type": "object", "properties": {"script": {"type": "string"}}}},
    }
    schema = {"type": "object", "properties": {"request": {"$ref": "#/$defs/Request"}}, "$defs": {"Request": inner}}
    tool = tool_definition({"name": "get_report", "inputSchema": schema})
    assert why_not_called(tool, habits_of([tool])) == "its parameter 'request.options.script' carries a program to run"


@pytest.mark.parametrize(
    ("row", "computes"),
    [
        ("parse_cidr|Take a network apart|cidr:string", True),
        ("generate_uuid|Random ones|", True),
        ("generate_qr|A code for a text|text:string", True),
        ("normalize_text|Brings it in order|text:string", True),
        ("base64_encode|Encodes it|text:string", True),
        ("format_disk|Formats it|device:string", False),
        ("format_partition|Formats it|partition:string", False),
        ("build_version|Builds it|version:string", False),
        ("generate_password|For a user|username:string", False),
        ("generate_id|Saves an id|kind:string", False),
        ("parse_url|Parses it|url:string,output_file:string", False),
        ("parse_and_import|Parses text|text:string", False),
        ("delete_text|Deletes it|text:string", False),
        ("scrub|Scrubs it|text:string", False),
    ],
)
def test_an_included_tool_computes_if_its_name_says_of_what_and_nothing_speaks_against_it(
    row: str, *, computes: bool
) -> None:
    tool, _ = _tool(f"{row}|")
    assert only_computes(tool, habits_of([tool])) is computes


def test_a_word_that_all_names_share_is_no_verb() -> None:
    tools = [_annotated(f"git_{verb}_commit") for verb in ("show", "list", "make")]
    assert [why_not_called(tool, habits_of(tools)) is None for tool in tools] == [True, True, False]


def test_optional_places_to_write_are_known_and_required_ones_are_left_to_the_rule() -> None:
    properties = {name: {"type": "string"} for name in ("query", "outputFile", "filename", "save_to", "format")}
    tool = tool_definition(
        {"name": "search", "inputSchema": {"type": "object", "properties": properties, "required": ["query"]}}
    )
    assert writing_parameters(tool) == ("outputFile", "filename", "save_to")
