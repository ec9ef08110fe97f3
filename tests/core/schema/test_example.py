import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import assume, given, strategies as st
from tests.examples import examples
from tests.labelled import DATA

from toolvet.core.schema import NoExampleFound, compiled, valid_example
from toolvet.core.schema.compilation import Judge
from toolvet.core.schema.demands import Demands
from toolvet.core.schema.document import Scope, Subschema
from toolvet.core.schema.generator import Exhausted, Generator, ValueLocation, Variation
from toolvet.errors import Unsatisfiable

SATISFIABLE: list[object] = [
    True,
    {},
    {"type": "null"},
    {"const": {"a": [1]}},
    {"enum": [None, "b", 3], "type": ["integer", "null"]},
    {"type": "integer", "minimum": 7, "maximum": 7},
    {"type": "integer", "exclusiveMinimum": 7, "exclusiveMaximum": 9},
    {"type": "integer", "minimum": 1.5},
    {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.001},
    {"type": "number", "minimum": 0.1, "multipleOf": 0.3},
    {"type": "integer", "multipleOf": 2.5, "minimum": 1},
    {"allOf": [{"multipleOf": 6}, {"multipleOf": 10}], "minimum": 31, "type": "integer"},
    {"type": "number", "minimum": 1e300},
    {"type": "string", "minLength": 120},
    {"type": "string", "maxLength": 1},
    {"type": "string", "maxLength": 0},
    {"type": "string", "pattern": "^[A-Z]{2}-\\d{4,6}$", "minLength": 9},
    {"type": "string", "pattern": "^(?=.*[A-Z])(?=.*\\d).{8,}$"},
    {"type": "string", "pattern": "^(?!foo)[a-z]{3}$"},
    {"type": "string", "pattern": "^(\\w+)@\\1$"},
    {"type": "string", "pattern": "^\\p{Lu}\\p{Ll}+$"},
    {"allOf": [{"pattern": "^a"}, {"pattern": "z$"}], "type": "string", "minLength": 4},
    {"type": "string", "format": "uri", "pattern": "^https://"},
    {"type": "string", "format": "email", "minLength": 40},
    {"type": "string", "format": "date", "not": {"const": "2025-01-15"}},
    {"type": "array", "minItems": 5, "uniqueItems": True, "items": {"type": "integer", "minimum": 0, "maximum": 4}},
    {"type": "array", "minItems": 2, "uniqueItems": True, "items": {"type": "boolean"}},
    {"type": "array", "minItems": 3, "uniqueItems": True, "items": {"type": "string", "maxLength": 1}},
    {"prefixItems": [{"type": "string"}, {"type": "null"}], "items": False, "minItems": 2, "type": "array"},
    {"type": "array", "contains": {"const": 5}, "minContains": 2, "items": {"type": "integer"}},
    {"type": "array", "contains": {"type": "string"}, "maxContains": 1, "minItems": 3},
    {"type": "array", "unevaluatedItems": False, "prefixItems": [{"type": "string"}]},
    {"type": "object", "minProperties": 3, "additionalProperties": {"type": "integer"}},
    {"type": "object", "minProperties": 2, "propertyNames": {"pattern": "^x-[a-z]+$"}},
    {
        "type": "object",
        "patternProperties": {"^n_": {"type": "integer"}},
        "additionalProperties": False,
        "minProperties": 2,
    },
    {"properties": {"a": {}, "b": {}, "c": {}}, "maxProperties": 2, "required": ["c"], "type": "object"},
    {"properties": {"a": True, "b": False}, "type": "object"},
    {"type": "object", "required": ["a"], "dependentRequired": {"a": ["b"], "b": ["c"]}},
    {"type": "object", "properties": {"a": {}}, "dependentSchemas": {"a": {"required": ["z"]}}},
    {"type": "object", "properties": {"a": {}, "b": {}}, "dependentSchemas": {"a": {"properties": {"b": False}}}},
    {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "properties": {"a": {}, "b": {}}, "type": "object"},
    {"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 2}]},
    {"anyOf": [False, {"type": "integer", "minimum": 3}]},
    {"type": "string", "not": {"enum": ["example", "text"]}},
    {"not": {"type": ["string", "object", "array"]}},
    {"type": "object", "properties": {"a": {}, "b": {}}, "not": {"required": ["a", "b"]}},
    {
        "type": "object",
        "properties": {"kind": {"enum": ["x", "y"]}, "n": {"type": "integer"}},
        "required": ["kind"],
        "if": {"properties": {"kind": {"const": "x"}}},
        "then": {"required": ["n"], "properties": {"n": {"minimum": 100}}},
        "else": {"properties": {"n": False}},
    },
    {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "unevaluatedProperties": False,
        "allOf": [{"properties": {"b": {}}}],
    },
    {"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}},
    {
        "$defs": {"n": {"anyOf": [{"required": ["k"], "properties": {"k": {"$ref": "#/$defs/n"}}}, {"type": "null"}]}},
        "$ref": "#/$defs/n",
    },
    {"$ref": "#thing", "$defs": {"t": {"$anchor": "thing", "type": "integer", "minimum": 4}}},
    {
        "$id": "https://example.com/a",
        "$ref": "b",
        "$defs": {"b": {"$id": "b", "$ref": "#/$defs/c", "$defs": {"c": {"const": 8}}}},
    },
    {"$dynamicRef": "#node", "$defs": {"n": {"$dynamicAnchor": "node", "type": "integer"}}},
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "items": [{"type": "string"}],
        "additionalItems": False,
        "type": "array",
    },
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"a": {"type": "null"}},
        "$ref": "#/definitions/a",
        "type": "string",
    },
    {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "required": ["a"],
        "dependencies": {"a": ["b"], "b": {"required": ["c"]}},
    },
    {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 5, "exclusiveMinimum": True, "type": "integer"},
    {"$ref": "https://json-schema.org/draft/2020-12/schema"},
]


