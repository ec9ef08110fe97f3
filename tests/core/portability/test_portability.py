"""What providers take of a tool's schema: the rules against their proofs, and the rewriting against the tool."""

import json
import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, strategies as st
from tests.examples import examples

from toolvet import port_issues, portable
from toolvet.core.portability import ProviderRule, provider, provider_names, request_issues
from toolvet.core.portability.rewriting import FIXES
from toolvet.core.portability.rules import SEARCHES, shapes
from toolvet.core.schema import compiled, valid_example
from toolvet.errors import UsageError

RULES = [(name, rule) for name in provider_names() for rule in provider(name).rule]
VERSIONS = json.loads((Path(__file__).parents[1] / "contract" / "versions.json").read_text(encoding="utf-8"))
REAL = [tool for pair in VERSIONS for tool in (pair["after"] or pair["before"])]


def grown(value: object) -> object:
    """A proof in short: `<7>` is seven members, values or letters, `<deep 3>` nested objects, `<3 tools>` tools."""
    if isinstance(value, list):
        return [grown(each) for each in value]
    if isinstance(value, dict):
        return {key: _values(key, each) for key, each in value.items()}
    if isinstance(value, str) and (deep := re.fullmatch(r"<deep (\d+)>", value)):
        schema: dict[str, object] = {"type": "string"}
        for _ in range(int(deep[1])):
            schema = {"type": "object", "properties": {"a": schema}}
        return schema
    if isinstance(value, str) and (tools := re.fullmatch(r"<(\d+) tools>", value)):
        return [{"name": f"t{number}", "inputSchema": {"type": "object"}} for number in range(int(tools[1]))]
    if isinstance(value, str) and (size := re.fullmatch(r"<(\d+)>", value)):
        return "x" * int(size[1])
    return value


def _members(text: str) -> dict[str, object]:
    kind: object = {"anyOf": [{"type": "string"}, {"type": "null"}]} if "unions" in text else {"type": "string"}
    return {f"p{number}": kind for number in range(int(re.findall(r"\d+", text)[0]))}


def _values(key: str, value: object) -> object:
    if key == "properties" and isinstance(value, str):
        return _members(value)
    if key == "enum" and isinstance(value, str):
        return [str(number) for number in range(int(value[1:-1]))]
    return grown(value)


def tool_of(value: object) -> dict[str, object]:
    assert isinstance(value, dict)
    return value if "inputSchema" in value else {"name": "a", "inputSchema": value}


def found_in(name: str, rule: ProviderRule, text: str) -> bool:
    value = grown(json.loads(text))
    tools = [tool_of(each) for each in (value if isinstance(value, list) else [value])]
    issues = request_issues(tools, name) if rule.per_request else port_issues(tools[0], name)
    return rule.id in {issue.rule for issue in issues}


@pytest.mark.parametrize(("name", "rule"), RULES, ids=[f"{name}-{rule.id}" for name, rule in RULES])
def test_a_rule_finds_its_hits_and_leaves_its_misses(name: str, rule: ProviderRule) -> None:
    assert rule.hits, "a rule needs a proof"
    assert rule.misses, "a rule needs a near miss"
    assert [text for text in rule.hits if not found_in(name, rule, text)] == []
    assert [text for text in rule.misses if found_in(name, rule, text)] == []


@pytest.mark.parametrize(("name", "rule"), RULES, ids=[f"{name}-{rule.id}" for name, rule in RULES])
def test_a_rule_names_its_source_and_what_exists(name: str, rule: ProviderRule) -> None:
    assert (rule.source or provider(name).source).startswith("https://")
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", rule.date or provider(name).date)
    assert rule.fix in {"", "tool-name", *FIXES}
    assert rule.shape in {"", "tool-name", "draft", *SEARCHES, *shapes()}


@pytest.mark.parametrize("name", provider_names())
def test_the_hits_are_rewritten_so_that_the_provider_takes_them(name: str) -> None:
    for rule in provider(name).rule:
        for text in rule.hits if rule.fix and not rule.measure else ():
            found = portable(tool_of(grown(json.loads(text))), name)
            assert found.proof.verdict in {"proven", "tested"}, (rule.id, text, found.proof)
            assert [issue.rule for issue in found.remaining] == [], (rule.id, text)


