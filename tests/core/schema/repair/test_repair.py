import copy
from typing import Any

import pytest
from hypothesis import given, strategies as st
from tests.core.schema.repair.patching import patched
from tests.examples import examples

from toolvet.core.json_value import same
from toolvet.core.schema import compiled, repair

ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 1},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
        "price": {"type": "number"},
        "exact": {"type": "boolean"},
        "sort": {"enum": ["relevance", "created_at", "updated_at"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "ids": {"type": "array", "items": {"type": "integer"}},
        "day": {"type": "string", "format": "date"},
        "start": {"type": "string", "format": "date-time"},
        "at": {"type": "string", "format": "time"},
        "user": {
            "type": "object",
            "properties": {"first_name": {"type": "string"}, "age": {"type": "integer"}},
            "required": ["first_name"],
            "additionalProperties": False,
        },
        "top": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "api_key": {"type": "string"},
        "code": {"type": "string", "pattern": "^[A-Z]{3}$"},
    },
    "required": ["query"],
    "additionalProperties": False,
}


def fixed(schema: Any, value: Any) -> tuple[Any, str] | None:
    """The repair and its certainty; checked: it validates, the patch makes it, nothing was changed in place."""
    before = copy.deepcopy(value)
    found = repair(schema, value)
    assert value == before
    if found is None:
        return None
    assert compiled(schema).is_valid(found.arguments)
    assert same(patched(value, found.patch), found.arguments)
    assert len(found.steps) == len(found.patch) > 0
    assert repair(schema, found.arguments) is None
    return found.arguments, found.confidence


@pytest.mark.parametrize(
    ("sent", "meant", "confidence"),
    [
        ({"limit": "10"}, {"limit": 10}, "high"),
        ({"limit": " 10 "}, {"limit": 10}, "high"),
        ({"limit": "10.0"}, {"limit": 10}, "high"),
        ({"limit": "007"}, {"limit": 7}, "medium"),
        ({"price": "1e3"}, {"price": 1000.0}, "high"),
        ({"exact": "True"}, {"exact": True}, "high"),
        ({"exact": "off"}, {"exact": False}, "medium"),
        ({"query": 5}, {"query": "5"}, "high"),
        ({"query": False}, {"query": "false"}, "high"),
        ({"tags": '["a", "b"]'}, {"tags": ["a", "b"]}, "high"),
        ({"tags": "['a', 'b']"}, {"tags": ["a", "b"]}, "high"),
        ({"tags": "a"}, {"tags": ["a"]}, "high"),
        ({"tags": "a, b"}, {"tags": ["a", "b"]}, "medium"),
        ({"tags": "Hello, this is one long text"}, {"tags": ["Hello, this is one long text"]}, "medium"),
        ({"tags": {"0": "a", "1": "b"}}, {"tags": ["a", "b"]}, "high"),
        ({"ids": "5"}, {"ids": [5]}, "high"),
        ({"ids": "1,2"}, {"ids": [1, 2]}, "medium"),
        ({"limit": [5]}, {"limit": 5}, "high"),
        ({"limit": {"value": 5}}, {"limit": 5}, "medium"),
        ({"sort": "Created-At"}, {"sort": "created_at"}, "high"),
        ({"sort": " relevance"}, {"sort": "relevance"}, "high"),
        ({"sort": "relevence"}, {"sort": "relevance"}, "medium"),
        ({"limit": None}, {}, "high"),
        ({"limit": "null"}, {}, "medium"),
        ({"limit": ""}, {}, "medium"),
        ({"top": "7"}, {"top": 7}, "high"),
        ({"top": "None"}, {"top": None}, "high"),
        ({"day": "2025/01/15"}, {"day": "2025-01-15"}, "high"),
        ({"day": "15 January 2025"}, {"day": "2025-01-15"}, "high"),
        ({"day": "01/15/2025"}, {"day": "2025-01-15"}, "medium"),
        ({"day": "2025-01-15T00:00:00Z"}, {"day": "2025-01-15"}, "high"),
        ({"day": "2025-01-15T09:00:00Z"}, {"day": "2025-01-15"}, "low"),
        ({"start": "2025-01-15 14:30:00 UTC"}, {"start": "2025-01-15T14:30:00Z"}, "high"),
        ({"start": "2025-01-15 14:30"}, {"start": "2025-01-15T14:30:00Z"}, "medium"),
        ({"start": 1736951400}, {"start": "2025-01-15T14:30:00Z"}, "medium"),
        ({"at": "2:30 pm"}, {"at": "14:30:00Z"}, "medium"),
        ({"code": "eur"}, {"code": "EUR"}, "medium"),
        ({"user": '{"first_name": "A"}'}, {"user": {"first_name": "A"}}, "high"),
        ({"user": [{"first_name": "A"}]}, {"user": {"first_name": "A"}}, "high"),
        ({"user": {"firstName": "A"}}, {"user": {"first_name": "A"}}, "high"),
        ({"user": {"user": {"first_name": "A"}}}, {"user": {"first_name": "A"}}, "high"),
        ({"first_name": "A", "age": "3"}, {"user": {"first_name": "A", "age": 3}}, "high"),
        ({"user": {"first_name": "A", "limit": 5}}, {"user": {"first_name": "A"}, "limit": 5}, "medium"),
        ({"reason": "why not"}, {}, "medium"),
        ({"reason": None}, {}, "high"),
    ],
)
def test_a_member_comes_back_as_it_was_meant(sent: Any, meant: Any, confidence: str) -> None:
    assert fixed(ORDER, {"query": "x", **sent}) == ({"query": "x", **meant}, confidence)


