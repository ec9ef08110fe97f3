"""The calls sent: where values come from, and that valid scenarios are valid and error cases break one thing."""

import json
from pathlib import Path
from typing import cast

import pytest
from tests.labelled import DATA

from toolvet.assess.folder import Folder, list_folder
from toolvet.assess.harvest import Harvest
from toolvet.assess.rules import ObservedCall, Outcome, ToolDefinition, tool_definition
from toolvet.assess.scenarios import plan_calls
from toolvet.assess.scenarios.error_case import UNKNOWN
from toolvet.assess.values import Values
from toolvet.core.checks.result import check_result
from toolvet.core.schema import compiled

SCHEMA = {
    "type": "object",
    "properties": {
        "book_id": {"type": "string"},
        "copies": {"type": "integer", "minimum": 1, "maximum": 9},
        "note": {"type": "string", "maxLength": 40},
        "format": {"enum": ["paper", "audio"]},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
    },
    "required": ["book_id", "copies"],
}


def tool(schema: object = SCHEMA) -> ToolDefinition:
    return tool_definition({"name": "reserve", "inputSchema": schema})


def harvest_of(**structured: object) -> Harvest:
    listing = tool_definition({"name": "list_books", "inputSchema": {"type": "object"}})
    result = {"content": [{"type": "text", "text": "ok"}], "structuredContent": structured}
    verdict = check_result(listing.raw, {}, result)
    harvest = Harvest()
    harvest.gather([ObservedCall(tool=listing, arguments={}, outcome=Outcome.RESULT, result=result, verdict=verdict)])
    return harvest


BOOKS = {"books": [{"id": "b-17", "title": "Emma"}]}


# ── where values come from ──


def test_a_fixture_is_taken_as_it_is() -> None:
    values = Values(tool(), harvest_of(**BOOKS), {"book_id": "mine", "copies": 2, "note": "n"})
    assert values.all_properties().arguments == {"book_id": "mine", "copies": 2, "note": "n"}
    assert values.required_only().arguments == {"book_id": "mine", "copies": 2}


def test_a_known_value_beats_an_earlier_result() -> None:
    sample = Values(tool(), harvest_of(**BOOKS), known={"book_id": "known"}).required_only()
    assert sample.arguments["book_id"] == "known"
    assert "settings (book_id)" in sample.origin


def test_an_earlier_result_beats_the_generator() -> None:
    sample = Values(tool(), harvest_of(**BOOKS)).required_only()
    assert sample.arguments["book_id"] == "b-17"
    assert "earlier result (book_id)" in sample.origin


def test_the_schemas_own_example_beats_an_earlier_result() -> None:
    schema = {
        "type": "object",
        "properties": {"book_id": {"type": "string", "examples": ["b-1"]}},
        "required": ["book_id"],
    }
    assert Values(tool(schema), harvest_of(**BOOKS)).required_only().arguments == {"book_id": "b-1"}


def test_an_earlier_result_that_the_schema_forbids_is_not_used() -> None:
    schema = {
        "type": "object",
        "properties": {"book_id": {"type": "string", "pattern": "^[0-9]{4}$"}},
        "required": ["book_id"],
    }
    assert Values(tool(schema), harvest_of(**BOOKS)).required_only().arguments["book_id"] != "b-17"


INNER = {
    "type": "object",
    "properties": {"path": {"type": "string", "description": "Relative to the root."}, "book_id": {"type": "string"}},
    "required": ["path", "book_id"],
}


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        (INNER, {"path": "a.txt", "book_id": "b-17"}),
        ({"$ref": "#/$defs/Inner"}, {"path": "a.txt", "book_id": "b-17"}),
        ({"type": "array", "items": INNER, "minItems": 1}, [{"path": "a.txt", "book_id": "b-17"}]),
        (
            {"type": "object", "properties": {"deep": {"$ref": "#/$defs/Inner"}}, "required": ["deep"]},
            {"deep": {"path": "a.txt", "book_id": "b-17"}},
        ),
    ],
)
def test_the_members_of_a_structure_get_better_values_too(declared: object, expected: object) -> None:
    schema = {
        "type": "object",
        "properties": {"request": declared},
        "required": ["request"],
        "$defs": {"Inner": INNER},
    }
    sample = Values(tool(schema), harvest_of(**BOOKS), folder=Folder("/data", ("a.txt",))).required_only()
    assert sample.arguments == {"request": expected}


@pytest.mark.parametrize(
    ("description", "more", "count"),
    [
        ("The points; at least four items.", {}, 4),
        ("Three or more values.", {}, 3),
        ("At least four items.", {"minItems": 2}, 4),
        # The schema does not allow as many.
        ("At least four items.", {"maxItems": 3}, 1),
        ("At least four items.", {"uniqueItems": True}, 4),
        ("Four items are usual.", {}, 1),
        ("At least one of them must be set.", {}, 1),
    ],
)
def test_a_list_has_as_many_items_as_its_description_asks_for(
    description: str, more: dict[str, object], count: int
) -> None:
    declared = {"type": "array", "items": {"type": "number"}, "description": description, **more}
    schema = {"type": "object", "properties": {"points": declared}, "required": ["points"]}
    arguments = Values(tool(schema), Harvest()).required_only().arguments
    assert len(cast("list[object]", arguments["points"])) == count


