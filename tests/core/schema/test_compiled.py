import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from toolvet.core.schema import (
    Schema,
    boundary_examples,
    compiled,
    invalid_examples,
    unsatisfiable_parts,
    valid_example,
)
from toolvet.core.schema.compilation import _CACHE, _CACHE_SIZE
from toolvet.errors import Unsatisfiable

TOOL = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 3},
        "limit": {"type": "integer", "maximum": 9},
        "when": {"type": "string", "format": "date"},
    },
    "required": ["query", "limit"],
}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
keywords = st.sampled_from(
    ["type", "properties", "items", "allOf", "anyOf", "$ref", "$schema", "pattern", "required", "enum", "$id", "format"]
)


def test_a_schema_is_compiled_once_for_all_dicts_with_its_content() -> None:
    assert compiled(TOOL) is compiled(json.loads(json.dumps(TOOL)))


def test_a_schema_that_was_changed_in_place_is_compiled_anew() -> None:
    schema: dict[str, Any] = {"properties": {"a": {"type": "string"}}}
    assert compiled(schema).is_valid({"a": "x"})
    schema["properties"]["a"]["type"] = "integer"
    assert not compiled(schema).is_valid({"a": "x"})


def test_a_compiled_schema_does_not_notice_what_happens_to_the_dict() -> None:
    schema: dict[str, Any] = {"type": "string"}
    ready = compiled(schema)
    schema["type"] = "integer"
    assert ready.is_valid("x")
    assert ready.document == {"type": "string"}


def test_true_and_one_are_different_schemas_to_the_cache() -> None:
    assert not compiled({"const": True}).is_valid(1)
    assert not compiled({"const": 1}).is_valid(True)


def test_the_cache_forgets_the_schema_that_was_not_used_for_longest() -> None:
    first = compiled({"const": "first"})
    for number in range(_CACHE_SIZE + 10):
        compiled({"const": number})
    assert len(_CACHE) <= _CACHE_SIZE
    assert compiled({"const": "first"}) is not first


@given(st.one_of(json_values, st.dictionaries(keywords, json_values)), json_values)
def test_any_json_is_some_schema_and_judges_any_json(schema: object, instance: object) -> None:
    ready = compiled(schema)
    assert ready.is_valid(instance) is not bool(ready.violations(instance))
    if ready.problem is not None:
        assert ready.is_valid(instance)


@pytest.mark.parametrize("junk", [None, 5, "x", [], object(), {1: 2}, {"a": object()}, float("nan"), b"x", {"a": {1}}])
def test_what_is_no_schema_at_all_has_a_problem_or_judges(junk: object) -> None:
    assert isinstance(compiled(junk), Schema)


@pytest.mark.parametrize("junk", [object(), b"x", {1: 2}, "\ud800", {1}])
def test_what_is_no_json_value_is_not_valid_and_says_so(junk: object) -> None:
    assert not compiled({"type": "object"}).is_valid(junk)
    assert [found.keyword for found in compiled({"type": "object"}).violations(junk)] == ["unexplained"]


@pytest.mark.parametrize(
    ("schema", "kind", "pointer"),
    [
        ({"type": "strnig"}, "invalid", "/type"),
        ({"properties": {"a": {"minLength": "3"}}}, "invalid", "/properties/a/minLength"),
        ([], "invalid", ""),
        ({"$schema": "http://json-schema.org/draft-03/schema#"}, "unsupported_dialect", "/$schema"),
        ({"$schema": 5}, "unsupported_dialect", "/$schema"),
        ({"$ref": "https://example.com/schema.json"}, "remote_ref", ""),
        ({"$ref": "file:///etc/hostname"}, "remote_ref", ""),
        ({"$ref": "#/$defs/none"}, "broken_ref", ""),
    ],
)
def test_a_schema_that_cannot_judge_says_why_and_lets_everything_pass(schema: object, kind: str, pointer: str) -> None:
    ready = compiled(schema)
    assert ready.problem is not None
    assert (ready.problem.kind, ready.problem.pointer) == (kind, pointer)
    assert ready.problem.message
    assert ready.is_valid({"anything": 1})
    assert ready.violations({"anything": 1}) == ()


