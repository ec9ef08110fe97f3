"""Two versions of a definition: which changes break a caller, and the value that proves it."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st
from tests.strategies import JSON

from toolvet.core.contract import ContractChange, compare_locks, lock_of, read_lock, write_lock
from toolvet.core.contract.covering import Effort, closed_form, covering
from toolvet.core.schema import boundary_examples, compiled, invalid_examples

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}
SHORT = {"type": "string", "maxLength": 5}
BRANCH_A = {"type": "object", "properties": {"kind": {"const": "a"}, "size": WHOLE}, "required": ["kind"]}
BRANCH_B = {"type": "object", "properties": {"kind": {"const": "b"}, "name": TEXT}, "required": ["kind"]}
LIMITED = {**BRANCH_A, "properties": {"kind": {"const": "a"}, "size": {**WHOLE, "minimum": 1}}}
VERSIONS = json.loads((Path(__file__).parent / "versions.json").read_bytes())


def of(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), **more}


def changes(old: Any, new: Any, side: str = "input") -> tuple[ContractChange, ...]:
    before, after = ({"name": "t", "inputSchema": {}, f"{side}Schema": schema} for schema in (old, new))
    return compare_locks(lock_of([before]), lock_of([after]))


def worst(found: tuple[ContractChange, ...]) -> str:
    verdicts = {each.verdict for each in found}
    return next((verdict for verdict in ("breaking", "unknown", "compatible") if verdict in verdicts), "compatible")


@pytest.mark.parametrize(
    ("old", "new", "verdict", "reason"),
    [
        (of({"a": TEXT}), of({"a": {**TEXT, "maxLength": 3}}), "breaking", "more than the maximum of 3"),
        (of({"a": {**TEXT, "maxLength": 3}}), of({"a": TEXT}), "compatible", "still are"),
        (of({"a": WHOLE}), of({"a": {"type": "number"}}), "compatible", "still are"),
        (of({"a": {"type": "number"}}), of({"a": WHOLE}), "breaking", "not an integer"),
        (of({"a": {"enum": ["x", "y"]}}), of({"a": {"enum": ["x"]}}), "breaking", "none of 'x'"),
        (of({"a": {"enum": ["x"]}}), of({"a": {"anyOf": [{"const": "x"}, WHOLE]}}), "compatible", "still are"),
        (of({"a": TEXT}), of({"a": {**TEXT, "format": "date"}}), "breaking", "date"),
        (of({"a": {**TEXT, "format": "date"}}), of({"a": TEXT}), "compatible", "still are"),
        (of({"a": {**TEXT, "pattern": "^[a-z]+$"}}), of({"a": {**TEXT, "pattern": "^a+$"}}), "breaking", "pattern"),
        (of({"a": {**TEXT, "pattern": "^a+$"}}), of({"a": {**TEXT, "pattern": "^[a-z]+$"}}), "compatible", "still"),
        (of({"a": TEXT}), of({"a": TEXT, "b": WHOLE}, "b"), "breaking", "`b` is required now"),
        (of({"a": TEXT}), of({"a": TEXT, "b": WHOLE}), "compatible", "still are"),
        (of({"a": TEXT}, "a"), of({"a": TEXT}), "compatible", "still are"),
        (of({"a": TEXT, "b": TEXT}), of({"a": TEXT}), "unknown", "`b` is not declared any more; the old name is still"),
        (of({"a": TEXT, "b": TEXT}), of({"a": TEXT}, additionalProperties=False), "breaking", "`b` is not declared"),
        (of({"a": TEXT}), of({"a": TEXT}, additionalProperties=False), "unknown", "not declared are refused now"),
        (of({"query": TEXT}, "query"), of({"q": TEXT}, "q"), "breaking", "`query` is `q` now"),
        (of({"max_results": WHOLE, "a": TEXT}), of({"results": WHOLE, "a": TEXT}), "unknown", "is `results` now"),
        (of({"a": {"type": ["string", "null"]}}), of({"a": TEXT}), "breaking", "null"),
        (of({"a": {"items": TEXT}}), of({"a": {"items": WHOLE}}), "breaking", "a[0]"),
        ({"oneOf": [BRANCH_A, BRANCH_B]}, {"oneOf": [LIMITED, BRANCH_B]}, "breaking", "size"),
        ({"oneOf": [LIMITED, BRANCH_B]}, {"oneOf": [BRANCH_B, LIMITED]}, "compatible", ""),
        (of({"m": {"additionalProperties": TEXT}}), of({"m": {"additionalProperties": WHOLE}}), "breaking", "integer"),
        (of({"a": {"$ref": "#/$defs/x"}}, **{"$defs": {"x": TEXT}}), of({"a": TEXT}), "compatible", ""),
        ({}, of({"a": TEXT}, "a"), "breaking", ""),
        (of({"a": {**TEXT, "default": "x"}}), of({"a": {**TEXT, "default": "y"}}), "unknown", "default changed"),
        (of({"a": {**TEXT, "description": "x"}}), of({"a": {**TEXT, "description": "y"}}), "compatible", "changed"),
    ],
)
def test_a_change_of_arguments(old: Any, new: Any, verdict: str, reason: str) -> None:
    found = changes(old, new)
    assert worst(found) == verdict
    assert not reason or any(reason in each.reason for each in found if each.verdict == verdict)


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        (of({"a": TEXT}, "a"), of({"a": TEXT}), "breaking"),
        (of({"a": TEXT}), of({"a": TEXT}, "a"), "compatible"),
        (of({"a": TEXT}), of({"a": TEXT, "b": TEXT}), "compatible"),
        (of({"a": TEXT}, additionalProperties=False), of({"a": TEXT, "b": TEXT}), "breaking"),
        (of({"a": TEXT, "b": TEXT}), of({"a": TEXT}), "unknown"),
        (of({"a": {"enum": ["x"]}}), of({"a": {"enum": ["x", "y"]}}), "breaking"),
        (of({"a": TEXT}), None, "breaking"),
        (None, of({"a": TEXT}), "compatible"),
    ],
)
def test_a_change_of_results(old: Any, new: Any, verdict: str) -> None:
    assert worst(changes(old, new, "output")) == verdict


def test_each_change_has_its_own_place_and_proof() -> None:
    old = of({"a": TEXT, "n": {**WHOLE, "maximum": 100}})
    new = of({"a": WHOLE, "n": {**WHOLE, "maximum": 50}, "c": TEXT}, "c")
    found = {each.pointer: each for each in changes(old, new)}
    assert found["/inputSchema/properties/c"].counter_example == {}
    assert found["/inputSchema/properties/a"].reason == "a is a string, not an integer"
    assert found["/inputSchema/properties/n/maximum"].counter_example == {"n": 51}


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ({"readOnlyHint": True}, {}, "breaking"),
        ({"readOnlyHint": False}, {"readOnlyHint": True}, "compatible"),
        ({"destructiveHint": True}, {"destructiveHint": False}, "breaking"),
        ({"destructiveHint": True}, {"readOnlyHint": True}, "compatible"),
        ({"destructiveHint": False}, {"destructiveHint": True}, "unknown"),
        ({}, {"readOnlyHint": True, "destructiveHint": False}, "compatible"),
        ({"title": "A"}, {"title": "B"}, "compatible"),
    ],
)
def test_a_change_of_hints(old: Any, new: Any, verdict: str) -> None:
    before, after = (lock_of([{"name": "t", "inputSchema": {}, "annotations": each}]) for each in (old, new))
    assert worst(compare_locks(before, after)) == verdict


def test_what_is_gone_and_what_is_new() -> None:
    old = lock_of(
        [{"name": "get_book", "inputSchema": of({"id": TEXT})}],
        [{"name": "plan", "arguments": [{"name": "city"}]}],
        [{"uri": "file:///a"}],
    )
    new = lock_of(
        [{"name": "read_book", "inputSchema": of({"id": TEXT})}],
        [{"name": "plan", "arguments": [{"name": "city", "required": True}]}],
    )
    told = [(each.kind, each.tool, each.verdict, each.reason) for each in compare_locks(old, new)]
    assert told == [
        ("tool", "get_book", "breaking", "the tool was removed; `read_book` takes the same arguments"),
        ("tool", "read_book", "compatible", "a new tool"),
        ("prompt", "plan", "breaking", "`city` is required now: missing 'city'"),
        ("resource", "file:///a", "unknown", "the resource was removed"),
    ]


def test_a_skill_whose_files_changed() -> None:
    entry: dict[str, Any] = {
        "uri": "skill://pay/SKILL.md",
        "frontmatter": {"name": "pay", "description": "Pays."},
        "resources": [
            {"uri": "skill://pay/SKILL.md", "digest": "sha256:a"},
            {"uri": "skill://pay/a.md", "digest": "b"},
        ],
    }
    new = {**entry, "frontmatter": {"name": "pay", "description": "Pays back."}, "resources": entry["resources"][:1]}
    assert not compare_locks(lock_of(skills=[entry]), lock_of(skills=[entry]))
    told = [
        (each.kind, each.pointer, each.verdict, each.reason)
        for each in compare_locks(lock_of(skills=[entry]), lock_of(skills=[new]))
    ]
    assert told == [
        ("skill", "/frontmatter", "unknown", "the frontmatter changed"),
        ("skill", "/resources", "unknown", "other files: skill://pay/a.md"),
    ]
    assert read_lock(write_lock(lock_of(skills=[entry]))) == lock_of(skills=[entry])


NEST: dict[str, Any] = {}
NEST["anyOf"] = [TEXT, {"type": "array", "items": {"$ref": "#"}}]
DEEP: dict[str, Any] = TEXT
for _ in range(500):
    DEEP = {"properties": {"a": DEEP}}


@pytest.mark.parametrize(
    "new",
    [
        {"$ref": "https://example.com/schema.json"},
        {"$ref": "#"},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {**NEST, "minItems": 1},
        {"type": 7},
        DEEP,
        {"$defs": {f"d{i}": {"anyOf": [{"$ref": f"#/$defs/d{i + 1}"}] * 4} for i in range(12)}, "$ref": "#/$defs/d0"},
        {"anyOf": [of({f"p{i}": {"enum": list(range(i + 3))}}, f"p{i}") for i in range(80)]},
        of({"a": {**TEXT, "pattern": "^(a?){200}a{200}$"}}),
        of({f"p{i}": {**WHOLE, "minimum": i} for i in range(300)}),
        of({f"p{i}": {**TEXT, "pattern": f"(.*a){{40}}.{{{i}}}$"} for i in range(40)}),
    ],
)
def test_a_hostile_schema_ends_in_a_verdict(new: Any) -> None:
    assert worst(changes(of({"a": TEXT}), new)) in ("unknown", "breaking", "compatible")
    changes(new, of({"a": TEXT}), "output")


def shelf(count: int, leaf: Any, **beside: Any) -> dict[str, Any]:
    """A grid of `count` by `count` texts: each member refers to the same row, so that any two may be compared."""
    row = of({f"y{i}": leaf for i in range(count)})
    return of({f"x{i}": {"$ref": "#/$defs/row", **beside} for i in range(count)}, **{"$defs": {"row": row}})


def tower(count: int, leaf: Any) -> dict[str, Any]:
    """`count` floors, each with two references to the floor below it."""
    floors = {
        f"f{i}": of({"a": {"$ref": f"#/$defs/f{i - 1}"}, "b": {"$ref": f"#/$defs/f{i - 1}"}}) for i in range(1, count)
    }
    return of({"x": {"$ref": f"#/$defs/f{count - 1}", "minProperties": 0}}, **{"$defs": {"f0": leaf, **floors}})


def choice(count: int, leaf: Any) -> dict[str, Any]:
    branches = [of({"kind": {"const": f"{i}"}, "p": leaf, "q": TEXT}, "kind") for i in range(count)]
    return of({"x": {"oneOf": branches}})


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        (shelf(20, TEXT, minProperties=0), shelf(20, SHORT, minProperties=0)),
        (shelf(40, TEXT, minProperties=0), shelf(40, SHORT, minProperties=0)),
        (tower(10, TEXT), tower(10, SHORT)),
        (tower(300, TEXT), tower(300, SHORT)),
        (choice(40, TEXT), choice(40, SHORT)),
        (of({f"p{i}": TEXT for i in range(2_000)}), of({f"p{i}": SHORT for i in range(2_000)})),
    ],
)
def test_a_proof_that_would_take_too_long_is_not_begun(wide: Any, narrow: Any) -> None:
    effort = Effort()
    whole = effort.proving
    assert covering(wide, narrow, effort=effort).verdict in ("no", "unknown")
    assert effort.proving == whole


def test_proofs_share_one_budget_and_the_search_has_its_own() -> None:
    wide, narrow = of({"a": TEXT, "b": SHORT}), of({"a": SHORT, "b": SHORT})
    effort = Effort()
    whole = effort.proving
    assert covering(narrow, wide, effort=effort).verdict == "yes"
    spent = whole - effort.proving
    assert 0 < spent < whole / 1_000
    effort = Effort(proving=spent)
    assert [covering(narrow, wide, effort=effort).verdict for _ in range(2)] == ["yes", "unknown"]
    assert covering(wide, narrow, effort=effort).verdict == "no"
    assert covering(wide, narrow, effort=Effort(left=0)).tries == 0


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        (shelf(8, SHORT, minProperties=0), shelf(8, TEXT, minProperties=0)),
        (tower(5, SHORT), tower(5, TEXT)),
        (choice(6, SHORT), choice(6, {"type": ["string", "null"]})),
        (of({f"p{i}": SHORT for i in range(400)}), of({f"p{i}": TEXT for i in range(400)})),
    ],
)
def test_ordinary_references_and_unions_are_still_proven(wide: Any, narrow: Any) -> None:
    assert covering(wide, narrow).verdict == "yes"


PARTS: tuple[Any, ...] = (
    *(
        TEXT,
        WHOLE,
        {},
        {"type": "number", "minimum": 0},
        {"type": ["string", "null"]},
        {"enum": ["a", "b"]},
        {"const": 1},
    ),
    *({**TEXT, "maxLength": 4}, {**TEXT, "pattern": "^a"}, {**TEXT, "format": "date"}, {**WHOLE, "multipleOf": 2}),
    *(
        {"anyOf": [TEXT, WHOLE]},
        {"type": "array", "items": TEXT, "maxItems": 2},
        of({"x": TEXT}, "x"),
        of({"y": WHOLE}),
    ),
    *(
        {"oneOf": [BRANCH_A, BRANCH_B]},
        {"oneOf": [LIMITED, BRANCH_B]},
        {"not": TEXT},
        {"allOf": [TEXT, {"minLength": 1}]},
    ),
)
PART = st.sampled_from(PARTS)
SCHEMA = st.builds(
    lambda properties, required, closed: of(
        properties,
        *(name for name in required if name in properties),
        **({"additionalProperties": False} if closed else {}),
    ),
    st.dictionaries(st.sampled_from("abc"), PART, max_size=3),
    st.sets(st.sampled_from("abc")),
    st.booleans(),
)


@given(SCHEMA, SCHEMA, st.sampled_from(["input", "output"]))
def test_each_break_is_proven_and_nothing_compatible_breaks(old: Any, new: Any, side: str) -> None:
    accepting, refusing = (old, new) if side == "input" else (new, old)
    found = changes(old, new, side)
    for each in found:
        if each.verdict == "breaking":
            assert compiled(accepting).is_valid(each.counter_example)
            assert not compiled(refusing).is_valid(each.counter_example)
    if worst(found) == "compatible":
        # Members that are not declared do not count.
        closed, _ = closed_form(accepting)
        near = [each.instance for each in boundary_examples(closed)]
        near += [each.instance for each in invalid_examples(refusing)]
        for value in near:
            if compiled(accepting).is_valid(value) and compiled(closed).is_valid(value):
                assert compiled(refusing).is_valid(value)


@given(st.dictionaries(st.sampled_from(["name", "inputSchema", "outputSchema", "annotations", "title"]), JSON), JSON)
def test_any_definitions_are_compared(old: Any, new: Any) -> None:
    named = {"name": "t", "inputSchema": new, "outputSchema": new}
    compare_locks(lock_of([old, new, named]), lock_of([named, old, {**old, "name": "t"}]))


@pytest.mark.parametrize("pair", VERSIONS, ids=lambda pair: f"{pair['server']} {pair['old']} {pair['new']}")
def test_versions_of_real_servers_have_the_verdicts_of_a_person(pair: Any) -> None:
    assert worst(compare_locks(lock_of(pair["before"]), lock_of(pair["after"]))) == pair["verdict"]
