"""The reports of `check_arguments`, and that a reader without the schema can fix a call from them."""

import json
from typing import Any

import jsonschema_rs
import pytest

from toolvet import Issue, check_arguments, valid_example
from toolvet.core.checks.arguments.wording import wording
from toolvet.core.schema.violation import _OWN_NAMES, ENGINE_FAILURES

USER = {
    "name": "create-account",
    "description": "Open an account",
    "inputSchema": {
        "type": "object",
        "properties": {
            "login": {"type": "string", "minLength": 3, "maxLength": 20, "description": "Who signs in"},
            "mail": {"type": "string", "format": "email"},
            "age": {"type": "integer", "minimum": 16, "maximum": 130},
            "plan": {"type": "string", "enum": ["free", "team", "company"]},
            "address": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "zip": {"type": "string", "pattern": "^[0-9]{5}$"}},
                "required": ["city"],
            },
            "tags": {"type": "array", "items": {"type": "object", "properties": {"id": {"type": "integer"}}}},
        },
        "required": ["login", "plan"],
    },
}


def tool(properties: dict[str, Any], **rest: Any) -> dict[str, object]:
    return {"name": "t", "inputSchema": {"type": "object", "properties": properties, **rest}}


def only(schema: Any, value: object) -> Issue:
    """The one issue of a value at `v`."""
    (issue,) = check_arguments(tool({"v": schema}), {"v": value}).issues
    return issue


def test_a_valid_call_has_no_issues_and_no_suggestions() -> None:
    report = check_arguments(USER, {"login": "ada", "plan": "free"})
    assert report.valid
    assert report.issues == ()
    assert report.suggestions == ()
    assert report.repair is None
    assert report.unchecked is None
    assert report.to_dict() == {"valid": True}
    assert report.to_text() == "✅ Tool 'create-account' received valid arguments."


def test_every_issue_names_its_place_in_two_notations() -> None:
    report = check_arguments(
        USER, {"login": "ada", "plan": "free", "tags": [{"id": 1}, {"id": "x"}], "address": {"zip": "1"}}
    )
    assert [(issue.field, issue.pointer) for issue in report.issues] == [
        ("tags.1.id", "/tags/1/id"),
        ("address.city", "/address/city"),
        ("address.zip", "/address/zip"),
    ]


@pytest.mark.parametrize(
    ("schema", "value", "problem", "expected", "fix"),
    [
        ({"type": "integer"}, "x", "Expected integer, received string", "integer", "Provide an integer."),
        ({"type": "integer"}, 1.5, "Expected integer, received float", "integer", "Provide an integer."),
        ({"type": "string"}, None, "Expected string, received null", "string", "Provide a string."),
        ({"type": "boolean"}, 1, "Expected boolean, received number", "boolean", "Provide a boolean (true or false)."),
        ({"maximum": 5}, 6, "Number must be at most 5", "maximum 5", "Provide a number <= 5."),
        ({"exclusiveMaximum": 5}, 5, "Number must be less than 5", "less than 5", "Provide a number < 5."),
        (
            {"type": "number", "multipleOf": 0.5, "minimum": 1},
            1.2,
            "Number must be a multiple of 0.5",
            "multiple of 0.5",
            "Provide a number >= 1 and multiple of 0.5.",
        ),
        (
            {"minLength": 1},
            "",
            "String must be at least 1 character",
            "minimum length 1",
            "Provide a string with at least 1 character.",
        ),
        (
            {"maxItems": 1, "type": "array"},
            [1, 2],
            "Array must have at most 1 item",
            "maximum 1 item",
            "Provide an array with at most 1 item.",
        ),
        ({"const": {"a": 1}}, 2, "Invalid value: only one value is allowed", '{"a":1}', 'Use the value {"a":1}.'),
        (
            {"not": {"type": "string"}},
            "x",
            "Value is not allowed",
            "not a string",
            "Provide a value that is not a string.",
        ),
        (False, 1, "Not allowed here", "no value", "Remove 'v'."),
        (
            {"anyOf": [{"type": "integer", "minimum": 1}, {"const": "auto"}]},
            True,
            "Expected integer or 'auto', received boolean",
            "integer or 'auto'",
            'Provide an integer >= 1 or the value "auto".',
        ),
        (
            {"type": "object", "minProperties": 2, "properties": {"a": {}, "b": {}}},
            {"a": 1},
            "Object must have at least 2 fields",
            "minimum 2 fields",
            "Add fields until there are at least 2 fields; known fields: a, b.",
        ),
        (
            {"type": "array", "contains": {"type": "integer"}},
            ["x"],
            "Array holds no item of the kind that it must contain",
            "at least 1 item that is an integer",
            "Add an item that is an integer.",
        ),
    ],
)
def test_each_kind_of_mistake_is_reported_in_its_words(
    schema: Any, value: object, problem: str, expected: str, fix: str
) -> None:
    issue = only(schema, value)
    assert (issue.problem, issue.expected, issue.fix) == (problem, expected, fix)