@pytest.mark.parametrize("schema", SATISFIABLE, ids=json.dumps)
@pytest.mark.parametrize("required_only", [True, False])
def test_a_satisfiable_schema_gets_an_example(schema: object, required_only: bool) -> None:  # noqa: FBT001
    assert compiled(schema).problem is None
    assert compiled(schema).is_valid(valid_example(schema, required_only=required_only))


@pytest.mark.parametrize(
    "schema",
    [
        False,
        {"type": "string", "enum": [1, 2]},
        {"minimum": 5, "maximum": 4, "type": "number"},
        {"allOf": [{"type": "string"}, {"type": "integer"}]},
        {"type": "integer", "exclusiveMinimum": 1, "exclusiveMaximum": 2},
        {"type": "object", "required": ["a"], "properties": {"a": False}},
        {"type": "array", "minItems": 3, "maxItems": 2},
        {"not": {}},
        {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}},
    ],
    ids=json.dumps,
)
def test_a_schema_that_nothing_satisfies_is_called_unsatisfiable(schema: object) -> None:
    with pytest.raises(Unsatisfiable) as caught:
        valid_example(schema)
    assert not isinstance(caught.value, NoExampleFound)


@pytest.mark.parametrize(
    "schema", [{"type": "nope"}, {"type": "string", "minLength": 10**9}, {"$ref": "https://a.b/c"}]
)
def test_where_nothing_is_found_and_nothing_is_proven_the_error_says_so(schema: object) -> None:
    with pytest.raises(NoExampleFound):
        valid_example(schema)


def test_every_property_is_there_unless_only_the_required_ones_are_asked_for() -> None:
    schema = {
        "type": "object",
        "properties": {"query": {"type": "string"}, "limit": {"type": "integer"}, "deep": {"properties": {"city": {}}}},
        "required": ["query"],
    }
    assert valid_example(schema) == {"query": "hello world", "limit": 10, "deep": {"city": "London"}}
    assert valid_example(schema, required_only=True) == {"query": "hello world"}


def test_only_the_members_that_stand_in_the_way_are_left_out() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"const": 1}, "b": {"const": 2}, "c": {"const": 3}},
        "not": {"required": ["a", "b"], "properties": {"a": {"type": "integer"}}},
    }
    assert valid_example(schema) == {"a": 1, "c": 3}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string", "examples": ["own"], "default": "other"}, "own"),
        ({"type": "string", "default": "other"}, "other"),
        ({"type": "string", "default": 5, "maxLength": 3}, "ab"),
        ({"type": "integer", "examples": [99, 5], "maximum": 10}, 5),
        ({"enum": ["a", "b"], "default": "b"}, "b"),
        ({"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 4}]}, 4),
        ({"type": ["null", "boolean"]}, True),
        ({"type": "string", "format": "date"}, "2025-01-15"),
    ],
)
def test_the_schemas_own_values_come_first_where_they_are_valid(schema: object, value: object) -> None:
    assert valid_example(schema) == value


@pytest.mark.parametrize(
    ("name", "kind", "value"),
    [
        ("user_email", "string", "alice@example.com"),
        ("imageURL", "string", "https://example.com/image.png"),
        ("repo-path", "string", "/tmp/example"),  # noqa: S108 - an example of a path.
        ("sourceTimezone", "string", "Europe/London"),
        ("start_date", "string", "2025-01-15"),
        ("sql", "string", "SELECT 1"),
        ("latitude", "number", 52.52),
        ("maxResults", "integer", 10),
        ("port", "integer", 8080),
        ("branch", "string", "main"),
        ("frobnicate", "string", "example"),
    ],
)
def test_a_value_is_what_the_fields_name_suggests(name: str, kind: str, value: object) -> None:
    assert valid_example({"type": "object", "properties": {name: {"type": kind}}}) == {name: value}


def test_the_same_schema_always_gets_the_same_example() -> None:
    for schema in SATISFIABLE:
        assert json.dumps(valid_example(schema)) == json.dumps(valid_example(json.loads(json.dumps(schema))))


