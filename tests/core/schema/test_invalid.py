import json
from typing import Any

import pytest
from hypothesis import given, strategies as st
from tests.examples import examples

from toolvet.core.schema import boundary_examples, compiled, invalid_examples, unsatisfiable_parts, valid_example

BOOKING: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 3, "maxLength": 20},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
        "price": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.25},
        "sort": {"enum": ["asc", "desc"]},
        "day": {"type": "string", "format": "date"},
        "tags": {
            "type": "array",
            "items": {"type": "string", "pattern": "^[a-z]+$"},
            "minItems": 1,
            "maxItems": 3,
            "uniqueItems": True,
        },
        "guest": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    },
    "required": ["query", "limit"],
    "additionalProperties": False,
    "dependentRequired": {"price": ["sort"]},
}


def test_each_kind_of_violation_that_the_schema_can_express_is_told_in_a_few_words() -> None:
    told = [
        (example.keyword, example.pointer, example.property, example.detail) for example in invalid_examples(BOOKING)
    ]
    assert told == [
        ("required", "", "query", "missing 'query'"),
        ("required", "", "limit", "missing 'limit'"),
        ("dependentRequired", "", "sort", "missing 'sort', which another member requires"),
        ("additionalProperties", "", "unexpected", "unexpected member 'unexpected'"),
        ("type", "", None, "the value is a string, not an object"),
        ("minLength", "/query", None, "query has 2 characters, fewer than the minimum of 3"),
        ("maxLength", "/query", None, "query has 21 characters, more than the maximum of 20"),
        ("type", "/query", None, "query is an integer, not a string"),
        ("minimum", "/limit", None, "limit is 0, below the minimum of 1"),
        ("maximum", "/limit", None, "limit is 101, above the maximum of 100"),
        ("type", "/limit", None, "limit is a string, not an integer"),
        ("exclusiveMinimum", "/price", None, "price is 0, not above 0"),
        ("multipleOf", "/price", None, "price is 20.125, not a multiple of 0.25"),
        ("type", "/price", None, "price is a string, not a number"),
        ("enum", "/sort", None, "sort is 'not-one-of-these', none of 'asc', 'desc'"),
        ("format", "/day", None, "day is 'not a date', not in the format date"),
        ("type", "/day", None, "day is an integer, not a string"),
        ("minItems", "/tags", None, "tags has 0 items, fewer than the minimum of 1"),
        ("maxItems", "/tags", None, "tags has 4 items, more than the maximum of 3"),
        ("uniqueItems", "/tags", None, "tags holds the same item twice"),
        ("type", "/tags", None, "tags is a string, not an array"),
        ("required", "/guest", "name", "missing 'name'"),
        ("type", "/guest", None, "guest is a string, not an object"),
        ("anyOf", "/note", None, "note is 12345, which fits none of the alternatives"),
        ("pattern", "/tags/0", None, "tags[0] is 'not matching!', which does not match the pattern ^[a-z]+$"),
        ("type", "/tags/0", None, "tags[0] is an integer, not a string"),
        ("type", "/guest/name", None, "guest.name is an integer, not a string"),
    ]


@pytest.mark.parametrize(
    ("schema", "keyword", "pointer"),
    [
        ({"const": 5}, "const", ""),
        ({"type": "integer", "exclusiveMaximum": 5}, "exclusiveMaximum", ""),
        ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]}, "type", "/1"),
        ({"type": "array", "prefixItems": [{"type": "string"}], "items": False}, "items", ""),
        ({"type": "array", "contains": {"const": 5}}, "contains", ""),
        ({"type": "array", "contains": {"const": 5}, "maxContains": 2}, "maxContains", ""),
        ({"type": "array", "items": {"properties": {"a": {"minimum": 3, "type": "integer"}}}}, "minimum", "/0/a"),
        ({"type": "object", "minProperties": 1, "properties": {"a": {}}}, "minProperties", ""),
        ({"type": "object", "maxProperties": 1, "properties": {"a": {}}}, "maxProperties", ""),
        ({"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}}, "propertyNames", ""),
        ({"properties": {"a": {}}, "unevaluatedProperties": False}, "unevaluatedProperties", ""),
        ({"oneOf": [{"type": "integer"}, {"type": "number", "minimum": 2}]}, "oneOf", ""),
        ({"type": "string", "not": {"const": "x"}}, "not", ""),
        ({"not": {"required": ["a"]}, "type": "object"}, "not", ""),
        (
            {
                "type": "object",
                "properties": {"k": {"const": 1}},
                "if": {"required": ["k"]},
                "then": {"required": ["n"]},
            },
            "required",
            "",
        ),
        ({"additionalProperties": {"type": "integer"}, "type": "object"}, "type", "/example"),
        (
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "properties": {"a": {}},
                "dependencies": {"a": ["b"]},
            },
            "dependencies",
            "",
        ),
    ],
    ids=json.dumps,
)
def test_there_is_an_example_for_the_keyword(schema: object, keyword: str, pointer: str) -> None:
    assert (keyword, pointer) in [(example.keyword, example.pointer) for example in invalid_examples(schema)]