def test_no_keyword_that_a_violation_can_have_is_without_wording() -> None:
    kinds = {name: getattr(jsonschema_rs.ValidationErrorKind, name) for name in dir(jsonschema_rs.ValidationErrorKind)}
    spelled = {"Constant": "const", "OneOfMultipleValid": "oneOf", "OneOfNotValid": "oneOf"}
    # Referencing is a problem of the schema, and custom keywords are not defined here.
    never = {kind.__name__ for kind in ENGINE_FAILURES} | {"Custom", "Referencing"}
    keywords = {
        spelled.get(name, name[0].lower() + name[1:])
        for name in kinds
        if not name.startswith("_") and name[0].isupper() and name not in never
    }
    missing = (keywords | _OWN_NAMES | {"unexplained", "json", "other"}) - set(wording().keyword)
    assert not missing


def test_every_kind_of_mistake_has_its_suggestion_and_every_suggestion_a_kind() -> None:
    kinds = {row.kind for row in wording().keyword.values()}
    assert kinds == set(wording().suggestion) - {"general"}


def test_a_close_value_of_a_list_is_offered_and_a_far_one_is_not() -> None:
    listed = {"enum": ["celsius", "fahrenheit", "kelvin", 5]}
    assert only(listed, "celcius").did_you_mean == ("celsius",)
    assert only(listed, "CELSIUS").did_you_mean == ("celsius",)
    assert only(listed, "5").did_you_mean == (5,)
    assert only(listed, "warm").did_you_mean == ()


def test_a_misspelt_key_is_reported_with_the_right_one() -> None:
    report = check_arguments(tool({"user_name": {"type": "string"}}, additionalProperties=False), {"userName": "x"})
    (issue,) = report.issues
    assert issue.fix == "Rename 'userName' to 'user_name', or remove it; allowed fields: user_name."
    assert issue.did_you_mean == ("user_name",)
    assert issue.to_dict()["did_you_mean"] == ["user_name"]


def test_a_missing_key_that_was_sent_under_another_name_is_a_rename() -> None:
    report = check_arguments(tool({"user_name": {"type": "string"}}, required=["user_name"]), {"userName": "x"})
    assert report.issues[0].fix == "Rename 'userName' to 'user_name', or add 'user_name': provide a string."


def test_a_number_between_multiples_is_reported_with_both_neighbours_that_are_legal() -> None:
    assert only({"type": "integer", "multipleOf": 5}, 12).did_you_mean == (10, 15)
    assert only({"type": "integer", "multipleOf": 5, "minimum": 12}, 13).did_you_mean == (15,)
    assert only({"multipleOf": 0.1}, 0.25).did_you_mean == (0.2, 0.3)


def test_equal_items_are_named() -> None:
    assert only({"uniqueItems": True}, ["a", "b", 1, 1.0]).problem == "Array holds equal items: items 2 and 3 are equal"


def test_a_format_and_a_pattern_come_with_an_example_that_fits() -> None:
    for schema in ({"type": "string", "format": "date-time"}, {"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"}):
        issue = only(schema, "nonsense")
        (example,) = issue.examples
        assert check_arguments(tool({"v": schema}), {"v": example}).valid


SHAPES = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": kind}, **{name: {"type": "number"} for name in names}},
            "required": ["kind", *names],
            "additionalProperties": False,
        }
        for kind, names in (("circle", ("radius",)), ("square", ("side",)), ("box", ("width", "height")))
    ]
}