@pytest.mark.parametrize(
    ("sent", "meant", "confidence"),
    [
        ('{"query": "x"}', {"query": "x"}, "high"),
        ({"arguments": {"query": "x"}}, {"query": "x"}, "high"),
        ({"params": '{"query": "x", "limit": "5"}'}, {"query": "x", "limit": 5}, "high"),
        ({"name": "search", "arguments": {"query": "x"}}, {"query": "x"}, "medium"),
        ([{"query": "x"}], {"query": "x"}, "high"),
        ({"Query": "x"}, {"query": "x"}, "high"),
        ({"qurey": "x"}, {"query": "x"}, "medium"),
        ({"search_query": "x"}, {"query": "x"}, "low"),
        ({"user": {"first_name": "A", "query": "x"}}, {"user": {"first_name": "A"}, "query": "x"}, "medium"),
    ],
)
def test_the_call_as_a_whole_comes_back_as_it_was_meant(sent: Any, meant: Any, confidence: str) -> None:
    assert fixed(ORDER, sent) == (meant, confidence)


@pytest.mark.parametrize(
    "sent",
    [
        {"query": "x", "limit": 101},
        {"query": "x", "limit": "500"},
        {"query": "x", "limit": 2.5},
        {"query": "x", "limit": "ten"},
        {"query": "x", "limit": "10 000"},
        {"query": "x", "price": "1,5"},
        {"query": "x", "price": "NaN"},
        {"query": "x", "price": "1e999"},
        {"query": "x", "sort": "popularity"},
        {"query": "x", "sort": "pdated_at created_at"},
        {"query": "x", "day": "03/04/2025"},
        {"query": "x", "day": "2025-02-30"},
        {"query": "x", "code": "euro"},
        {"query": ""},
        {"query": None},
        {"limit": 5},
        {},
        5,
        "hello",
    ],
)
def test_what_cannot_be_known_is_not_repaired(sent: Any) -> None:
    assert fixed(ORDER, sent) is None


@pytest.mark.parametrize(
    ("schema", "sent"),
    [
        ({"enum": ["cat", "cut"]}, "c_t!"),
        ({"enum": ["version1", "version2"]}, "version3"),
        ({"enum": ["left", "Left"]}, "LEFT"),
        ({"anyOf": [{"const": "alpha1"}, {"const": "ALPHA1"}]}, "Alpha1"),
        (
            {
                "required": ["name_a", "name_b"],
                "additionalProperties": False,
                "properties": {"name_a": {}, "name_b": {}},
            },
            {"name_": 1},
        ),
    ],
)
def test_two_readings_that_are_equally_near_are_no_repair(schema: Any, sent: Any) -> None:
    assert fixed(schema, sent) is None


