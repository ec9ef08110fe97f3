"""Repairs at their borders: how deep, how long, how many; and the steps of a repair, in full."""

import json
from typing import Any

import pytest

from toolvet.core.schema import compiled, recover, repair
from toolvet.core.schema.repairs.context import RepairContext
from toolvet.core.schema.repairs.leaf import convert
from toolvet.core.schema.repairs.members import _likeness
from toolvet.core.schema.repairs.notation import moments, variants


@pytest.mark.parametrize(
    ("text", "is_read"),
    [
        ("[" * 151, True),
        ("[" * 152, False),
        ('{"a":' * 150 + "{", True),
        ('{"a":' * 151 + "{", False),
        ('{"a": ' + "1" * 400 + ",}", True),
        ('{"a": ' + "1" * 401 + ",}", False),
    ],
)
def test_text_is_read_so_deep_and_numbers_so_long(text: str, is_read: bool) -> None:  # noqa: FBT001 - a column of the table.
    found = recover(text)
    assert (found is not None) is is_read


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            "{'a': 1E5, 'b': 1e5, 'c': 1., 'd': 10, 'e': 1_0}",
            '{"a": 100000.0, "b": 100000.0, "c": 1.0, "d": 10, "e": 10}',
        ),
        ("{'a': '\\/\\b\\f\\n\\r\\t\\\\'}", '{"a": "/\\b\\f\\n\\r\\t\\\\"}'),
    ],
)
def test_whole_numbers_stay_whole_and_escapes_are_those_of_json(text: str, value: str) -> None:
    found = recover(text)
    assert found is not None
    assert json.dumps(found.value) == value


@pytest.mark.parametrize(
    ("value", "kind", "guesses"),
    [
        ("9007199254740991.0", "integer", [(2**53 - 1, "high")]),
        ("9007199254740992.0", "integer", []),
        ("-9007199254740992.0", "integer", []),
        (9007199254740991.0, "string", [("9007199254740991", "medium"), ("9007199254740991.0", "medium")]),
        (9007199254740992.0, "string", [("9007199254740992.0", "medium")]),
        ("a,\nb", "array", [(["a", "b"], "medium"), (["a,\nb"], "low")]),
        ("a;\nb", "array", [(["a;\nb"], "medium")]),
        ("a;b;", "array", [(["a", "b"], "medium"), (["a;b;"], "low")]),
    ],
)
def test_conversions_at_their_borders(value: object, kind: str, guesses: list[tuple[object, str]]) -> None:
    assert [(guess.value, guess.confidence) for guess in convert(value, kind, "", ())] == guesses


INNER = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]}
OTHER = {"type": "object", "properties": {"y": {"type": "integer"}}, "required": ["y"]}
SHAPES: dict[str, Any] = {
    "two objects": {"type": "object", "properties": {"a": INNER, "b": OTHER}, "additionalProperties": False},
    "union in a union": {
        "anyOf": [
            {
                "type": "object",
                "properties": {
                    "of": {
                        "anyOf": [
                            {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]},
                            {"type": "array", "items": {"type": "boolean"}, "minItems": 1},
                        ]
                    }
                },
                "required": ["of"],
            },
            {"type": "string", "maxLength": 3},
        ]
    },
}


@pytest.mark.parametrize(
    ("shape", "sent", "meant", "confidence", "steps"),
    [
        (
            "two objects",
            {"y": 1},
            {"b": {"y": 1}},
            "medium",
            ["Added '/b' with an object, to hold what belongs there.", "Moved '/y' to '/b/y'."],
        ),
        (
            "union in a union",
            {"of": {"n": "5"}},
            {"of": {"n": 5}},
            "high",
            ["Changed '/of/n' from the text \"5\" to the number 5."],
        ),
        (
            "union in a union",
            {"of": ["true"]},
            {"of": [True]},
            "high",
            ["Changed '/of/0' from the text \"true\" to true."],
        ),
    ],
)
def test_the_steps_of_a_repair(shape: str, sent: object, meant: object, confidence: str, steps: list[str]) -> None:
    found = repair(SHAPES[shape], sent)
    assert found is not None
    assert (found.arguments, found.confidence, list(found.steps)) == (meant, confidence, steps)