scalars = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("integer")},
        optional={
            "minimum": st.integers(-50, 50),
            "maximum": st.integers(-50, 50),
            "multipleOf": st.integers(1, 7),
            "not": st.fixed_dictionaries({"enum": st.lists(st.integers(-3, 3), min_size=1, max_size=3)}),
        },
    ),
    st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={
            "minLength": st.integers(0, 9),
            "maxLength": st.integers(0, 9),
            "pattern": st.sampled_from(["^[a-c]+$", "\\d", "^x?y*$", "(ab|cd){2}", "^[^a]"]),
        },
    ),
    st.fixed_dictionaries({"enum": st.lists(st.sampled_from([1, "a", None, True, [1]]), min_size=1, max_size=3)}),
    st.sampled_from([{"type": "boolean"}, {"type": "null"}, {"type": ["string", "null"]}, True, {}]),
)
field_names = st.sampled_from(["a", "b", "c"])


def containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(field_names, inner, max_size=3)},
            optional={
                "required": st.lists(field_names, unique=True, max_size=2),
                "additionalProperties": st.one_of(st.just(False), inner),
                "minProperties": st.integers(0, 3),
                "maxProperties": st.integers(0, 3),
                "dependentRequired": st.fixed_dictionaries({"a": st.just(["b"])}),
                "propertyNames": st.fixed_dictionaries({"maxLength": st.integers(0, 3)}),
            },
        ),
        st.fixed_dictionaries(
            {"type": st.just("array"), "items": inner},
            optional={
                "minItems": st.integers(0, 3),
                "maxItems": st.integers(0, 3),
                "uniqueItems": st.booleans(),
                "contains": inner,
                "prefixItems": st.lists(inner, min_size=1, max_size=2),
            },
        ),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"oneOf": st.lists(inner, min_size=1, max_size=3)}),
        st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"if": inner, "then": inner, "else": inner}),
    )


schemas = st.recursive(scalars, containers, max_leaves=6)


@examples(300)
@given(schemas, st.booleans())
def test_what_is_returned_satisfies_an_independent_validator(schema: Any, required_only: bool) -> None:  # noqa: FBT001
    try:
        value = valid_example(schema, required_only=required_only)
    except Unsatisfiable:
        assume(False)
        return
    jsonschema.Draft202012Validator(schema).validate(value)


@examples(100)
@given(schemas, st.one_of(st.integers(-9, 9), st.text("abcxy1", max_size=5), st.none(), st.just({}), st.just([])))
def test_a_schema_that_some_simple_value_satisfies_is_never_called_unsatisfiable(schema: Any, witness: object) -> None:
    assume(compiled(schema).is_valid(witness))
    assert compiled(schema).is_valid(valid_example(schema))


class CountingGenerator(Generator):
    """Counts how often a value is written."""

    written = 0

    def _write(self, demands: Demands, spot: ValueLocation, variation: Variation) -> object:
        self.written += 1
        return super()._write(demands, spot, variation)


ROW_OF_CHOICES = {
    "type": "integer",
    "maximum": -1,
    "allOf": [{"anyOf": [{"minimum": number}, {"minimum": number + 1}]} for number in range(12)],
}
# Each option of the inner object is tried at each of its places.
CONTAINS_ITSELF = {"properties": {"a": {"type": "object", "oneOf": [{"$dynamicRef": "#"}, True]}}, "type": "object"}


@pytest.mark.parametrize("schema", [ROW_OF_CHOICES, CONTAINS_ITSELF])
def test_the_steps_bound_how_often_options_are_written(schema: object) -> None:
    ready = compiled(schema)
    generator = CountingGenerator("all", Judge(ready), steps=1_000)
    with pytest.raises(Exhausted):
        generator.value([Subschema(ready.usable, Scope(ready.usable, ready.dialect))], ValueLocation())
    assert generator.written <= 1_000


def rows(name: str) -> list[Any]:
    text = (DATA / name).read_text(encoding="utf-8")
    return (
        list(json.loads(text).values())
        if name.endswith(".json")
        else [json.loads(line) for line in text.split("\n") if line]
    )


def share(found: list[object], *, required_only: bool) -> float:
    usable = [schema for schema in found if compiled(schema).problem is None]
    valid = 0
    for schema in usable:
        try:
            valid += compiled(schema).is_valid(valid_example(schema, required_only=required_only))
        except Unsatisfiable:
            continue
    return valid / len(usable)


@pytest.mark.labelled
@pytest.mark.parametrize("required_only", [True, False])
def test_real_tools_and_schemas_get_examples(required_only: bool) -> None:  # noqa: FBT001
    tools = [row["schema"] for row in rows("tool_schema.jsonl")]
    assert share(tools, required_only=required_only) == 1.0
    assert share(rows("schemastore_schemas.json"), required_only=required_only) >= 0.99


@pytest.mark.labelled
def test_every_schema_of_the_test_suite_with_a_valid_instance_gets_an_example() -> None:
    suite = [row for row in rows("schema_validation.jsonl") if row["dataset"] == "json_schema_test_suite"]
    satisfiable = [row["schema"] for row in suite if compiled(row["schema"]).is_valid(row["instance"])]
    assert share(satisfiable, required_only=False) == 1.0
    assert share(satisfiable, required_only=True) == 1.0