@pytest.mark.parametrize(
    ("property_schema", "value", "confidence"),
    [
        ({"const": "v2"}, "v2", "high"),
        ({"enum": ["only"]}, "only", "high"),
        ({"type": "integer", "default": 3}, 3, "medium"),
    ],
)
def test_a_missing_value_is_added_only_where_the_schema_tells_it(
    property_schema: Any, value: Any, confidence: str
) -> None:
    schema = {"type": "object", "properties": {"a": property_schema}, "required": ["a"]}
    assert fixed(schema, {}) == ({"a": value}, confidence)
    assert fixed({**schema, "properties": {"a": {"type": type(value).__name__}}}, {}) is None


SHAPE = {
    "oneOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}},
            "required": ["kind", "radius"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {"kind": {"const": "square"}, "side": {"type": "number"}},
            "required": ["kind", "side"],
            "additionalProperties": False,
        },
    ]
}


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ({"kind": "circle", "radius": "2"}, {"kind": "circle", "radius": 2}),
        ({"kind": "Square", "side": 3}, {"kind": "square", "side": 3}),
        ({"side": 3}, {"kind": "square", "side": 3}),
        ('{"kind": "square", "side": "3"}', {"kind": "square", "side": 3}),
    ],
)
def test_the_branch_that_was_meant_is_repaired(sent: Any, meant: Any) -> None:
    found = fixed({"type": "object", "properties": {"shape": SHAPE}}, {"shape": sent})
    assert found is not None
    assert found[0] == {"shape": meant}


def test_a_step_tells_the_place_from_the_root_also_inside_an_alternative() -> None:
    found = repair({"properties": {"shape": SHAPE}}, {"shape": {"kind": "circle", "radius": "2"}})
    assert found is not None
    assert found.steps == ("Changed '/shape/radius' from the text \"2\" to the number 2.",)


def test_steps_are_plain_sentences() -> None:
    sent = {
        "Query": "x",
        "limit": "10",
        "tags": "a",
        "exact": "yes",
        "sort": None,
        "why": "because",
        "day": "1 May 2025",
    }
    found = repair(ORDER, sent)
    assert found is not None
    assert found.steps == (
        "Renamed '/Query' to '/query'.",
        "Removed '/why': the schema allows no such member.",
        "Changed '/limit' from the text \"10\" to the number 10.",
        "Changed '/tags' from the text \"a\" to a list.",
        "Changed '/exact' from the text \"yes\" to true.",
        "Removed '/sort': it is null, and may be left out.",
        'Changed \'/day\' from the text "1 May 2025" to the text "2025-05-01".',
    )


def test_steps_never_echo_secrets_or_long_values() -> None:
    secret = repair(ORDER, {"query": "x", "api_key": 98765432})
    assert secret is not None
    assert secret.steps == ("Changed '/api_key' from a number to a text.",)
    long = repair(ORDER, {"query": "x", "tags": "z" * 500})
    assert long is not None
    assert "zzz" not in long.steps[0]
    wrapped = repair(ORDER, {"input": '{"query": "x", "api_key": "hunter2-hunter2"}'})
    assert wrapped is not None
    assert "hunter2" not in " ".join(wrapped.steps)


def test_the_result_shares_nothing_with_the_original() -> None:
    sent: dict[str, Any] = {"query": "x", "limit": "5", "tags": ["a"]}
    found = repair(ORDER, sent)
    assert found is not None
    found.arguments["tags"].append("b")  # type: ignore[index]
    assert sent["tags"] == ["a"]


def test_a_tuple_is_an_array_as_it_is_for_the_validator() -> None:
    assert repair({"items": {"type": "null"}}, ((),)) is None
    found = repair({"items": {"type": "string"}}, (1, 2))
    assert found is not None
    assert (found.arguments, found.patch[0]) == (["1", "2"], {"op": "replace", "path": "/0", "value": "1"})


def test_a_broken_schema_repairs_nothing() -> None:
    assert repair({"type": "strnig"}, {"a": 1}) is None
    assert repair({"$ref": "https://example.com/x.json"}, 5) is None


def test_a_thousand_items_are_repaired_in_few_rounds() -> None:
    schema = {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}}
    found = repair(schema, [{"N": str(index)} for index in range(1000)])
    assert found is not None
    assert found.arguments == [{"n": index} for index in range(1000)]


