"""What errors cost: each one repeats the value that it is about, so memory and work have a budget."""

import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, strategies as st

from toolvet import check_arguments
from toolvet.core.checks.arguments.issue import _similar_values
from toolvet.core.checks.result.check import output_schema_validation
from toolvet.core.checks.result.response import read_response
from toolvet.core.json_value import count_values
from toolvet.core.schema import compiled, weight
from toolvet.core.schema.demands import Demands
from toolvet.core.schema.document import DIALECTS, Scope, Subschema
from toolvet.core.schema.generator import Generator, ValueLocation
from toolvet.core.schema.violation import MOST_LISTED
from toolvet.core.schema.weight import CopyCounter, _CopyWalk

if TYPE_CHECKING:
    from collections.abc import Callable


def required(count: int) -> dict[str, Any]:
    return {"required": [f"p{index}" for index in range(count)]}


LARGE = "a" * 1_000_000
# Schema and value: the errors of each would fill the memory if all of them were made.
BOMBS: dict[str, tuple[Any, Any]] = {
    "required": (required(10_000), {"a": LARGE}),
    "required further inside": ({"properties": {"o": required(10_000)}}, {"o": {"a": LARGE}}),
    "required of a few items": ({"items": required(1_000)}, [{"a": "x" * 1_000} for _ in range(1_000)]),
    "alternatives": ({"anyOf": [required(3_000), required(3_000)]}, {"a": LARGE}),
    "one of": ({"properties": {"o": {"oneOf": [required(3_000)] * 2}}}, {"o": {"a": LARGE}}),
    "dependencies": ({"dependentRequired": {"a": required(5_000)["required"]}}, {"a": LARGE}),
    "names": ({"propertyNames": {"maxLength": 2}}, {f"key{index}": "x" * 100 for index in range(10_000)}),
    "long lists of values": ({"items": {"enum": list(range(50_000))}}, ["zz"] * 1_000),
    "long constants": ({"items": {"const": LARGE}}, ["zz"] * 1_000),
    "long patterns": ({"items": {"pattern": "^" + "c" * 50_000}}, ["zz"] * 1_000),
    "joined": ({"allOf": [{"minProperties": 5 + index} for index in range(2_000)]}, {"a": LARGE}),
}
MEASURE = """
import resource, sys
from tests.core.schema.test_budget import BOMBS
from toolvet import check_arguments
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
check_arguments({"name": "t", "inputSchema": {"required": ["a"]}}, {}).to_text()
before = peak()
schema, value = BOMBS[sys.argv[1]]
report = check_arguments({"name": "t", "inputSchema": schema}, value)
assert not report.valid
assert report.repair is None
report.to_text()
print(peak() - before)
"""