@pytest.mark.parametrize(("name", "expected"), [("function", "total"), ("symbol_name", "total"), ("place", "London")])
def test_a_function_is_one_of_the_code_in_the_folder(tmp_path: Path, name: str, expected: str) -> None:
    (tmp_path / "notes.txt").write_text("def nothing", encoding="utf-8")
    (tmp_path / "orders.py").write_text("LIMIT = 3\n\ndef total(rows):\n    return sum(rows)\n", encoding="utf-8")
    schema = {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
    folder = list_folder(str(tmp_path))
    assert Values(tool(schema), harvest_of(), folder=folder).required_only().arguments == {name: expected}


def test_a_query_asks_for_a_table_that_there_is() -> None:
    schema = {"type": "object", "properties": {"sql": {"type": "string"}}, "required": ["sql"]}
    assert Values(tool(schema), harvest_of(tables=["orders"])).required_only().arguments == {
        "sql": "SELECT * FROM orders"
    }
    told = {"type": "object", "properties": {"sql": {"type": "string", "description": "SQL, e.g. `SELECT`, `WITH`"}}}
    assert Values(tool({**told, "required": ["sql"]}), harvest_of(tables=["orders"])).required_only().arguments == {
        "sql": "SELECT * FROM orders"
    }
    odd = Values(tool(schema), harvest_of(tables=["a; DROP TABLE b"])).required_only()
    assert odd.arguments == {"sql": "SELECT 1"}


@pytest.mark.parametrize(
    ("name", "parameter", "expected"),
    [
        ("json_format", "data", '{"key": "value"}'),
        ("cron_parse", "expression", "0 9 * * 1"),
        ("base64_decode", "data", "SGVsbG8="),
        ("jwt_decode", "token", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"),
        ("hash_text", "text", None),
        ("json_search", "query", None),
    ],
)
def test_what_a_tool_works_on_is_of_the_kind_that_its_name_says(
    name: str, parameter: str, expected: str | None
) -> None:
    schema = {"type": "object", "properties": {parameter: {"type": "string"}}, "required": [parameter]}
    plain = Values(tool(schema), Harvest()).required_only().arguments[parameter]
    definition = tool_definition({"name": name, "inputSchema": schema})
    assert Values(definition, Harvest()).required_only().arguments[parameter] == (expected or plain)


def test_a_file_name_that_is_described_as_one_is_not_a_title() -> None:
    schema = {
        "type": "object",
        "properties": {"domain": {"type": "string", "description": "Domain config filename"}},
        "required": ["domain"],
    }
    listed = harvest_of(domains=[{"name": "A start-up", "filename": "startup.json"}])
    assert Values(tool(schema), listed).required_only().arguments == {"domain": "startup.json"}
    unnamed = harvest_of(domains=[{"name": "A start-up"}])
    assert Values(tool(schema), unnamed).required_only().arguments == {"domain": "A start-up"}


# ── what is planned ──


def test_all_five_categories_are_planned_in_order() -> None:
    categories = list(dict.fromkeys(plan.category for plan in plan_calls(Values(tool(), Harvest()), 0)))
    assert categories == ["progressive", "happy_path", "edge_case", "boundary", "error_case"]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_valid_scenarios_are_valid_and_error_cases_break_exactly_one_keyword(seed: int) -> None:
    schema = compiled(SCHEMA)
    for plan in plan_calls(Values(tool(), harvest_of(**BOOKS)), seed):
        broken = [violation.keyword for violation in schema.violations(plan.arguments)]
        expected = [plan.intended.keyword] if plan.intended and plan.intended.declared else []
        assert broken == expected, plan.name


def test_there_is_an_error_case_for_each_kind_of_violation_and_for_an_unknown_argument() -> None:
    plans = list(plan_calls(Values(tool(), Harvest()), 0))
    assert {plan.intended.keyword for plan in plans if plan.intended} == {
        "required", "type", "minimum", "maximum", "maxLength", "enum", "maxItems", "additionalProperties",
    }  # fmt: skip
    assert [plan.arguments[UNKNOWN] for plan in plans if UNKNOWN in plan.arguments] == ["toolvet"]


def test_error_cases_are_made_from_the_good_call() -> None:
    for plan in plan_calls(Values(tool(), harvest_of(**BOOKS)), 0):
        if plan.intended and plan.intended.keyword in {"minimum", "maximum", "enum"}:
            assert plan.arguments["book_id"] == "b-17", plan.name


def test_declared_bounds_are_met_exactly_and_just_inside() -> None:
    boundary = [plan for plan in plan_calls(Values(tool(), Harvest()), 0) if plan.category == "boundary"]
    assert {plan.arguments["copies"] for plan in boundary} >= {1, 2, 8, 9}


def test_undeclared_bounds_are_not_stretched() -> None:
    schema = {"type": "object", "properties": {"seconds": {"type": "number", "default": 2}}}
    sent = [
        plan.arguments.get("seconds") for plan in plan_calls(Values(tool(schema), Harvest()), 0) if not plan.intended
    ]
    assert {value for value in sent if isinstance(value, int | float)} == {2}


def test_the_same_seed_plans_the_same_and_another_looks_elsewhere() -> None:
    first, again, other = (list(plan_calls(Values(tool(), Harvest()), seed)) for seed in (5, 5, 6))
    assert first == again
    assert [plan.arguments for plan in first] != [plan.arguments for plan in other]


@pytest.mark.labelled
def test_the_schemas_of_real_tools_give_plans_that_hold_what_they_say() -> None:
    for line in (DATA / "tool_schema.jsonl").read_text(encoding="utf-8").splitlines():
        schema = json.loads(line)["schema"]
        if not isinstance(schema, dict) or schema.get("type") != "object":
            continue
        for plan in plan_calls(Values(tool(schema), Harvest()), 0):
            broken = [violation.keyword for violation in compiled(schema).violations(plan.arguments)]
            assert broken == ([plan.intended.keyword] if plan.intended and plan.intended.declared else []), plan