@pytest.mark.parametrize(
    ("uri", "valid"),
    [
        (None, False),
        ("https://json-schema.org/draft/2020-12/schema", False),
        ("https://json-schema.org/draft/2019-09/schema", True),
        ("http://json-schema.org/draft-07/schema#", True),
        ("https://json-schema.org/draft-07/schema", True),
        ("http://json-schema.org/draft-06/schema#", True),
        ("http://json-schema.org/draft-04/schema#", True),
    ],
)
def test_the_dialect_is_the_declared_one_or_2020_12(uri: str | None, valid: bool) -> None:  # noqa: FBT001
    # `prefixItems` exists since 2020-12 only.
    schema = {"prefixItems": [{"type": "string"}]} | ({"$schema": uri} if uri else {})
    assert compiled(schema).problem is None
    assert compiled(schema).is_valid([1]) is valid


@pytest.fixture
def server() -> Iterator[tuple[str, list[str]]]:
    hits: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hits.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"type": "string"}')

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the signature of the base class.
            pass

    listening = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=listening.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{listening.server_port}", hits
    listening.shutdown()
    thread.join()
    listening.server_close()


@pytest.mark.parametrize(
    "shape",
    [
        '{"$ref": "URI"}',
        '{"properties": {"a": {"$ref": "URI#/x"}}}',
        '{"$schema": "URI"}',
        '{"$id": "URI", "$ref": "other.json"}',
        '{"$dynamicRef": "URI"}',
        '{"allOf": [{"$schema": "URI", "$id": "URI"}]}',
    ],
)
def test_no_reference_is_ever_fetched(server: tuple[str, list[str]], shape: str, tmp_path: Path) -> None:

    base, hits = server
    local = tmp_path / "schema.json"
    local.write_text('{"type": "string"}')
    for uri in (f"{base}/schema.json", local.as_uri()):
        schema = json.loads(shape.replace("URI", uri))
        ready = compiled(schema)
        # Had the file been opened, 5 would be refused as no string.
        assert ready.is_valid(5)
        with contextlib.suppress(Unsatisfiable):
            valid_example(schema)
        invalid_examples(schema)
        boundary_examples(schema)
        unsatisfiable_parts(schema)
    assert hits == []


def test_violations_come_in_the_order_of_the_instance_with_everything_that_is_needed_to_explain_them() -> None:
    found = compiled(TOOL).violations({"when": "soon", "limit": 10, "query": "ab"})
    assert [(v.keyword, v.pointer, v.schema_pointer, dict(v.params), v.instance) for v in found] == [
        ("format", "/when", "/properties/when/format", {"format": "date"}, "soon"),
        ("maximum", "/limit", "/properties/limit/maximum", {"limit": 9}, 10),
        ("minLength", "/query", "/properties/query/minLength", {"limit": 3}, "ab"),
    ]


def test_a_violation_behind_a_reference_points_at_the_keyword_itself() -> None:
    schema = {"properties": {"a/b": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "integer"}}}
    (found,) = compiled(schema).violations({"a/b": "s"})
    assert (found.pointer, found.schema_pointer) == ("/a~1b", "/$defs/x/type")


def test_a_union_tells_what_each_branch_found_wrong() -> None:
    (found,) = compiled({"anyOf": [{"type": "integer"}, {"minLength": 5, "pattern": "^x"}]}).violations("abc")
    assert found.keyword == "anyOf"
    assert [[inner.keyword for inner in branch] for branch in found.branches] == [["type"], ["minLength", "pattern"]]
    (several,) = compiled({"oneOf": [{"type": "string"}, {"type": "integer"}, {"minLength": 1}]}).violations("abc")
    assert several.params == {"matched": [0, 2]}


@pytest.mark.parametrize(
    ("schema", "instance", "keyword", "pointer"),
    [
        ({"dependentRequired": {"a": ["b"]}}, {"a": 1}, "dependentRequired", ""),
        ({"propertyNames": {"maxLength": 1}}, {"abc": 1}, "propertyNames", ""),
        ({"contains": {"const": 1}, "minContains": 2}, [1], "minContains", ""),
        ({"prefixItems": [True], "items": False}, [1, 2], "items", "/1"),
        ({"additionalProperties": False}, {"x": 1}, "additionalProperties", ""),
        ({"unevaluatedProperties": False}, {"x": 1}, "unevaluatedProperties", ""),
        ({"not": {"type": "string"}}, "x", "not", ""),
        ({"if": True, "then": {"required": ["a"]}}, {}, "required", ""),
        (False, 1, "falseSchema", ""),
    ],
)
def test_a_violation_bears_the_name_of_the_keyword_as_the_schema_spells_it(
    schema: object, instance: object, keyword: str, pointer: str
) -> None:
    (found,) = compiled(schema).violations(instance)
    assert (found.keyword, found.pointer) == (keyword, pointer)
    json.dumps(dict(found.params))


