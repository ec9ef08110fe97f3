"""How much the search for a repair does: what was found once is not looked for again."""

from typing import Any

import pytest

from toolvet import check_arguments, repair
from toolvet.core.checks.arguments.issue import _known_place
from toolvet.core.json_value import pointer
from toolvet.core.schema import Schema, Violation, compiled
from toolvet.core.schema.document import Scope, Subschema
from toolvet.core.schema.repairs.context import PathPatch, RepairContext, View
from toolvet.core.schema.repairs.leaf import leaf_answer

LEAVES: dict[str, Any] = {
    "type": "object",
    "properties": {"days": {"type": "integer"}, "nights": {"type": "integer"}, "port": {"type": "string"}},
}


def tool(schema: dict[str, Any]) -> dict[str, Any]:
    return {"name": "sail", "inputSchema": schema}


@pytest.fixture
def validated(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The values whose errors were listed."""
    found: list[object] = []
    explain = Schema.explain

    def listed(self: Schema, value: object) -> tuple[Violation, ...]:
        found.append(value)
        return explain(self, value)

    monkeypatch.setattr(Schema, "explain", listed)
    return found


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The places for which an answer was looked for."""
    found: list[object] = []

    def look(view: View, path: Any, violations: Any) -> PathPatch | None:
        found.append(path)
        return leaf_answer(view, path, violations)

    monkeypatch.setattr("toolvet.core.schema.repairs.search.leaf_answer", look)
    return found


def test_the_errors_of_a_call_are_listed_once_and_its_repair_is_only_found_valid(validated: list[object]) -> None:
    report = check_arguments(tool(LEAVES), {"days": "3", "port": 7})
    assert report.repair is not None
    assert report.repair.arguments == {"days": 3, "port": "7"}
    assert validated == [{"days": "3", "port": 7}]
    assert "Lisbon" not in report.to_text()
    assert len(validated) == 1


@pytest.mark.parametrize(
    ("sent", "looked_for"),
    [
        ({"days": "soon", "nights": "3"}, [("days",)]),
        ({"nights": "3", "days": "soon"}, [("nights",), ("days",)]),
        ({"port": [1, 2], "days": "soon", "nights": "x"}, [("port",)]),
    ],
)
def test_one_member_without_an_answer_ends_the_search(
    sent: dict[str, object], looked_for: list[object], answered: list[object], validated: list[object]
) -> None:
    assert check_arguments(tool(LEAVES), sent).repair is None
    assert answered == looked_for
    assert validated == [sent]


@pytest.mark.parametrize(
    "extra",
    [
        {"dependentRequired": {"days": ["nights"]}},
        {"maxProperties": 2},
        {"allOf": [{"required": ["days"]}]},
        {"if": {"required": ["days"]}, "then": {"required": ["nights"]}},
    ],
)
def test_where_members_depend_on_one_another_each_is_looked_at(extra: dict[str, Any], answered: list[object]) -> None:
    sent = {"days": "soon", "nights": "3"}
    assert check_arguments(tool({**LEAVES, **extra}), sent).repair is None
    assert answered[:2] == [("days",), ("nights",)]


def test_a_member_of_the_wrong_object_may_still_move_where_another_has_no_answer() -> None:
    schema = {
        "type": "object",
        "properties": {
            "days": {"type": "string"},
            "route": {"type": "object", "properties": {"port": {"type": "string"}}, "additionalProperties": False},
        },
    }
    sent = {"route": {"port": "Faro", "days": "3"}}
    found = repair(schema, sent)
    assert found is not None
    assert found.arguments == {"route": {"port": "Faro"}, "days": "3"}


def test_arguments_that_were_changed_since_are_repaired_as_they_are_now() -> None:
    schema = {"type": "object", "properties": {"legs": {"type": "array", "items": {"type": "object"}}}}
    sent: dict[str, Any] = {"legs": ["a", '{"to": "Faro"}']}
    report = check_arguments(tool(schema), sent)
    sent["legs"] = ['{"to": "Faro"}']
    assert report.repair is not None
    assert report.repair.arguments == {"legs": [{"to": "Faro"}]}


def test_what_the_violations_are_about_may_be_gone_altogether() -> None:
    schema = {"type": "object", "properties": {"legs": {"type": "array", "items": {"type": "object"}}}}
    sent: dict[str, Any] = {"legs": ["a"]}
    report = check_arguments(tool(schema), sent)
    sent["legs"] = 5
    assert report.repair is None or compiled(schema).is_valid(report.repair.arguments)


def test_a_place_of_a_schema_is_read_once_for_all_calls() -> None:
    ready = compiled(LEAVES)
    first, second = (View(RepairContext(ready), "", {"days": days}) for days in ("1", "2"))
    assert first.place(("days",)) is second.place(("days",))
    union = compiled({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]})
    first, second = (View(RepairContext(union), "", {name: 1}) for name in "ab")
    assert [view.place(()).required for view in (first, second)] == [{"a"}, {"b"}]


def test_what_is_demanded_is_forgotten_where_more_is_added() -> None:
    ready = compiled({"required": ["a"], "properties": {"a": {}}})
    scope = Scope(ready.usable, ready.dialect)
    demands = View(RepairContext(ready), "", {}).demands(()).copy()
    assert (demands.required(), demands.declared()) == (["a"], ["a"])
    demands.add(Subschema({"required": ["b"], "properties": {"c": {}}}, scope))
    assert (demands.required(), demands.declared()) == (["a", "b"], ["a", "c"])
    demands.required().append("d")
    assert demands.required() == ["a", "b"]


@pytest.mark.parametrize(
    ("path", "written"),
    [
        ((), ""),
        (("",), "/"),
        (("a", "b"), "/a/b"),
        (("a", 0, "b"), "/a/0/b"),
        (("a/b",), "/a~1b"),
        (("a~b", "c"), "/a~0b/c"),
        (("a/b", 0, "~"), "/a~1b/0/~0"),
        (("", ""), "//"),
    ],
)
def test_a_path_is_written_as_a_pointer(path: tuple[str | int, ...], written: str) -> None:
    assert pointer(path) == pointer(list(path)) == written


def test_violations_stand_in_the_order_of_the_value() -> None:
    schema = {
        "properties": {"a": {"type": "integer"}, "b": {"items": {"type": "integer"}}, "c": {"type": "integer"}},
        "required": ["d"],
    }
    flat = compiled(schema).violations({"c": "", "a": ""})
    assert [each.pointer for each in flat] == ["", "/c", "/a"]
    deep = compiled(schema).violations({"c": "", "b": [1, "", ""], "a": ""})
    assert [each.pointer for each in deep] == ["", "/c", "/b/1", "/b/2", "/a"]
    inner = {"properties": {name: {"type": "integer"} for name in "xy"}}
    nested = compiled({"properties": {"b": inner}}).violations({"b": {"y": "", "x": ""}})
    assert [each.pointer for each in nested] == ["/b/y", "/b/x"]


def test_only_short_places_are_kept() -> None:
    kept = _known_place.cache_info().currsize
    schema = {"type": "object", "additionalProperties": {"type": "integer"}}
    assert len(check_arguments(tool(schema), {"a" * 200: "", "b" * 101: ""}).issues) == 2
    assert _known_place.cache_info().currsize == kept
    assert check_arguments(tool(schema), {"a name of these tests alone": ""}).issues
    assert _known_place.cache_info().currsize in (kept + 1, 4096)