@pytest.mark.parametrize(
    ("value", "places"),
    [
        ({"kind": "circle", "radius": "3"}, ["v.radius"]),
        ({"kind": "box", "width": 1}, ["v.height"]),
        ({"kind": "square", "radius": 1}, ["v.side", "v.radius"]),
        ({"kind": "circel", "radius": 1}, ["v.kind"]),
        ({"side": 1}, ["v.kind"]),
        ({}, ["v.kind"]),
    ],
)
def test_a_union_is_reported_for_the_form_that_was_intended(value: object, places: list[str]) -> None:
    report = check_arguments(tool({"v": SHAPES}), {"v": value})
    assert sorted(issue.field for issue in report.issues) == sorted(places)


def test_a_wrong_or_missing_discriminator_is_reported_with_all_its_values() -> None:
    wrong, missing = only(SHAPES, {"kind": "circel"}), only(SHAPES, {})
    assert wrong.did_you_mean == ("circle",)
    assert wrong.fix == 'Use one of these values: "circle", "square", "box"'
    assert missing.fix == 'Add \'kind\': use one of these values: "circle", "square", "box"'


def test_what_else_was_sent_shows_which_form_a_missing_discriminator_names() -> None:
    assert only(SHAPES, {"side": 1}).fix == "Add 'kind': use the value \"square\"."


def test_an_optional_value_is_reported_without_its_null() -> None:
    issue = only({"anyOf": [{"type": "string", "minLength": 5}, {"type": "null"}]}, "abc")
    assert issue.keyword == "minLength"
    assert issue.fix == "Provide a string with at least 5 characters or null."


def test_without_a_discriminator_the_form_with_the_fewest_errors_is_reported() -> None:
    forms = {
        "anyOf": [
            {
                "type": "object",
                "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                "required": ["a", "b"],
            },
            {
                "type": "object",
                "properties": {"c": {"type": "integer"}},
                "required": ["c"],
                "additionalProperties": False,
            },
        ]
    }
    assert [issue.field for issue in check_arguments(tool({"v": forms}), {"v": {"a": 1, "b": "x"}}).issues] == ["v.b"]


def test_alternatives_of_required_fields_are_one_issue() -> None:
    schema = {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b", "c"]}]}
    (issue,) = check_arguments({"name": "t", "inputSchema": schema}, {}).issues
    assert issue.fix == "Add 'a', or 'b' and 'c'."


def test_fields_that_exclude_each_other_are_named() -> None:
    schema = {"type": "object", "oneOf": [{"required": ["id"]}, {"required": ["name"]}]}
    (issue,) = check_arguments({"name": "t", "inputSchema": schema}, {"id": 1, "name": "x"}).issues
    assert issue.fix == "Keep only one of these and remove the others: 'id', or 'name'."


def test_what_only_holds_under_a_condition_is_reported_with_the_condition() -> None:
    schema = {
        "type": "object",
        "if": {"properties": {"kind": {"const": "card"}}, "required": ["kind"]},
        "then": {"required": ["number"]},
        "dependentRequired": {"street": ["city"]},
    }
    report = check_arguments({"name": "t", "inputSchema": schema}, {"kind": "card", "street": "x"})
    assert {issue.field: issue.problem for issue in report.issues} == {
        "number": 'Required because kind is "card"',
        "city": "Required because 'street' is sent",
    }


def test_references_and_embedded_resources_are_followed() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/small"}, "b": {"$ref": "other"}},
        "$defs": {
            "small": {"type": "integer", "maximum": 9},
            "x": {
                "$id": "other",
                "type": "object",
                "properties": {"q": {"$ref": "#/$defs/z"}},
                "$defs": {"z": {"type": "integer", "minimum": 3}},
            },
        },
    }
    report = check_arguments({"name": "t", "inputSchema": schema}, {"a": 10, "b": {"q": 1}})
    assert [issue.fix for issue in report.issues] == ["Provide an integer <= 9.", "Provide an integer >= 3."]


def test_the_schema_help_holds_nested_properties_items_and_forms() -> None:
    help_ = check_arguments(USER, {}).schema
    assert help_.description == "Open an account"
    assert help_.required == ("login", "plan")
    assert set(help_.properties) == {
        "login", "mail", "age", "plan", "address", "address.city", "address.zip", "tags", "tags.*.id",
    }  # fmt: skip
    assert help_.properties["login"].constraints == ("Min length: 3", "Max length: 20")
    forms = check_arguments(tool({"v": SHAPES}), {"v": 1}).schema.properties
    assert forms["v.kind"].constraints == ('Must be one of: "circle", "square", "box"',)


