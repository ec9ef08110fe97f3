"""`repair_json` and `repair_call`: a valid value, or the words with which the model tries again."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from toolvet import JsonRepair, repair_call, repair_json
from toolvet.core.schema import compiled
from toolvet.errors import ToolShapeError

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"type": "string"},
        "limit": {"type": "integer", "maximum": 50_000},
        "tags": {"type": "array", "items": {"type": "string"}},
        "filter": {"type": "object", "properties": {"name": {"type": "string"}, "price": {"type": "number"}}},
    },
    "required": ["query"],
    "additionalProperties": False,
}


def test_a_whole_number_of_any_size_stays_exact() -> None:
    for text in ('{"id": 99999999999999999999999}', "{id: 99999999999999999999999}"):
        assert repair_json(text, {"properties": {"id": {"type": "integer"}}}).value == {"id": 99999999999999999999999}


@pytest.mark.parametrize(
    "text",
    [
        "query=a&query=b",
        "--query --limit 5",
        "--query tea --limit",
        "<query>a <b>x</b></query>",
    ],
)
def test_a_text_with_a_name_twice_or_without_its_value_has_no_certain_value(text: str) -> None:
    found = repair_json(text, SCHEMA)
    assert (found.ok, found.value) == (False, None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"query": "tea"}', {"query": "tea"}),
        ("```json\n{'query': 'tea', 'limit': '10',}\n```", {"query": "tea", "limit": 10}),
        ("Sure! {query: 'tea'} is the call.", {"query": "tea"}),
        ('search(query="tea", limit=5)', {"query": "tea", "limit": 5}),
        (
            "query: tea for two\nlimit: 5\ntags:\n  - a\n  - 'b'",
            {"query": "tea for two", "limit": 5, "tags": ["a", "b"]},
        ),
        (
            '{"query": "tea", "filter.name": "x", "filter.price": 2}',
            {"query": "tea", "filter": {"name": "x", "price": 2}},
        ),
        ('{"query": "tea", "limit": "10,000"}', {"query": "tea", "limit": 10_000}),
        ('{"Query": "tea" "limit": 5', {"query": "tea", "limit": 5}),
        ('{"query": "te', {"query": "te"}),
        ('{"query": "tea", "limit": 0x1F}', {"query": "tea", "limit": 31}),
        ('{"query": "tea"}\nI left out {optional} fields and [defaults].', {"query": "tea"}),
        ('{"query": "tea"}\n{"query": "tea"}', {"query": "tea"}),
        ('<arg name="query">tea</arg><arg name="limit">5</arg>', {"query": "tea", "limit": 5}),
        ("<run>\n<parameter=query>\n42\n</parameter>\n</run>", {"query": "42"}),
        ("<query>tea</query>\n<tags>['a', 'b']</tags>", {"query": "tea", "tags": ["a", "b"]}),
        ('<run query="a &amp; b" limit="5"/>', {"query": "a & b", "limit": 5}),
        ("| Name | Value |\n|---|---|\n| query | tea |\n| limit | 5 |", {"query": "tea", "limit": 5}),
        ("query = tea\nlimit=5", {"query": "tea", "limit": 5}),
        ("- **query**: tea\n- **limit**: 5", {"query": "tea", "limit": 5}),
        ("query: |\n  a\n  b\nfilter:\n  name: x\n  price: 2", {"query": "a\nb", "filter": {"name": "x", "price": 2}}),
        ("query=hello+world&limit=5", {"query": "hello world", "limit": 5}),
        ("run --query 'hello world' --limit=5", {"query": "hello world", "limit": 5}),
        ('{"query": "tea"}\n{"limit": 5}', {"query": "tea", "limit": 5}),
        ('[{"name": "query", "value": "tea"}, {"name": "limit", "value": 5}]', {"query": "tea", "limit": 5}),
        ('"tea"', {"query": "tea"}),
        ("{'query': 'tea', 'tags': {'a', 'b'}}", {"query": "tea", "tags": ["a", "b"]}),
        ('{\\"query\\": \\"tea\\"}', {"query": "tea"}),
        ('\uff5b"query"\uff1a"tea"\uff0c"limit"\uff1a\uff11\uff10\uff5d', {"query": "tea", "limit": 10}),
        ("{\u00abquery\u00bb: \u00abtea\u00bb}", {"query": "tea"}),
        ('<tool_call>{"name": "search", "arguments": {"query": "tea"}}</tool_call>', {"query": "tea"}),
        (
            '{"type": "function", "function": {"name": "search", "arguments": "{\\"query\\": \\"tea\\"}"}}',
            {"query": "tea"},
        ),
        ('"query": "tea", "limit": 5', {"query": "tea", "limit": 5}),
        ('{"query" "tea", "limit" 5}', {"query": "tea", "limit": 5}),
        ('{""query"": ""tea""}', {"query": "tea"}),
        ('{, "query": "tea",, "limit": 5}', {"query": "tea", "limit": 5}),
        ("['query' => 'tea', 'tags' => ['a']]", {"query": "tea", "tags": ["a"]}),
        ("{:query => 'tea', :limit => 5}", {"query": "tea", "limit": 5}),
        ("{query: hello world, limit: 5}", {"query": "hello world", "limit": 5}),
        ("{&quot;query&quot;: &quot;tea&quot;}", {"query": "tea"}),
        ('> {\n>   "query": "tea"\n> }', {"query": "tea"}),
        ('1 | {\n2 |   "query": "tea"\n3 | }', {"query": "tea"}),
        ("{u'query': u'tea'}", {"query": "tea"}),
        ('{"query": """a\nb"""}', {"query": "a\nb"}),
        ('{"query": "tea", "tags": ["a", "b"}', {"query": "tea", "tags": ["a", "b"]}),
        ('{query": "tea"}', {"query": "tea"}),
        ('{"query: "tea"}', {"query": "tea"}),
        ('{"query": tea", "limit": 5}', {"query": "tea", "limit": 5}),
        ('{"query": "tea, "limit": 5}', {"query": "tea", "limit": 5}),
        ('{"query": "say "hi" now", "limit": 5}', {"query": 'say "hi" now', "limit": 5}),
        ('{{"query": "tea"}}', {"query": "tea"}),
        ('search(query: "tea", limit: 5)', {"query": "tea", "limit": 5}),
    ],
)
def test_a_text_becomes_a_valid_value(text: str, value: object) -> None:
    for found in (
        repair_json(text, SCHEMA),
        repair_json(text.encode(), SCHEMA),
        repair_call({"inputSchema": SCHEMA}, text),
    ):
        assert (found.value, found.error, found.ok) == (value, None, True)
        assert compiled(SCHEMA).is_valid(found.value)
        assert bool(found.steps) is (text != '{"query": "tea"}')
        assert 0 < found.certainty <= 1


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "I need more details.",
        '{"query": 5, "limit": 60000}',
        "query: tea\ncolour: red",
        "note: this is prose: tea",
        '{"query": "a"} {"query": "b"}',
        '{"query": "tea", "limit": "1.234"}',
        "",
        "I need <b>more</b> details.",
        "search --help",
        "question=tea",
        '{"query": "a"}, "limit": 5}',
        '{"query": "a"}[{"query": "b"}]',
        '{"query": "a"} {"query": ',
        '{"query": "a"}\n{"query": "b"}',
        '{"query": NaN}',
        '{"query": "a "b", "limit": 5}',
        '{"query": "tea}',
        "<query>a</query><query>b</query>",
        "- query: tea\n- colour: red",
    ],
)
def test_what_is_uncertain_is_an_error_for_the_model(text: str) -> None:
    found = repair_json(text, SCHEMA)
    assert (found.value, found.ok, found.certainty) == (None, False, 0.0)
    assert found.error is not None
    assert found.error.startswith("❌")


def test_a_guess_needs_a_schema_that_confirms_it() -> None:
    for text in ("{a: hello world}", '{"a" 1}', "[1,,2]", '{"a": "say "hi" now"}'):
        assert not repair_json(text).ok, text
    assert repair_json("[1,,2]", {"type": "array", "items": {"type": "integer"}}).value == [1, 2]


def test_a_call_is_not_taken_for_its_arguments() -> None:
    schema = {"properties": {"name": {"type": "string"}, "path": {"type": "string"}}}
    assert repair_json('{"name": "run", "arguments": {"path": "x"}}x', schema).value == {"path": "x"}
    assert repair_json('{"name": "run", "path": "x"}x', schema).value == {"name": "run", "path": "x"}


def test_names_with_dots_are_paths_into_objects_of_any_members() -> None:
    schema = {"properties": {"where": {"type": "object"}}, "additionalProperties": False}
    assert repair_json('{"where.id": 5}', schema).value == {"where": {"id": 5}}


def test_a_text_without_json_has_an_error_for_an_open_schema() -> None:
    found = repair_json("I need more details.", {"required": ["limit"]})
    assert (found.ok, found.error) == (False, "❌ The text contains no JSON value that is certain enough.")


def test_a_schema_of_any_kind() -> None:
    assert repair_json("['a', 'b',]", {"type": "array", "items": {"type": "string"}}).value == ["a", "b"]
    assert repair_json("null").value is None
    assert repair_json("null").ok
    assert repair_json("{'a': 1}").value == {"a": 1}
    assert repair_json("not json", {"type": "object"}).error


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": [1, {"b": "tex', {"a": [1, {"b": "tex"}]}),
        ('{"a": "x", "b', {"a": "x"}),
        ('{"a": "x", "b":', {"a": "x"}),
        ('{"a": "x", "b": tr', {"a": "x"}),
        ('{"a": [1, 2,', {"a": [1, 2]}),
        ("```json\n{'a': {'b': [", {"a": {"b": []}}),
        ("{", {}),
        ('{"a": 1}', {"a": 1}),
    ],
)
def test_the_beginning_of_a_text(text: str, value: object) -> None:
    found = repair_json(text, partial=True)
    assert (found.value, found.error) == (value, None)
    assert (found.confidence == "high") is (value == {"a": 1})


def test_nothing_was_written_yet() -> None:
    assert not repair_json("Let me ", partial=True).ok


def test_arguments_that_were_decoded() -> None:
    tool = {"name": "search", "inputSchema": SCHEMA}
    assert repair_call(tool, {"Query": "tea", "filter.name": "x"}).value == {"query": "tea", "filter": {"name": "x"}}
    found = repair_call(tool, {"query": "tea", "limit": 5})
    assert found == JsonRepair(value={"query": "tea", "limit": 5})
    assert found.to_dict()["value"] == {"query": "tea", "limit": 5}


def test_a_schema_that_cannot_be_used_is_an_error() -> None:
    with pytest.raises(ToolShapeError, match="the schema cannot be used"):
        repair_json("{}", {"type": "nonsense"})


@given(st.text(), st.booleans())
def test_any_text_is_read(text: str, partial: bool) -> None:  # noqa: FBT001
    found = repair_json(text, SCHEMA, partial=partial)
    assert partial or found.error is not None or compiled(SCHEMA).is_valid(found.value)


def is_beginning(value: object, whole: object) -> bool:
    """Whether `value` may grow into `whole`: its last text or container may be shorter, all else is as it will be."""
    if isinstance(value, str) and isinstance(whole, str):
        return whole.startswith(value)
    if isinstance(value, list) and isinstance(whole, list):
        return (
            len(value) <= len(whole)
            and value[:-1] == whole[: len(value) - 1 if value else 0]
            and (not value or is_beginning(value[-1], whole[len(value) - 1]))
        )
    if isinstance(value, dict) and isinstance(whole, dict):
        names = list(value)
        return names == list(whole)[: len(names)] and is_beginning(list(value.values()), list(whole.values()))
    return type(value) is type(whole) and value == whole


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(ANY_JSON) | st.dictionaries(st.text(), ANY_JSON), st.booleans(), st.sampled_from((None, 2)))
def test_every_beginning_of_a_valid_text_has_the_beginning_of_its_value(
    value: object,
    is_ascii: bool,  # noqa: FBT001
    indent: int | None,
) -> None:
    text = json.dumps(value, ensure_ascii=is_ascii, indent=indent)
    for end in range(1, len(text) + 1):
        found = repair_json(text[:end], partial=True)
        assert found.ok, text[:end]
        assert is_beginning(found.value, value), (text[:end], found.value)
    assert found.value == value
