"""No input makes `check_arguments` raise, hang, or reveal a secret."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st
from tests.examples import examples

from toolvet import ArgumentReport, check_arguments
from toolvet.core.checks.arguments.placeholders import NAME

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["", "password", "\ud800", "a/b", "~", "\x00", "{name}", "{", "2020-01-01", "true", "1"]),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["a", "b", "a/b", ""]), inner, max_size=4)
    ),
    max_leaves=12,
)
TYPES = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])


def keywords(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Schemas of all keywords, mostly legal ones."""
    name = st.sampled_from(["a", "b", "a/b", "", "{name}", "password"])
    named = st.dictionaries(name, inner, max_size=3)
    many = st.lists(inner, min_size=1, max_size=3)
    size = st.integers(0, 4)
    limit = st.integers(-3, 3) | st.floats(allow_nan=False, allow_infinity=False)
    return st.fixed_dictionaries(
        {},
        optional={
            "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
            "enum": st.lists(JSON, min_size=1, max_size=3),
            "const": JSON,
            "properties": named,
            "patternProperties": st.dictionaries(st.sampled_from(["^a", "b$", "(a+)+$"]), inner, max_size=2),
            "additionalProperties": inner | st.booleans(),
            "unevaluatedProperties": inner | st.booleans(),
            "propertyNames": inner,
            "required": st.lists(name, max_size=2, unique=True),
            "dependentRequired": st.dictionaries(name, st.lists(name, max_size=2, unique=True), max_size=2),
            "dependentSchemas": named,
            "minProperties": size,
            "maxProperties": size,
            "items": inner | st.booleans() | many,
            "prefixItems": many,
            "unevaluatedItems": inner | st.booleans(),
            "contains": inner,
            "minContains": size,
            "maxContains": size,
            "minItems": size,
            "maxItems": size,
            "uniqueItems": st.booleans(),
            "minimum": limit,
            "maximum": limit,
            "exclusiveMinimum": limit | st.booleans(),
            "exclusiveMaximum": limit,
            "multipleOf": st.sampled_from([0.01, 0.1, 1, 3, 1e-300, 1e300]),
            "minLength": size,
            "maxLength": size,
            "pattern": st.sampled_from(["^a", "(a+)+$", "(?=a)b", "([", "\\d{3}", "^{name}$"]),
            "format": st.sampled_from(["email", "date", "uuid", "uri", "regex", "unheard-of"]),
            "contentEncoding": st.just("base64"),
            "contentMediaType": st.just("application/json"),
            "allOf": many,
            "anyOf": many,
            "oneOf": many,
            "not": inner,
            "if": inner,
            "then": inner,
            "else": inner,
            "$ref": st.sampled_from(["#", "#/properties/a", "#/nowhere", "https://example.com/x.json"]),
            "default": JSON,
            "examples": st.lists(JSON, max_size=2),
            "description": st.text(max_size=10),
            "$schema": st.sampled_from(
                ["http://json-schema.org/draft-07/schema#", "http://json-schema.org/draft-04/schema#"]
            ),
        },
    )


SCHEMAS = st.recursive(st.booleans() | st.just({}) | keywords(st.just({})), keywords, max_leaves=6)


def whole(report: ArgumentReport) -> str:
    """Everything of a report, and what has to hold for each."""
    assert report.valid == (not report.issues)
    text = report.to_text()
    text.encode()
    written = json.dumps(report.to_dict())
    for limit in (0, 1, 40, 400):
        assert len(report.to_text(limit)) <= limit
    for issue in report.issues:
        assert issue.field
        assert issue.problem
        assert issue.fix
        assert NAME not in issue.problem + issue.fix + issue.expected
    assert report.summary
    assert report.valid or report.suggestions
    return text + written


@examples(100)
@given(schema=SCHEMAS, arguments=JSON)
def test_any_schema_with_any_arguments_gives_a_whole_report(schema: object, arguments: object) -> None:
    whole(check_arguments({"name": "t", "inputSchema": schema}, arguments))


@examples(150)
@given(schema=JSON, arguments=JSON)
def test_what_is_not_schema_lets_every_call_pass(schema: object, arguments: object) -> None:
    whole(check_arguments({"name": "t", "inputSchema": schema}, arguments))


def cyclic() -> object:
    value: dict[str, object] = {}
    value["a"] = [value]
    return value