def test_a_pattern_that_no_engine_accepts_is_left_out_alone_and_named() -> None:
    ready = compiled({"properties": {"a": {"pattern": "[^]", "minLength": 2}, "b": {"pattern": "^x"}}})
    assert ready.problem is None
    assert ready.notes == ("/properties/a/pattern: the regular expression '[^]' cannot be used",)
    assert [found.keyword for found in ready.violations({"a": "y", "b": "y"})] == ["minLength", "pattern"]


def test_an_unusable_pattern_of_names_makes_no_name_unexpected() -> None:
    ready = compiled({"patternProperties": {"[^]": {}}, "additionalProperties": False})
    assert ready.is_valid({"anything": 1})
    assert len(ready.notes) == 1


def test_a_property_called_pattern_is_no_pattern() -> None:
    ready = compiled(
        {"properties": {"pattern": {"const": "[^]"}, "x": {"pattern": "(?=x)x"}}, "default": {"pattern": "["}}
    )
    assert (ready.problem, ready.notes) == (None, ())


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(?=(a+)+$)a*$", "^(a|a)*$", "^(a+)+\\1$", "(?!x)^(a*)*(a*)*b$"])
def test_a_hostile_pattern_comes_to_an_answer(pattern: str) -> None:
    assert isinstance(compiled({"pattern": pattern}).is_valid("a" * 5_000 + "!"), bool)


def test_references_that_multiply_in_place_are_a_problem_before_anything_runs() -> None:
    definitions: dict[str, object] = {
        f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}, {"$ref": f"#/$defs/a{n + 1}"}]} for n in range(60)
    }
    ready = compiled({"$ref": "#/$defs/a0", "$defs": definitions | {"a60": {"type": "string"}}})
    assert ready.problem is not None
    assert ready.problem.kind == "too_complex"


def test_alternatives_that_multiply_with_the_depth_of_the_value_come_to_an_answer() -> None:
    again = {"type": "array", "items": {"$ref": "#"}}
    ready = compiled({"anyOf": [{"type": "string"}, again, again]})
    value: object = 1
    for _ in range(15):
        value = [value]
    assert not ready.is_valid(value)
    assert [found.keyword for found in ready.violations(value)] == ["unexplained"]
    for _ in range(100):
        value = [value]
    assert ready.is_valid(value)
    assert [found.keyword for found in ready.violations([1])] == ["anyOf"]


def test_a_schema_of_any_depth_comes_to_an_answer() -> None:
    schema: dict[str, object] = {"type": "string"}
    for _ in range(20_000):
        schema = {"not": schema}
    assert compiled(schema).problem is not None


def test_numbers_beyond_64_bits_are_judged() -> None:
    assert compiled({"maximum": 10**40}).is_valid(10**39)
    assert not compiled({"maximum": 10**40}).is_valid(10**41)


@pytest.mark.parametrize(
    ("schema", "value", "wrong"),
    [
        ({"items": [{"type": "string"}, {"type": "integer"}]}, ["a", 1], ["a", "b"]),
        ({"type": "number", "minimum": 0, "exclusiveMinimum": True}, 1, 0),
        ({"items": [{"type": "number", "minimum": 1, "exclusiveMinimum": True}]}, [2], [1]),
    ],
)
def test_a_schema_of_an_older_draft_that_does_not_say_so_is_read_as_that_draft(
    schema: object, value: object, wrong: object
) -> None:
    ready = compiled(schema)
    assert ready.problem is None
    assert ready.reading is not None
    assert "read as draft" in ready.reading
    assert ready.is_valid(value)
    assert not ready.is_valid(wrong)


def test_a_schema_that_says_its_draft_is_held_to_it() -> None:
    uri = "https://json-schema.org/draft/2020-12/schema"
    assert compiled({"$schema": uri, "items": [{"type": "string"}]}).problem is not None


def test_a_schema_that_is_wrong_in_every_draft_keeps_its_problem() -> None:
    ready = compiled({"items": [{"type": "text"}]})
    assert ready.problem is not None
    assert ready.reading is None