@pytest.mark.parametrize("name", BOMBS)
def test_no_value_makes_errors_fill_the_memory(name: str) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    limited = ["sh", "-c", 'ulimit -v 4000000; exec "$@"', "sh", sys.executable, "-c", MEASURE, name]
    done = subprocess.run(limited, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    # 50 MB and ten times the input, which is at most 2 MB.
    assert int(done.stdout) < 70


@pytest.mark.parametrize("name", BOMBS)
def test_what_is_not_listed_is_reported(name: str) -> None:
    schema, value = BOMBS[name]
    violations = compiled(schema).violations(value)
    assert violations[-1].keyword == "unlisted"
    assert len(violations) <= MOST_LISTED + 1
    issues = check_arguments({"name": "t", "inputSchema": schema}, value).issues
    assert (issues[-1].keyword, issues[-1].kind) == ("unlisted", "partial")
    assert "may be incomplete" in issues[-1].problem
    assert len(issues) <= MOST_LISTED + 1


def test_the_number_of_those_that_are_not_listed_is_known() -> None:
    schema = required(MOST_LISTED + 500)
    *listed, rest = compiled(schema).violations({})
    assert (len(listed), rest.keyword, rest.params) == (MOST_LISTED, "unlisted", {"more": 500})
    last = check_arguments({"name": "t", "inputSchema": schema}, {}).issues[-1]
    assert last.problem == "The list of problems may be incomplete: there are at least 500 more"
    found = output_schema_validation(schema, read_response({"content": [], "structuredContent": {}}))
    assert found is not None
    assert str(found.error).endswith(f" and {MOST_LISTED + 500 - 3} more")


def test_members_that_are_not_allowed_are_listed_up_to_the_limit() -> None:
    schema = {"unevaluatedProperties": False}
    issues = check_arguments(
        {"name": "t", "inputSchema": schema}, {f"k{index}": 1 for index in range(MOST_LISTED + 7)}
    ).issues
    assert len(issues) == MOST_LISTED + 1
    assert "at least 7 more" in issues[-1].problem


def test_missing_members_are_listed_as_the_validator_reports_them() -> None:
    named = {"required": ["a", 'b"c', "é/~", "d"]}
    many = required(20_000)
    usual = compiled(named).violations({"d": 1})
    large = compiled({"required": [*named["required"], *many["required"]]}).violations({"d": LARGE})
    assert [(each.message, each.pointer, each.schema_pointer, each.params) for each in large[:3]] == [
        (each.message, each.pointer, each.schema_pointer, each.params) for each in usual
    ]


def doubling(depth: int) -> tuple[dict[str, Any], object]:
    """A schema in which two keywords lead to the same value with each level, and a value that breaks one at the top."""
    again = {"$ref": "#/$defs/n"}
    node = {"properties": {"c": again}, "patternProperties": {"^c": again}}
    value: object = {"e": 1}
    for _ in range(depth):
        value = {"c": value}
    return {**again, "maxProperties": 0, "$defs": {"n": node}}, value


def test_references_that_multiply_with_the_depth_are_not_followed() -> None:
    schema, value = doubling(100)
    (rest,) = compiled(schema).violations(value)
    assert rest.keyword == "unlisted"
    schema, value = doubling(5)
    assert [found.keyword for found in compiled(schema).violations(value)] == ["maxProperties"]


def test_the_estimate_itself_takes_a_bounded_number_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = 0
    spend: Callable[[_CopyWalk, int], None] = _CopyWalk._spend

    def counted(walk: _CopyWalk, steps: int) -> None:
        nonlocal taken
        taken += steps
        spend(walk, steps)

    monkeypatch.setattr(_CopyWalk, "_spend", counted)
    document = {"patternProperties": {f"^{index}": {"type": "string"} for index in range(5_000)}}
    counter = CopyCounter(Subschema(document, Scope(document, DIALECTS[-1])))
    assert counter.affordable({f"k{index}": 1 for index in range(3_000)}) == "first"
    assert taken < 101_000


def test_missing_members_do_not_read_the_schema_for_each(monkeypatch: pytest.MonkeyPatch) -> None:
    def reads(count: int) -> int:
        taken = 0
        declared = Demands.declared

        def counted(demands: Demands) -> list[str]:
            nonlocal taken
            taken += 1
            return declared(demands)

        schema = {"properties": {f"p{index}": {"type": "integer"} for index in range(count)}, **required(count)}
        with monkeypatch.context() as patch:
            patch.setattr(Demands, "declared", counted)
            assert len(check_arguments({"name": "t", "inputSchema": schema}, {"other": "x"}).issues) == count
        return taken

    assert reads(1_000) == reads(500)


class Name(str):
    """A name that counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_required_members_are_not_compared_with_each_other() -> None:
    count = 1_000
    schema = {"required": [Name(f"p{index}") for index in range(count)]}
    Name.compared = 0
    written = Generator("all").value([Subschema(schema, Scope(schema, DIALECTS[-1]))], ValueLocation())
    assert len(str(written)) > count
    assert Name.compared < 20 * count


class Text(str):
    """A text that counts how often it is written in small letters."""

    __slots__ = ()
    lowered = 0

    def lower(self) -> str:
        Text.lowered += 1
        return super().lower()


def test_a_long_value_is_not_compared_with_every_option() -> None:
    Text.lowered = 0
    assert _similar_values(Text("z" * 100), list(range(1_000))) == ()
    assert _similar_values(Text("TRUE"), [*range(1_000), True]) == (True,)
    assert Text.lowered <= 2


TREE: dict[str, Any] = {
    "type": "object",
    "required": ["name", "kind"],
    "properties": {"name": {"type": "string", "enum": ["a", "b"]}, "in": {"type": "array", "items": {"$ref": "#"}}},
    "additionalProperties": {"$ref": "#/$defs/leaf"},
    "$defs": {"leaf": {"$ref": "#/$defs/number"}, "number": {"type": "number", "const": 1}},
}
VALUES = st.recursive(
    st.sampled_from(["a", "x" * 50, 1, 2.5, None]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["name", "kind", "in", "other"]), inner, max_size=4)
    ),
    max_leaves=25,
)


@pytest.mark.parametrize("shared", [{}, {"allOf": [{"$ref": "#"}]}, {"patternProperties": {"": {"$ref": "#"}}}])
def test_a_recursive_schema_that_shares_nothing_is_not_walked(
    monkeypatch: pytest.MonkeyPatch, shared: dict[str, object]
) -> None:
    walked: list[object] = []

    def noted() -> _CopyWalk:
        walked.append(1)
        return _CopyWalk()

    monkeypatch.setattr(weight, "_CopyWalk", noted)
    schema = {"type": "object", "properties": {"in": {"items": {"$ref": "#"}, **shared}}, "required": ["name"]}
    counter = CopyCounter(Subschema(schema, Scope(schema, DIALECTS[-1])))
    assert counter.affordable({"in": [{"in": [{}, 5]}, {"name": 1}]}) == "all"
    assert bool(walked) == bool(shared)
    walked.clear()
    # Deep ones are: each level copies what is below it.
    deep: object = "x" * 10_000
    for _ in range(100):
        deep = {"in": [deep]}
    assert counter.affordable(deep) == "all"
    assert walked


@given(VALUES)
def test_the_quick_bound_is_never_below_the_walk(value: object) -> None:
    whole = Subschema(TREE, Scope(TREE, DIALECTS[-1]))
    counter = CopyCounter(whole)
    assert counter._each < 100
    values = count_values(value, 10_000)
    bound = (len(weight._marshalled(value, 2)) + values * weight._OF_ERROR) * values * counter._each
    assert _CopyWalk().copies(whole, value)[0] <= bound
