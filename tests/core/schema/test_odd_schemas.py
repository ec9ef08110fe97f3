"""No schema, however odd, makes the functions that read schemas raise an exception."""

import json
from typing import Any

import pytest
from hypothesis import example, given, strategies as st
from tests.examples import examples

from toolvet import check_arguments, repair
from toolvet.core.checks.result.check import output_schema_validation
from toolvet.core.checks.result.response import read_response
from toolvet.core.schema import boundary_examples, compiled, invalid_examples, unsatisfiable_parts, valid_example
from toolvet.core.schema.document import DIALECTS, MANY, NAMED, ONE
from toolvet.errors import Unsatisfiable

NAMES = st.sampled_from(["a", "b", "", "[", "$ref", "pattern", "m"])
PATTERNS = st.sampled_from(
    ["[", "(", "(?=", "\\", "*", "a{99999}", "^(a+)+$", "(?P<x>a)\\1", "\\p{Foo}", "[^]", "", "x"]
)
PLACES = st.sampled_from(
    [
        *("#", "#x", "#m", "#/", "#/$defs/a", "#/properties/a", "#/anyOf/0", "#/items/0", "#/properties/~2", "#/-1"),
        *("", "x", "http://", "http://[", "urn:x", "a b", "#%", "#%zz", "%", "//", "../", "file:///x", "::", "?"),
        *(
            "json-schema:///",
            "http://a/b#c",
            "#/\u00b2",
            "http://a:99999999",
            "\x00",
            *(d.schema_uri for d in DIALECTS),
        ),
    ]
)
JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, False, 0, -1, 1.5, 1e308, 10**30, 10**400, "", "x", "\u00b2", [], {}, [1], ["a"], [[]], {"a": 1}, [{}]]
)
KEYWORDS = (
    *("type", "enum", "const", "required", "dependentRequired", "minProperties", "maxProperties", "minItems"),
    *("maxItems", "uniqueItems", "minContains", "maxContains", "minimum", "maximum", "exclusiveMinimum", "multipleOf"),
    *("minLength", "maxLength", "format", "default", "examples", "description", "contentEncoding", "$vocabulary"),
)
IDENTITIES = ("$id", "id", "$anchor", "$dynamicAnchor", "$ref", "$dynamicRef", "$recursiveRef", "$recursiveAnchor")


def odd(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Schemas in which every keyword may have a value of another kind, or lead to a place that is not there."""
    many = st.lists(inner, max_size=3)
    usual: dict[str, st.SearchStrategy[Any]] = {
        **dict.fromkeys(sorted(ONE), inner),
        **dict.fromkeys(sorted(MANY), many),
        **dict.fromkeys(sorted(NAMED), st.dictionaries(NAMES, inner, max_size=3)),
        **dict.fromkeys(KEYWORDS, JUNK),
        **dict.fromkeys(IDENTITIES, PLACES),
        "$schema": PLACES,
        "items": inner | many,
        "pattern": PATTERNS,
        "patternProperties": st.dictionaries(PATTERNS, inner, max_size=3),
        "type": st.sampled_from(["object", "string", "integer", "array", ["null", "string"], "number"]),
        "required": st.lists(NAMES, max_size=3),
    }
    entry = st.sampled_from(sorted(usual)).flatmap(
        lambda keyword: st.tuples(st.just(keyword), st.one_of(*[usual[keyword]] * 6, JUNK))
    )
    return st.lists(entry, min_size=1, max_size=4).map(dict)


SCHEMAS = st.recursive(st.booleans() | JUNK, odd, max_leaves=8)
VALUES = st.recursive(
    JUNK | st.sampled_from(["5", "[", "x" * 70, "\ud800"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=6,
)
FRAGMENT_AS_ID = {"anyOf": [{"$id": "#x", "items": {"$dynamicRef": "#m"}, "$dynamicAnchor": "m"}]}
BAD_IN_BAD = {"patternProperties": {"[": {"anyOf": [{"pattern": "["}]}}}


@examples(200)
@given(schema=SCHEMAS, value=VALUES)
@example(schema=FRAGMENT_AS_ID, value={"a": 1})
@example(schema=BAD_IN_BAD, value={"a": 1})
@example(schema={"properties": {"a": FRAGMENT_AS_ID}}, value={"a": 1})
@example(schema={"properties": {"a": {"$id": "#x", "properties": {"b": {"$ref": "#y"}}}}}, value={"a": {"b": 1}})
@example(schema={"properties": {"a": {"$id": "http://h/s#x", "$anchor": "m"}, "b": {"$ref": "#m"}}}, value={"a": 1})
@example(schema={"properties": {"a": {"patternProperties": {"[": {"anyOf": [{"pattern": "("}]}}}}}, value={"a": {}})
def test_no_odd_schema_raises_an_exception(schema: Any, value: object) -> None:
    compiled(schema).violations(value)
    report = check_arguments({"name": "t", "inputSchema": schema}, value, unchecked="pass")
    report.to_text()
    report.to_dict()
    repair(schema, value)
    output_schema_validation(schema, read_response({"content": [], "structuredContent": value}))
    for search in (valid_example, invalid_examples, boundary_examples, unsatisfiable_parts):
        try:
            search(schema)
        except Unsatisfiable:
            continue


def test_a_bad_pattern_inside_a_bad_pattern_of_names_is_removed_with_it() -> None:
    ready = compiled({"patternProperties": {"[": {"anyOf": [{"pattern": "["}]}, "^x": {"type": "integer"}}})
    assert ready.notes == ("/patternProperties/[: not a usable regular expression",)
    assert ready.usable == {"patternProperties": {"^x": {"type": "integer"}, "": True}}
    assert not ready.is_valid({"x": "text"})


def test_many_bad_patterns_do_not_copy_the_schema_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolvet.core.json_value.changed", pytest.fail)
    ready = compiled({"properties": {f"p{index}": {"pattern": "["} for index in range(200)}})
    assert len(ready.notes) == 200
    assert len(json.dumps(ready.usable)) < len(json.dumps(ready.document))