def test_a_recursive_schema_has_help_that_ends() -> None:
    schema = {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "children": {"type": "array", "items": {"$ref": "#"}}},
    }
    names = list(check_arguments({"name": "t", "inputSchema": schema}, {"id": "x"}).schema.properties)
    assert names[:2] == ["id", "children"]
    assert len(names) < 10


def test_the_example_is_valid_and_always_the_same() -> None:
    example = check_arguments(USER, {}).valid_example
    assert check_arguments(USER, example).valid
    assert example == check_arguments(USER, []).valid_example
    assert set(valid_example(USER["inputSchema"])) == set(example)  # type: ignore[call-overload]


def test_suggestions_follow_the_kinds_of_mistakes_in_one_order() -> None:
    report = check_arguments(USER, {"login": 1, "mail": "x", "age": 3})
    assert [each.split()[0] for each in report.suggestions] == ["Add", "Check", "Ensure", "Check", "Review"]
    assert report.suggestions[0] == "Add missing required fields: plan"


def test_the_json_form_is_the_documented_one() -> None:
    document = check_arguments(USER, {"login": "ab", "plan": "free"}).to_dict()
    error: Any = document["error"]
    assert document["valid"] is False
    assert list(error) == ["type", "summary", "issues", "schema", "suggestions", "valid_example"]
    assert error["type"] == "validation"
    (issue,) = error["issues"]
    assert (issue["field"], issue["received"], issue["expected"]) == ("login", "ab", "minimum length 3")
    assert error["schema"]["properties"]["age"]["constraints"] == ["Minimum: 16", "Maximum: 130"]
    assert error["schema"]["examples"] == [error["valid_example"]]


SECTIONS = ["## Issues Found:", "## Tool Schema:", "## Suggestions:", "## Valid Example:"]


def test_the_text_has_its_sections_in_the_documented_order() -> None:
    text = check_arguments(USER, {"login": "ab"}).to_text()
    places = [text.index(section) for section in SECTIONS]
    assert places == sorted(places)
    assert "- Received: (missing)" in text
    assert "**Required fields**: login, plan" in text


def test_a_text_within_a_limit_keeps_all_issues_and_says_what_is_left_out() -> None:
    report = check_arguments(USER, {"login": "ab", "mail": "x", "age": 1, "plan": "fee"})
    whole = report.to_text()
    previous = len(whole)
    for limit in range(len(whole), 450, -37):
        text = report.to_text(limit)
        assert len(text) <= limit
        assert all(f"**{issue.field}**" in text for issue in report.issues), limit
        assert limit >= previous or "(Left out to stay within" in text
    without_help = report.to_text(len(whole) - 1)
    assert "## Tool Schema:" not in without_help
    assert "## Valid Example:" in without_help
    assert "schema help" in without_help


def test_many_issues_in_a_small_limit_are_counted() -> None:
    properties = {f"field{number}": {"type": "integer"} for number in range(200)}
    report = check_arguments(tool(properties), dict.fromkeys(properties, "x"))
    text = report.to_text(500)
    assert len(text) <= 500
    assert "more issues" in text
    assert "200 validation error(s)" in text


def test_a_result_is_an_error_with_the_report_in_its_meta() -> None:
    report = check_arguments(USER, {})
    modern, legacy = report.to_result("modern"), report.to_result("legacy")
    assert modern["resultType"] == "complete"
    assert "resultType" not in legacy
    assert legacy["isError"] is True
    assert legacy["content"] == [{"type": "text", "text": report.to_text()}]
    assert legacy["_meta"] == {"dev.toolvet/arguments": report.to_dict()}
    json.dumps(modern)
    with pytest.raises(ValueError, match="valid"):
        check_arguments(USER, {"login": "ada", "plan": "free"}).to_result()


def test_a_corrected_call_follows_the_issues_with_its_steps() -> None:
    report = check_arguments(USER, {"login": "ada", "plan": "Free", "age": "30"})
    assert report.repair is not None
    assert report.repair.arguments == {"login": "ada", "plan": "free", "age": 30}
    text = report.to_text()
    assert text.index("## Issues Found:") < text.index("## Corrected Call:") < text.index("## Tool Schema:")
    assert '"age": 30' in text
    assert all(step in text for step in report.repair.steps)