def deep(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = {"a": value}
    return value


TOOL = {
    "name": "t",
    "inputSchema": {
        "type": "object",
        "properties": {"a": {"type": "integer", "minimum": 3}, "b": {"$ref": "#"}},
        "additionalProperties": False,
    },
}


@pytest.mark.parametrize(
    "arguments",
    [
        float("nan"),
        {"a": float("nan")},
        {"a": float("inf")},
        {"a": -(10**400)},
        {"a": "\ud800"},
        {"\ud800": 1},
        {1: 2},
        {None: 2},
        {"a": object()},
        {"a": {1, 2}},
        (1, 2),
        cyclic(),
        deep(10_000),
        {"a": "x" * 5_000_000},
        {"x" * 1_000_000: 1},
        {f"k{number}": number for number in range(3_000)},
        b"\xff\xfe",
        "{" * 100_000,
        '{"a": NaN}',
        '{"a": 1' + "0" * 5_000 + "}",
        "",
        "```json\n{",
    ],
    ids=lambda value: type(value).__name__,
)
def test_arguments_that_are_not_plain_json_are_reported_and_never_raise(arguments: object) -> None:
    report = check_arguments(TOOL, arguments)
    assert not report.valid
    assert len(whole(report)) < 20_000_000
    assert len(report.to_text()) < 100_000


@pytest.mark.parametrize("key", [None, 1, 1.5, True, (), b"a"], ids=repr)
def test_a_key_that_is_no_text_is_reported_where_branches_are_compared(key: object) -> None:
    branch = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    schema = {"type": "object", "anyOf": [branch, {**branch, "required": ["b"]}], "additionalProperties": False}
    report = check_arguments({"name": "t", "inputSchema": schema}, {key: 1})
    assert not report.valid
    assert report.to_text()


def test_a_whole_number_of_any_size_is_a_number() -> None:
    assert check_arguments(TOOL, {"a": 10**400}).valid


def nested_schema(levels: int) -> object:
    schema: object = {"type": "integer"}
    for _ in range(levels):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    return schema


def test_a_schema_with_a_depth_of_ten_thousand_is_answered() -> None:
    whole(check_arguments({"name": "t", "inputSchema": nested_schema(10_000)}, {"a": {}}))
    whole(check_arguments({"name": "t", "inputSchema": nested_schema(100)}, {"a": {}}))


def test_a_schema_of_five_megabytes_is_answered_with_a_short_text() -> None:
    members = {
        f"field_{number}": {"type": "string", "description": "x" * 400, "enum": ["a"]} for number in range(10_000)
    }
    schema = {"type": "object", "properties": members, "required": ["field_7"]}
    assert len(json.dumps(schema)) > 4_500_000
    report = check_arguments({"name": "t", "inputSchema": schema}, {"field_8": "b", "feild_9": 1})
    assert {issue.field for issue in report.issues} == {"field_7", "field_8"}
    assert len(report.to_text()) < 200_000
    assert report.schema.omitted > 9_000


def test_a_catastrophic_pattern_costs_no_catastrophe() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}
    report = check_arguments({"name": "t", "inputSchema": schema}, {"a": "a" * 50_000 + "!"})
    assert [issue.keyword for issue in report.issues] == ["pattern"]
    whole(report)
    look = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(?=(a+)+$)b"}}}
    whole(check_arguments({"name": "t", "inputSchema": look}, {"a": "a" * 5_000 + "!"}))


def test_a_remote_reference_is_not_fetched_and_lets_the_call_pass() -> None:
    report = check_arguments({"name": "t", "inputSchema": {"$ref": "https://example.com/a.json"}}, {"a": 1})
    assert report.valid
    assert report.unchecked is not None
    assert "never fetched" in report.unchecked


def test_a_tool_that_fails_when_it_is_looked_at_is_refused_and_of_a_peer_lets_the_call_pass() -> None:
    class Trap:
        def __getattr__(self, name: str) -> object:
            raise RuntimeError(name)

    for tool in (Trap(), None, {"name": 3, "inputSchema": None}):
        with pytest.raises(TypeError):
            check_arguments(tool, {})
        report = check_arguments(tool, {}, unchecked="pass")
        assert report.valid
        assert report.unchecked


SECRET_TOOL = {
    "name": "login",
    "inputSchema": {
        "type": "object",
        "properties": {
            "password": {"type": "string", "minLength": 20},
            "api_key": {"type": "integer"},
            "options": {"type": "array", "items": {"type": "object"}},
            "port": {"type": "integer"},
        },
        "required": ["user"],
        "additionalProperties": False,
    },
}


@pytest.mark.parametrize(
    "arguments",
    [
        {"password": "hunter2-secret"},
        {"api_key": "hunter2-secret"},
        {"options": [{"password": "hunter2-secret"}, 1]},
        {"options": {"token": "hunter2-secret"}},
        {"port": "80", "password": "hunter2-secret-that-is-long-enough"},
        {"auth_token": "hunter2-secret"},
        '{"password": "hunter2-secret", }',
        "{'password': 'hunter2-secret', 'port': 'x'}",
        [{"password": "hunter2-secret"}],
        {"password": ["hunter2-secret"]},
        {"password": {"a": "hunter2-secret"}},
    ],
)
def test_a_secret_is_in_no_form_of_the_report(arguments: object) -> None:
    assert "hunter2" not in whole(check_arguments(SECRET_TOOL, arguments))


def test_a_key_that_is_itself_a_secret_is_not_reported() -> None:
    key = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bC0eF3hI6"
    assert key not in whole(check_arguments(SECRET_TOOL, {key: 1}))


def test_an_overlong_value_is_cut() -> None:
    tool = {"name": "t", "inputSchema": {"type": "object", "properties": {"a": {"type": "integer"}}}}
    report = check_arguments(tool, {"a": "lorem " * 10_000})
    assert report.issues[0].received_text.endswith('(60000 characters)"')
    assert len(whole(report)) < 10_000