@pytest.mark.parametrize("name", provider_names())
def test_real_definitions_are_rewritten_with_proof(name: str) -> None:
    assert len(REAL) > 50
    for tool in REAL:
        found = portable(tool, name)
        assert found.proof.verdict == "proven", (tool["name"], found.proof)
        assert found.is_portable, (tool["name"], found.remaining)


def schema_of(**members: object) -> dict[str, object]:
    return {"name": "find", "inputSchema": {"type": "object", "properties": members}}


MAP = {"type": "object", "additionalProperties": {"type": "integer"}}
TEXT = {"type": "string"}
WAYS = [
    ("openai", {"shelf": {"type": "string"}}, {"shelf": None}, {}),
    ("openai", {"shelf": {"type": "string"}}, {"shelf": "A"}, {"shelf": "A"}),
    (
        "openai",
        {"labels": {"type": "object", "additionalProperties": {"type": "integer"}}},
        {"labels": [{"name": "a", "value": 1}]},
        {"labels": {"a": 1}},
    ),
    ("openai", {"any": {}}, {"any": '{"a": [1]}'}, {"any": {"a": [1]}}),
    ("openai", {"any": {}}, {"any": "not JSON"}, {"any": "not JSON"}),
    ("openai", {"rows": {"type": "array"}}, {"rows": ["1", '"a"', "b"]}, {"rows": [1, "a", "b"]}),
    ("openai", {"a": {"type": "object", "properties": {"b": {"type": "integer"}}}}, {"a": {"b": None}}, {"a": {}}),
    ("gemini", {"size": {"enum": [1, "2", None]}}, {"size": "1"}, {"size": 1}),
    (
        "gemini",
        {"to-date": {"type": "string"}, "to_date": {"type": "string"}},
        {"_to_date": "x", "to_date": "y"},
        {"to-date": "x", "to_date": "y"},
    ),
    ("anthropic", {"to:date": {"type": "string"}}, {"to_date": "x"}, {"to:date": "x"}),
]


@pytest.mark.parametrize(("name", "members", "sent", "wanted"), WAYS)
def test_what_a_model_sends_becomes_what_the_tool_declares(
    name: str, members: dict[str, object], sent: object, wanted: object
) -> None:
    tool = schema_of(**members)
    found = portable(tool, name)
    assert compiled(found.input_schema).is_valid(sent), found.input_schema
    assert found.to_original(sent) == wanted
    assert compiled(tool["inputSchema"]).is_valid(wanted)


def test_alternatives_map_back_by_the_one_that_fits() -> None:
    branch = {"type": "object", "required": ["kind"], "additionalProperties": False}
    shapes = [
        {**branch, "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}},
        {**branch, "properties": {"kind": {"const": "square"}, "side": {"type": "number"}}},
    ]
    found = portable(schema_of(shape={"oneOf": shapes}), "openai")
    assert found.proof.verdict == "proven"
    assert found.to_original({"shape": {"kind": "square", "side": None}}) == {"shape": {"kind": "square"}}


def test_alternatives_that_cannot_both_match_are_no_loss() -> None:
    apart = portable(schema_of(a={"oneOf": [{"type": "string"}, {"type": "integer"}]}), "openai")
    joint = portable(schema_of(a={"oneOf": [{"type": "number"}, {"type": "integer"}]}), "openai")
    assert apart.losses == ()
    assert [loss.keyword for loss in joint.losses] == ["oneOf"]
    assert not compiled(schema_of(a={"oneOf": [{"type": "number"}, {"type": "integer"}]})["inputSchema"]).is_valid(
        joint.lost_example
    )


def test_a_lost_bound_is_listed_with_a_call_that_the_tool_rejects() -> None:
    tool = schema_of(limit={"type": "integer", "minimum": 1, "description": "How many"})
    found = portable(tool, "anthropic-strict")
    assert [(loss.pointer, loss.keyword, loss.kind) for loss in found.losses] == [
        ("/inputSchema/properties/limit", "minimum", "unchecked")
    ]
    assert members_of(found.input_schema)["limit"]["description"] == "How many (minimum: 1)"
    assert not compiled(tool["inputSchema"]).is_valid(found.lost_example)
    assert compiled(found.input_schema).is_valid(found.lost_example)


def members_of(schema: object) -> dict[str, dict[str, object]]:
    found: dict[str, dict[str, object]] = msgspec.convert(schema, dict[str, object])["properties"]  # type: ignore[assignment]
    return found


def test_an_exclusive_bound_of_a_whole_number_is_kept_exactly() -> None:
    found = portable(schema_of(limit={"type": "integer", "exclusiveMinimum": 0}), "gemini")
    assert members_of(found.input_schema)["limit"] == {"type": "integer", "minimum": 1}
    assert found.losses == ()


def test_null_that_meant_something_is_listed() -> None:
    found = portable(schema_of(owner={"type": ["string", "null"]}), "openai")
    assert [(loss.keyword, loss.message) for loss in found.losses] == [("null", "null can no longer be sent")]
    assert found.to_original({"owner": None}) == {}


def test_recursion_is_unrolled_and_the_depth_is_a_loss() -> None:
    tree = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "inner": {"type": "array", "items": {"$ref": "#/$defs/tree"}}},
    }
    tool = {
        "name": "plant",
        "inputSchema": {"type": "object", "properties": {"tree": {"$ref": "#/$defs/tree"}}, "$defs": {"tree": tree}},
    }
    for name in ("anthropic-strict", "gemini"):
        found = portable(tool, name)
        assert found.is_portable, (name, found.remaining)
        assert "deeper nesting can no longer be sent" in {loss.message for loss in found.losses}
    assert portable(tool, "openai").losses == ()