def test_an_integer_with_a_fraction_of_zero_is_written_without_it_where_the_draft_asks_for_that() -> None:
    schema = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer"}
    assert fixed(schema, 3.0) == (3, "high")


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.sampled_from(["10", "true", "a,b", "[1]", "2025/01/02", "null", ""]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["a", "b", "A", "arguments", "a_b", "aB", "0"]) | st.text(max_size=4), inner, max_size=4
        )
    ),
    max_leaves=10,
)
scalars = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", "object"])
schemas = st.recursive(
    st.one_of(
        st.booleans(),
        st.builds(lambda kind: {"type": kind}, scalars | st.lists(scalars, min_size=1, max_size=3, unique=True)),
        st.builds(lambda values: {"enum": values}, st.lists(json_values, min_size=1, max_size=4)),
        st.builds(lambda value: {"const": value}, json_values),
        st.builds(
            lambda kind: {"type": "string", "format": kind},
            st.sampled_from(["date", "time", "date-time", "uuid", "email", "uri"]),
        ),
        st.just({"type": "integer", "minimum": 3, "default": 4}),
        st.just({"pattern": "^[A-Z]{2}$"}),
    ),
    lambda inner: st.one_of(
        st.builds(
            lambda ways, word: {word: ways},
            st.lists(inner, min_size=1, max_size=3),
            st.sampled_from(["anyOf", "oneOf", "allOf"]),
        ),
        st.builds(lambda items: {"type": "array", "items": items, "uniqueItems": True, "minItems": 1}, inner),
        st.builds(
            lambda properties, required, extra: {
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": extra,
            },
            st.dictionaries(st.sampled_from(["a", "b", "a_b", "c"]), inner, max_size=3),
            st.lists(st.sampled_from(["a", "b", "a_b"]), unique=True, max_size=2),
            st.booleans() | inner,
        ),
        st.builds(lambda test, then: {"if": test, "then": then, "not": {"const": 7}}, inner, inner),
    ),
    max_leaves=6,
)


@examples(400)
@given(schemas, json_values)
def test_whatever_comes_back_validates_and_is_what_the_patch_makes(schema: Any, value: Any) -> None:
    fixed(schema, value)


@examples(150)
@given(
    json_values
    | st.dictionaries(
        st.sampled_from(["type", "properties", "anyOf", "$ref", "required", "enum", "propertyNames"]), json_values
    ),
    json_values,
)
def test_any_two_json_values_are_a_schema_and_a_value_to_it(schema: Any, value: Any) -> None:
    found = repair(schema, value)
    assert found is None or compiled(schema).is_valid(found.arguments)


@pytest.mark.parametrize("junk", [object(), b"x", {1: 2}, "\ud800", {"a": float("nan")}, {"a": {1}}])
def test_what_is_no_json_value_is_not_repaired(junk: Any) -> None:
    assert repair({"type": "integer"}, junk) is None


@pytest.mark.parametrize("junk", [float("nan"), float("-inf"), b"x", {1}, {1: 2}, [{"x": float("nan")}], object()])
def test_what_is_no_json_value_is_not_repaired_beside_a_slip_either(junk: Any) -> None:
    schema = {"type": "object", "properties": {"limit": {"type": "integer"}, "note": {"type": "string"}}}
    assert repair(schema, {"limit": "10", "more": junk}) is None
    assert repair(schema, {"limit": "10", "note": junk}) is None
    assert repair(schema, {"limit": "10", "more": [1.5, None, {"a": True}]}) is not None


def test_a_cyclic_value_and_a_deep_one_are_not_repaired() -> None:
    cyclic: dict[str, Any] = {}
    cyclic["a"] = cyclic
    assert repair({"type": "array"}, cyclic) is None
    deep: Any = "1"
    for _ in range(5000):
        deep = [deep]
    assert repair({"type": "integer"}, deep) is None


def test_hostile_values_cost_no_more_than_the_budget() -> None:
    ways = [
        {"type": "object", "properties": {f"p{index}": {"type": "integer"}}, "required": [f"p{index}"]}
        for index in range(60)
    ]
    schema = {"anyOf": [{"anyOf": ways}] * 20}
    assert repair(schema, {f"q{index}": "x" for index in range(3000)}) is None
    words = [f"{index:05}abcdefghijklmnopqrstuvwxyz" for index in range(2000)]
    assert repair({"enum": words}, "z" * 70) is None