def test_a_schema_that_forbids_nothing_has_no_invalid_example() -> None:
    assert invalid_examples({}) == ()
    assert invalid_examples(True) == ()


@pytest.mark.parametrize("schema", [False, {"type": "nope"}, None, [], {"$ref": "https://a.b/c"}])
def test_a_schema_without_a_valid_example_has_no_others_either(schema: object) -> None:
    assert invalid_examples(schema) == ()
    assert boundary_examples(schema) == ()


def test_the_number_of_invalid_examples_is_capped_and_the_root_comes_first() -> None:
    properties = {f"p{number}": {"type": "object", "properties": {"deep": {"type": "string"}}} for number in range(60)}
    found = invalid_examples({"type": "object", "properties": properties, "required": list(properties)})
    assert len(found) == 40
    assert {example.pointer for example in found} == {""}


def test_each_bound_is_met_exactly_and_just_inside() -> None:
    told = [example.detail for example in boundary_examples(BOOKING)]
    assert told == [
        "query has 3 characters, the minimum",
        "query has 4 characters, just inside the minimum of 3",
        "query has 20 characters, the maximum",
        "query has 19 characters, just inside the maximum of 20",
        "limit is 1, the minimum",
        "limit is 2, just inside the minimum of 1",
        "limit is 100, the maximum",
        "limit is 99, just inside the maximum of 100",
        "price is 0.25, just inside the minimum of 0",
        "price is 0.75, a multiple of 0.25",
        "sort is 'asc'",
        "sort is 'desc'",
        "tags has 1 item, the minimum",
        "tags has 2 items, just inside the minimum of 1",
        "tags has 3 items, the maximum",
        "tags has 2 items, just inside the maximum of 3",
    ]


def test_a_bound_that_nobody_would_read_is_left_out() -> None:
    found = boundary_examples({"type": "string", "minLength": 1, "maxLength": 10_000_000})
    assert {example.keyword for example in found} == {"minLength"}


keywords = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["object", "string", "integer", "array", ["string", "null"]]),
        "properties": st.dictionaries(st.sampled_from("abc"), st.sampled_from([BOOKING["properties"]["limit"], {}])),
        "required": st.lists(st.sampled_from("abc"), unique=True),
        "additionalProperties": st.booleans(),
        "minimum": st.integers(-3, 3),
        "maximum": st.integers(-3, 9),
        "minLength": st.integers(0, 4),
        "maxLength": st.integers(0, 9),
        "minItems": st.integers(0, 3),
        "maxItems": st.integers(0, 4),
        "items": st.sampled_from([{"type": "string"}, {"enum": [1, 2, 3]}]),
        "uniqueItems": st.booleans(),
        "not": st.sampled_from([{"const": 1}, {"required": ["a"]}]),
        "oneOf": st.just([{"type": "integer"}, {"minimum": 2}]),
    },
)


@examples(150)
@given(keywords)
def test_an_invalid_example_breaks_exactly_the_keyword_it_names_and_a_boundary_example_none(schema: Any) -> None:
    ready = compiled(schema)
    places = set()
    for example in invalid_examples(schema):
        (violation,) = ready.violations(example.instance)
        assert violation.keyword == example.keyword
        places.add((example.keyword, example.pointer, example.property))
    assert len(places) == len(invalid_examples(schema))
    for boundary in boundary_examples(schema):
        assert ready.is_valid(boundary.instance)


def test_an_invalid_example_differs_from_the_valid_one_in_one_place() -> None:
    base = valid_example(BOOKING)
    assert isinstance(base, dict)
    for example in invalid_examples(BOOKING):
        if isinstance(example.instance, dict):
            differing = [name for name in {*base, *example.instance} if base.get(name) != example.instance.get(name)]
            assert len(differing) == 1


def test_the_parts_that_nothing_satisfies_are_named() -> None:
    schema = {
        "properties": {
            "a": {"type": "string", "enum": [1]},
            "b": {"minimum": 3, "maximum": 2, "type": "integer"},
            "c": False,
        },
    }
    assert sorted(unsatisfiable_parts(schema)) == ["/properties/a", "/properties/b"]
    assert unsatisfiable_parts({"type": "object", "required": ["a"], "properties": {"a": False}}) == ("",)
    assert unsatisfiable_parts({"type": "string"}) == ()
    assert unsatisfiable_parts({"type": "nope"}) == ()
    assert unsatisfiable_parts(False) == ("",)


def test_a_listed_number_beyond_every_float_has_a_break() -> None:
    assert [found.keyword for found in invalid_examples({"enum": [10**400]})] == ["enum"]