def test_a_number_out_of_bounds_is_never_corrected() -> None:
    assert check_arguments(USER, {"login": "ada", "plan": "free", "age": 5}).repair is None
    assert check_arguments(USER, {"login": "ada", "plan": "Free", "age": 5}).repair is None


def test_a_corrected_call_with_a_secret_keeps_it_and_does_not_show_it() -> None:
    login = tool({"password": {"type": "string"}, "port": {"type": "integer"}})
    report = check_arguments(login, {"password": "hunter2", "port": "80"})
    assert report.repair is not None
    assert report.repair.arguments == {"password": "hunter2", "port": 80}
    assert "hunter2" not in report.to_text()
    assert "hunter2" not in json.dumps(report.to_dict())
    assert "keep the value that you sent" in report.to_text()


def test_text_that_is_json_counts_as_what_it_holds() -> None:
    assert check_arguments(USER, '{"login": "ada", "plan": "free"}').valid
    assert check_arguments(USER, b'{"login": "ada", "plan": "free"}').valid
    assert [issue.field for issue in check_arguments(USER, '{"login": "ada"}').issues] == ["plan"]


def test_malformed_json_is_one_issue_that_says_where_with_the_recovered_call() -> None:
    report = check_arguments(USER, "{'login': 'ada', 'plan': 'free',}")
    (issue,) = report.issues
    assert (issue.field, issue.keyword, issue.kind) == ("root", "json", "syntax")
    assert "line 1, column 2" in issue.problem
    assert report.repair is not None
    assert report.repair.arguments == {"login": "ada", "plan": "free"}


def test_a_string_where_a_string_is_legal_is_not_read_as_json() -> None:
    assert check_arguments({"name": "t", "inputSchema": {"type": "string"}}, '{"a": ').valid


def test_a_schema_that_cannot_be_used_lets_the_call_pass_and_says_why() -> None:
    report = check_arguments(tool({"a": {"type": "text"}}), {"a": 1})
    assert report.valid
    assert report.unchecked is not None
    assert "Not checked" in report.to_text()
    partly = check_arguments(tool({"a": {"type": "string", "pattern": "(["}}), {"a": "x"})
    assert partly.valid
    assert partly.unchecked is not None
    assert check_arguments({"name": "t"}, {}).unchecked == "the tool has no inputSchema"


def test_tools_are_mappings_or_objects_in_either_spelling() -> None:
    class Snake:
        name = "t"
        input_schema: object = {"type": "object", "required": ["a"]}

    class Camel:
        name = "t"
        inputSchema: object = Snake.input_schema  # noqa: N815 - the SDK's own name.

    class FastMcp:
        name = "t"
        parameters: object = Snake.input_schema

    for made in (Snake(), Camel(), FastMcp(), {"name": "t", "parameters": Snake.input_schema}):
        assert not check_arguments(made, {}).valid


def test_a_call_beyond_any_budget_passes_and_says_so() -> None:
    schema = {"type": "object", "anyOf": [{"properties": {"a": {"$ref": "#"}}}, {"properties": {"a": {"$ref": "#"}}}]}
    deep: dict[str, object] = {}
    for _ in range(40):
        deep = {"a": deep}
    report = check_arguments({"name": "t", "inputSchema": schema}, deep)
    assert report.valid
    assert report.unchecked is not None
    assert "no budget" in report.unchecked


def test_tools_of_the_official_sdk_and_of_fastmcp_are_read() -> None:
    types = pytest.importorskip("mcp.types")
    made = types.Tool(name="t", description="d", input_schema={"type": "object", "required": ["a"]})
    report = check_arguments(made, {})
    assert [issue.field for issue in report.issues] == ["a"]
    assert report.schema.description == "d"
    function_tool = pytest.importorskip("fastmcp.tools").FunctionTool

    def add(number: int) -> int:
        """Add one."""
        return number + 1

    assert [issue.field for issue in check_arguments(function_tool.from_function(add), {}).issues] == ["number"]


def test_examples_that_are_arrays_stand_in_an_array() -> None:
    tags = {"type": "array", "items": {"type": "string"}, "examples": [["a", "b"]]}
    schema = {"type": "object", "properties": {"tags": tags, "days": {"type": "integer"}}, "required": ["tags"]}
    text = check_arguments({"name": "label", "inputSchema": schema}, {}).to_text()
    assert 'Examples: [["a","b"]]' in text
    assert "Examples: 3" in text or "Examples: 7" in text
