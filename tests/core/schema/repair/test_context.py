"""The context of a repair: its budget, its bounds, and the demands of the schema at each place."""

from typing import Any

import pytest
from tests.core.schema.repair.whole import SHUT, B, Schema, T, W, obj

from toolvet.core.schema import compiled
from toolvet.core.schema.demands import Demands
from toolvet.core.schema.document import Subschema
from toolvet.core.schema.repairs.context import BudgetSpent, RepairContext, View, declares_type, wanted_types
from toolvet.core.schema.repairs.search import find_repair


def spent(schema: Schema, value: object) -> int:
    """How many validations one validation of a value counts as; -1 if it is too large for any."""
    context = RepairContext(compiled(schema), validations=100)
    try:
        context.spend(value)
    except BudgetSpent:
        return -1
    return 100 - context.validations


@pytest.mark.parametrize(
    ("value", "cost"),
    [
        ({}, 1),
        ({f"{index}": index for index in range(199)}, 1),
        ({f"{index}": index for index in range(200)}, 2),
        ({f"{index}": index for index in range(400)}, 3),
        ([0] * 199, 1),
        ([0] * 200, 2),
        ({"a": [0] * 198}, 1),
        ({"a": [0] * 199}, 2),
        ({"a": {f"{index}": index for index in range(198)}}, 1),
        ({"a": {f"{index}": index for index in range(199)}}, 2),
        ([[0] * 99, [0] * 98], 1),
        ([[0] * 99, [0] * 99], 2),
        ([0] * 11_999, 60),
        ([0] * 12_000, 61),
        ([0] * 12_200, 61),
        ([0] * 19_999, 61),
        ([0] * 20_000, -1),
        ([[0] * 10_000] * 2, -1),
    ],
)
def test_a_larger_value_costs_more_up_to_a_bound(value: object, cost: int) -> None:
    assert spent({"type": "object"}, value) == cost


def test_alternatives_of_both_kinds_make_a_value_dearer() -> None:
    constants = [{"const": number} for number in range(25)]
    for schema in ({"anyOf": constants * 2}, {"anyOf": constants, "oneOf": constants}):
        assert [spent(schema, [0] * size) for size in (10_000, 10_001)] == [51, -1]
    context = RepairContext(compiled({}), validations=1)
    context.spend({})
    with pytest.raises(BudgetSpent):
        context.spend({})


CIRCLE = obj({"kind": {"const": "circle"}, "radius": W}, ["kind", "radius"])
SQUARE = obj({"kind": {"const": "square"}, "side": W, "Colour": T}, ["kind", "side"])


@pytest.mark.parametrize(
    ("value", "alike"),
    [
        ({"kind": "circle", "radius": 1}, [(1, 1, 2, 0), (1, -1, 1, -1), (0, 0, 0, 0), (-1, 0, 0, 0)]),
        ({"kind": "square", "radius": 1}, [(1, -1, 2, 0), (1, 1, 1, -1), (0, 0, 0, 0), (-1, 0, 0, 0)]),
        ({"Side": 1, "colour": "x"}, [(1, 0, 0, -2), (1, 0, 2, -1), (0, 0, 0, 0), (-1, 0, 0, 0)]),
        ({}, [(1, 0, 0, -2), (1, 0, 0, -2), (0, 0, 0, 0), (-1, 0, 0, 0)]),
        ("text", [(0, 0, 0, -2), (0, 0, 0, -2), (1, 0, 0, 0), (-1, 0, 0, 0)]),
    ],
)
def test_how_much_a_value_is_like_each_option(value: object, alike: list[tuple[int, int, int, int]]) -> None:
    context = RepairContext(compiled({"anyOf": [CIRCLE, SQUARE, T, False]}))
    view = View(context, "", value)
    demands = Demands()
    whole = context.part("")
    assert whole is not None
    demands.add(whole)
    assert [view._likeness(option, value) for option in demands.choices[0]] == alike


def test_what_cannot_be_met_is_left_out_of_the_demands() -> None:
    context = RepairContext(compiled({"properties": {"a": False, "b": W}}))
    view = View(context, "", {})
    parts = [context.part(pointer) for pointer in ("/properties/a", "/properties/b")]
    assert view.of([part for part in parts if part is not None], None).plain() == [W]


def test_the_part_of_the_schema_that_has_a_keyword() -> None:
    context = RepairContext(compiled({"anyOf": [CIRCLE, SQUARE]}))

    def schema_of(part: Subschema | None) -> object:
        return None if part is None else part.schema

    for _ in range(2):
        assert schema_of(context.holder("", "/anyOf/0/properties/radius/type")) == W
        assert schema_of(context.holder("", "/anyOf/1/required")) == SQUARE
        assert context.holder("", "/anyOf") is None
        assert schema_of(context.holder("/anyOf/0", "/properties/radius/type")) == W
    assert schema_of(context.part("/anyOf/1/properties/kind")) == {"const": "square"}
    assert context.part("/anyOf/7") is None


@pytest.mark.parametrize(
    ("schema", "declared"),
    [
        ({"type": "object"}, ["object"]),
        ({"properties": {"a": W}}, ["object"]),
        ({"required": ["a"]}, []),
        ({"type": ["array", "null"]}, ["array", "null"]),
        ({"type": "array", "properties": {"a": W}}, ["array"]),
        ({}, []),
    ],
)
def test_which_types_a_schema_declares(schema: Schema, declared: list[str]) -> None:
    demands = View(RepairContext(compiled(schema)), "", {}).demands(())
    kinds = ("object", "array", "string", "null")
    assert [kind for kind in kinds if declares_type(demands, kind)] == declared


def test_a_fraction_is_the_last_type_that_is_tried() -> None:
    for types in (["number", "integer"], ["number", "string"], ["string", "number"], ["number"]):
        (violation,) = compiled({"type": types}).violations(None)
        assert sorted(wanted_types(violation)) == sorted(types)
        assert wanted_types(violation)[-1] == "number"


@pytest.mark.parametrize(("length", "is_repaired"), [(300, True), (301, False)])
def test_three_hundred_items_are_compared(length: int, *, is_repaired: bool) -> None:
    schema = {"type": "array", "uniqueItems": True}
    made = find_repair(RepairContext(compiled(schema)), "", [*range(length - 1), 1])
    assert (made is not None) is is_repaired
    assert made is None or made.value == [*range(length - 1)]


@pytest.mark.parametrize(("count", "is_repaired"), [(2_000, True), (2_001, False)])
def test_two_thousand_slips_are_mended(count: int, *, is_repaired: bool) -> None:
    schema = {"type": "array", "items": B}
    made = find_repair(RepairContext(compiled(schema)), "", ["true"] * count)
    assert (made is not None) is is_repaired
    assert made is None or made.value == [True] * count


@pytest.mark.parametrize(("more", "is_found"), [(199, True), (200, False)])
def test_two_hundred_members_are_looked_through(more: int, *, is_found: bool) -> None:
    known: dict[str, Any] = {f"m{index}": W for index in range(more)}
    sent: dict[str, Any] = dict.fromkeys(known, 1)
    made = find_repair(RepairContext(compiled(obj({**known, "city": T}, ["city"]))), "", {**sent, "town": "Porto"})
    assert (made is not None) is is_found
    unknown = {f"n{index}": 1 for index in range(more)}
    made = find_repair(RepairContext(compiled(obj({"city": T}, ["city"], **SHUT))), "", {**unknown, "City": "Porto"})
    assert (made is not None) is is_found