def test_a_pointer_of_a_part_is_made_one_of_the_whole() -> None:
    context = RepairContext(compiled(SHAPES["union in a union"]))
    assert context.absolute("/anyOf/0", "/properties/of") == "/anyOf/0/properties/of"
    assert context.absolute("", "/anyOf/1/type") == "/anyOf/1/type"
    # Behind a reference a validator reports pointers from the root.
    assert context.absolute("/anyOf/0", "/anyOf/1") == "/anyOf/1"


PERSON = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}


@pytest.mark.parametrize(
    ("schema", "sent", "meant", "confidence"),
    [
        (
            {"type": "object", "properties": {"user": PERSON}},
            {"user": {"user": {"name": "Ann", "age": 5}}},
            "user",
            "high",
        ),
        (PERSON, {"user": {"name": "Ann", "age": 5}}, "", "medium"),
    ],
)
def test_an_object_in_a_member_of_its_own_name_is_taken_out(
    schema: dict[str, Any], sent: object, meant: str, confidence: str
) -> None:
    found = repair(schema, sent)
    person = {"name": "Ann", "age": 5}
    assert found is not None
    assert (found.arguments, found.confidence) == ({meant: person} if meant else person, confidence)


@pytest.mark.parametrize(
    ("sent", "name", "alike"),
    [("colour", "color", 2), ("file", "file_path", 2), ("id", "task_id", 2), ("town", "city", 1), ("town", "size", 0)],
)
def test_how_alike_two_names_are(sent: str, name: str, alike: int) -> None:
    assert _likeness(sent, name) == alike


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("9am", [("", "09:00:00", "")]),
        (" '9:30 pm' ", [("", "21:30:00", "")]),
        ("12am", [("", "00:00:00", "")]),
        ("9", []),
        (10**9 - 1, []),
        (10**9, [("2001-09-09", "01:46:40", "Z")]),
        (10**10 - 1, [("2286-11-20", "17:46:39", "Z")]),
        (10**10, []),
        (10**12 - 1, []),
        (10**12, [("2001-09-09", "01:46:40", "Z")]),
        (10**13 - 1, [("2286-11-20", "17:46:39", "Z")]),
        (10**13, []),
        (True, []),
        ("March 3, 2025 " + " " * 60, [("2025-03-03", "", "")]),
        ("x" * 51, []),
    ],
)
def test_the_moment_that_a_value_states(value: object, found: list[tuple[str, str, str]]) -> None:
    assert [(each.day, each.time, each.offset) for each in moments(value)] == found


@pytest.mark.parametrize(
    ("pattern", "sent", "meant", "confidence"),
    [
        (r"^\d\d:\d\d$", "9:30 pm", "21:30", "high"),
        (r"^\d\d:\d\d:\d\d$", "9:30 pm", "21:30:00", "high"),
        (r"^\d{8}$", "2025-03-13", "20250313", "high"),
        (r"^\d{4}/\d\d/\d\d$", "2025-03-13", "2025/03/13", "high"),
        (r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$", "2025-03-13T09:30", "2025-03-13 09:30:00", "high"),
        (r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$", "2025-03-13 09:30", "2025-03-13T09:30:00Z", "medium"),
    ],
)
def test_days_and_times_in_the_notation_of_a_pattern(pattern: str, sent: str, meant: str, confidence: str) -> None:
    schema = {"type": "object", "properties": {"at": {"type": "string", "pattern": pattern}}, "required": ["at"]}
    found = repair(schema, {"at": sent})
    assert found is not None
    assert (found.arguments, found.confidence) == ({"at": meant}, confidence)


@pytest.mark.parametrize(
    "value", ["Ann <a@b.org>", "b.org/x", "<https://b.org>", "urn:uuid:0189F7A6-1111-7111-8111-0123456789AB", "9:30 pm"]
)
def test_a_text_is_rewritten_only_for_the_format_that_asks_for_it(value: str) -> None:
    assert list(variants(value, [{"format": "hostname"}])) == []
    assert list(variants(value, [{"pattern": "x"}])) != []


@pytest.mark.parametrize(
    "value", [{None: 1, "limit": "10"}, {"limit": "10", "more": {None: 1}}, {"limit": [{None: None}]}]
)
def test_a_value_with_a_key_that_is_none_has_no_repair(value: dict[Any, Any]) -> None:
    schema = {"type": "object", "properties": {"limit": {"type": "integer"}}, "required": ["limit"]}
    before = repr(value)
    assert repair(schema, {"limit": "10"}) is not None
    assert repair(schema, value) is None
    assert repr(value) == before