def test_names_are_shortened_and_stay_apart() -> None:
    long = "x" * 90
    found = portable({"name": f"library.{long}", "inputSchema": {"type": "object"}}, "openai")
    other = portable({"name": f"library.{long}y", "inputSchema": {"type": "object"}}, "openai")
    assert found.name != other.name
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", found.name)


def test_a_schema_that_no_fix_saves_is_said_to_remain() -> None:
    found = portable({"name": "a", "inputSchema": grown(json.loads('"<deep 12>"'))}, "openai")
    assert [issue.rule for issue in found.remaining] == ["depth"]
    assert not found.is_portable


def test_definitions_of_other_apis_are_read() -> None:
    tool = {"type": "function", "function": {"name": "a.b", "parameters": {"type": "object"}}}
    assert [issue.pointer for issue in port_issues(tool, "openai") if issue.effect == "refuses"] == ["/name"]


def test_an_unknown_provider_is_named_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match="there is no provider 'acme'; there are anthropic"):
        port_issues({}, "acme")


KEYWORDS = [
    *["type", "properties", "items", "a", "anyOf", "oneOf", "allOf", "$ref", "$defs", "enum", "const", "required"],
    *["additionalProperties", "patternProperties", "minimum", "prefixItems", "not", "x-toolvet-back", "default"],
]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from(["a", "object", "string", "#", "#/$defs/a", "null"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(KEYWORDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@examples(100)
@given(schema=VALUES, name=st.sampled_from(provider_names()))
def test_any_definition_is_judged_and_rewritten(schema: object, name: str) -> None:
    tool = {"name": "a", "inputSchema": schema}
    assert all(issue.source for issue in port_issues(tool, name))
    found = portable(tool, name)
    assert found.provider == name
    found.to_original(schema)
    found.to_original([{"a": None}])


@examples(60)
@given(
    kinds=st.dictionaries(
        st.sampled_from(["a", "b", "to-date"]),
        st.sampled_from(
            [
                {"type": "string", "minLength": 2},
                {"type": ["integer", "null"], "maximum": 5},
                {"enum": [1, "x", None]},
                {"type": "array", "items": {"type": "object", "properties": {"c": {"type": "boolean"}}}},
                {"type": "object"},
                {"oneOf": [{"type": "number"}, {"type": "integer"}]},
                {"allOf": [{"type": "string"}, {"pattern": "^a"}]},
                {},
            ]
        ),
        min_size=1,
    ),
    name=st.sampled_from(provider_names()),
)
def test_a_rewritten_schema_is_never_worse_than_its_losses(kinds: dict[str, object], name: str) -> None:
    tool = schema_of(**kinds)
    found = portable(tool, name)
    assert found.is_portable, found
    back = found.to_original(valid_example(found.input_schema))
    if not found.losses:
        assert compiled(tool["inputSchema"]).is_valid(back)
