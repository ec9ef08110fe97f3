"""The parts of a repair at their borders: lenient reading, near names, conversions, budgets, choices."""

from collections.abc import Mapping
from typing import Any

import pytest

from toolvet.core.schema import compiled, recover, repair
from toolvet.core.schema.repairs.context import (
    BudgetSpent,
    Operation,
    RepairContext,
    View,
    apply,
    declares_type,
    distance,
    is_known,
    least,
    mean_the_same,
    meant,
    nearest,
    unquoted,
)
from toolvet.core.schema.repairs.leaf import convert, match_options
from toolvet.core.schema.repairs.notation import variants
from toolvet.core.schema.repairs.search import _kind_of, describe_value, name_place


@pytest.mark.parametrize(
    ("text", "value", "confidence"),
    [
        ('{"a"=1}', {"a": 1}, "medium"),
        ('{"a" => [1], "b"= 2}', {"a": [1], "b": 2}, "medium"),
        ('{"a": "b\\\nc"}', None, ""),
        ('{"a": "\\u00e9"}', {"a": "é"}, "high"),
        ('{"a": "\\u00g9"}', None, ""),
        ('{"a": "x\\u00', {"a": "x"}, "low"),
        ('{"a": "x\\ud83d', {"a": "x"}, "low"),
        ('{"a": "x\\', {"a": "x"}, "low"),
        ('{"a": "\\\'"}', {"a": "'"}, "high"),
        ('{"a": "\\d+"}', {"a": "\\d+"}, "medium"),
        ("{'a': (1)}", None, ""),
        ("{'a': ()}", {"a": []}, "high"),
        ("{'a': (1, 2", {"a": [1, 2]}, "low"),
        ("{'a': 1, 'a': 2}", None, ""),
        ("{'a': 1, 'a': 1}", {"a": 1}, "high"),
        ('{"a": 007}', None, ""),
        ('{"a": 0}', {"a": 0}, "high"),
        ('{"a": -0.5e1}', {"a": -5.0}, "high"),
        ('{"a": 1e999}', None, ""),
        ('{"a": undefined}', {"a": None}, "high"),
        ('{"a": nothing}', None, ""),
        ('{"a" 1}', None, ""),
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}, "medium"),
        ('{"a": 1 /* no end', None, ""),
        ('{"a": 1 // no end', None, ""),
        ('{"a": 1, /**/}', {"a": 1}, "high"),
        ('{"a": [1,,2]}', None, ""),
        ('{"a": [1,', {"a": [1]}, "low"),
        ('{"a": [[1], ["x"]', {"a": [[1], ["x"]]}, "medium"),
        ('{"a', None, ""),
    ],
)
def test_text_that_was_nearly_json(text: str, value: object, confidence: str) -> None:
    found = recover(text)
    assert (None if found is None else found.value) == value
    assert found is None or found.confidence == confidence


@pytest.mark.parametrize(
    ("text", "options", "option", "confidence"),
    [
        ("'asc' ", ["asc", "desc"], "asc", "high"),
        ("ASC", ["asc", "desc"], "asc", "high"),
        ("created at", ["created_at", "updated_at"], "created_at", "high"),
        ("Asc", ["asc", "ASC"], None, ""),
        ("asc", ["asc", "ASC"], "asc", "high"),
        ("", ["asc"], None, ""),
        ("-", ["asc"], None, ""),
        # One letter of four to seven may be wrong, two of eight and more.
        ("relevence", ["relevance", "date"], "relevance", "medium"),
        ("relavence", ["relevance", "date"], "relevance", "medium"),
        ("relavenze", ["relevance", "date"], None, ""),
        ("dats", ["date", "size"], "date", "medium"),
        ("dzts", ["date", "size"], None, ""),
        ("foo", ["fou"], None, ""),
        ("priority", ["priorities", "other"], None, ""),
        ("colour", ["color", "colours"], None, ""),
        ("v2", ["v1"], None, ""),
        ("version1", ["version2"], None, ""),
        ("desc", ["descending", "ascending"], "descending", "medium"),
        ("de", ["descending", "ascending"], None, ""),
        ("des", ["descending", "description"], None, ""),
        ("descending order", ["descending", "ascending"], "descending", "medium"),
        ("x" * 81, ["x" * 81], None, ""),
        ("x" * 80, ["x" * 80, "x" * 81], "x" * 80, "high"),
    ],
)
def test_the_nearest_name(text: str, options: list[str], option: str | None, confidence: str) -> None:
    found = nearest(text, options)
    assert (None if found is None else found.option) == option
    assert found is None or found.confidence == confidence
    assert nearest(text, [*options, *(f"{n}#" * 9 for n in range(2_000))]) is None


@pytest.mark.parametrize(
    ("left", "right", "away"),
    [
        ("ab", "ab", 0),
        ("ab", "ba", 1),
        ("ab", "abc", 1),
        ("abc", "axc", 1),
        ("abcd", "bcda", 2),
        ("abcdef", "uvwxyz", 3),
    ],
)
def test_the_distance_of_two_words_is_the_same_from_both_sides(left: str, right: str, away: int) -> None:
    assert distance(left, right, 2) == distance(right, left, 2) == away


@pytest.mark.parametrize(
    ("text", "bare"),
    [(' "a" ', "a"), ("''a''", "'a'"), ("\u201ca\u201d", "a"), ('"', '"'), ('""', ""), ('"a', '"a'), ("a", "a")],
)
def test_one_pair_of_quotation_marks_is_taken_off(text: str, bare: str) -> None:
    assert unquoted(text) == bare


def guesses(value: object, kind: str, name: str = "", *schemas: Mapping[str, object]) -> list[tuple[object, str]]:
    return [(guess.value, guess.confidence) for guess in convert(value, kind, name, schemas)]


@pytest.mark.parametrize(
    ("value", "kind", "found"),
    [
        ('{"a": 1}', "object", [({"a": 1}, "high")]),
        ("[1]", "object", []),
        ([{"a": 1}], "object", [({"a": 1}, "high")]),
        ([{"a": 1}, {}], "object", []),
        ([1], "object", []),
        (None, "object", [({}, "medium")]),
        ([], "object", [({}, "medium")]),
        ({"0": "a", "1": "b"}, "array", [(["a", "b"], "high")]),
        ({"1": "a", "2": "b"}, "array", [(["a", "b"], "medium")]),
        ({"1": "a", "3": "b"}, "array", [([{"1": "a", "3": "b"}], "high")]),
        ({}, "array", [([{}], "high")]),
        (["a"], "string", [("a", "high")]),
        (["a", "b"], "string", []),
        ([5], "string", [(5, "high"), ("5", "medium")]),
        (["5"], "integer", [("5", "high"), (5, "medium")]),
        ({"value": 5}, "integer", [(5, "medium")]),
        ({"value": "5"}, "integer", [("5", "medium"), (5, "low")]),
        ({"value": 5, "unit": "m"}, "integer", []),
        ({"shape": 5}, "integer", []),
    ],
)
def test_a_value_as_another_type(value: object, kind: str, found: list[tuple[object, str]]) -> None:
    assert guesses(value, kind)[: len(found) or None] == found


def test_a_list_becomes_a_text_with_commas_only_where_that_is_asked_for() -> None:
    asking: dict[str, object] = {"type": "string", "description": "A comma-separated list of ids."}
    assert guesses(["a", "b"], "string", "ids", asking) == [("a,b", "medium")]
    assert guesses(["a", "b"], "string", "ids", {"type": "string", "description": "Ids."}) == []
    assert guesses(["a,b", "c"], "string", "ids", asking) == []
    assert guesses(["a", 5], "string", "ids", asking) == []
    assert guesses(["a", "b"], "string", "ids", {"type": "string"}, asking) == [("a,b", "medium")]


@pytest.mark.parametrize(
    ("value", "options", "found"),
    [
        ("Relevance", ["relevance", "date"], [("relevance", "high")]),
        (["date"], ["relevance", "date"], [("date", "high"), ("date", "high")]),
        (5, ["5", "6"], [("5", "high")]),
        ("5", [5, 6], [(5, "high")]),
        ("True", [True, False], [(True, "high")]),
        ("x", [5, {}], []),
    ],
)
def test_which_allowed_value_is_meant(value: object, options: list[object], found: list[tuple[object, str]]) -> None:
    said = [(guess.value, guess.confidence) for guess in match_options(value, options)]
    assert said[: len(found) or None] == found


CHOICE: dict[str, Any] = {
    "anyOf": [
        {
            "type": "object",
            "properties": {"kind": {"const": "circle"}, "radius": {"type": "integer"}},
            "required": ["kind", "radius"],
        },
        {
            "type": "object",
            "properties": {"kind": {"const": "square"}, "side": {"type": "integer"}},
            "required": ["kind", "side"],
        },
        {"type": "string"},
    ]
}


@pytest.mark.parametrize(
    ("value", "names"),
    [
        ({"kind": "circle", "radius": 1}, ["kind", "radius"]),
        ({"kind": "square", "radius": 1}, ["kind", "side"]),
        ({"side": 1}, ["kind", "side"]),
        ({"Side": "1"}, ["kind", "side"]),
        ("text", []),
    ],
)
def test_at_a_choice_the_branch_counts_that_the_value_is_most_like(value: object, names: list[str]) -> None:
    view = View(RepairContext(compiled(CHOICE)), "", value)
    assert list(view.demands(()).required()) == names


def test_what_may_be_left_out_and_what_is_known() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"const": 5}, "b": {"default": 6}, "c": {"enum": [1, 2]}, "d": {}, "e": {"type": "array"}},
        "required": ["a"],
    }
    view = View(RepairContext(compiled(schema)), "", {})
    assert [view.is_optional((name,)) for name in ("a", "b")] == [False, True]
    assert not view.is_optional(())
    assert not view.is_optional(("e", 0))
    known = {name: is_known(view.demands((name,))) for name in "abcd"}
    assert known == {"a": (True, 5), "b": (True, 6), "c": (False, None), "d": (False, None)}
    declared = {name: declares_type(view.demands((name,)), "array") for name in "de"}
    assert declared == {"d": False, "e": True}


def test_a_repair_has_an_end() -> None:
    ready = compiled({"type": "object", "required": ["a"]})
    context = RepairContext(ready, validations=3, looks=2)
    for _ in range(3):
        assert context.errors("", {})
    with pytest.raises(BudgetSpent):
        context.errors("", {})
    for _ in range(2):
        assert context.accepts([], {})
    with pytest.raises(BudgetSpent):
        context.accepts([], {})
    large = RepairContext(ready, validations=3)
    large.errors("", {"b": list(range(500))})
    assert large.validations < 2
    with pytest.raises(BudgetSpent):
        RepairContext(ready).errors("", list(range(100_000)))
    assert repair(ready.document, {"a": 1}) is None


@pytest.mark.parametrize(
    ("operation", "kind"),
    [
        (Operation(op="replace", path=("a",), value=5, old="5"), "retyped"),
        (Operation(op="replace", path=("a",), value="A", old="a"), "respelt"),
        (Operation(op="remove", path=("a",)), "removed"),
        (Operation(op="add", path=("a",), value=5), "added"),
        (Operation(op="move", path=("a",), origin=("b",)), "renamed"),
        (Operation(op="move", path=("a",), origin=("b", "a")), "moved"),
    ],
)
def test_the_kind_of_a_step(operation: Operation, kind: str) -> None:
    assert _kind_of(operation).value == kind


def test_a_chain_is_as_sure_as_its_least_sure_step() -> None:
    assert [least(words) for words in ((), ("high", "medium"), ("low", "medium"), ("medium", "medium"))] == [
        "high",
        "medium",
        "low",
        "medium",
    ]


@pytest.mark.parametrize(
    ("operation", "after"),
    [
        (Operation(op="remove", path=("a", 0)), {"a": [2], "b": 3}),
        (Operation(op="remove", path=("b",)), {"a": [1, 2]}),
        (Operation(op="add", path=("a", 1), value=5), {"a": [1, 5, 2], "b": 3}),
        (Operation(op="add", path=("c",), value=5), {"a": [1, 2], "b": 3, "c": 5}),
        (Operation(op="move", path=("c",), origin=("b",)), {"a": [1, 2], "c": 3}),
        (Operation(op="move", path=(), origin=("a",)), [1, 2]),
        (Operation(op="replace", path=("a", 1), value=5), {"a": [1, 5], "b": 3}),
    ],
)
def test_an_operation_changes_its_place_and_nothing_else(operation: Operation, after: object) -> None:
    before = {"a": [1, 2], "b": 3}
    assert apply(before, operation) == after
    assert before == {"a": [1, 2], "b": 3}


@pytest.mark.parametrize(
    ("value", "schema", "found"),
    [
        (" 'A' ", {"pattern": "x"}, [("'A'", "high"), ("A", "high"), ("a", "medium")]),
        ("AbC", {"pattern": "x"}, [("ABC", "medium"), ("abc", "medium"), ("#AbC", "medium")]),
        ("abc", {"pattern": "x"}, [("ABC", "medium"), ("#abc", "medium")]),
        ("#Ab", {"pattern": "x"}, [("#AB", "medium"), ("#ab", "medium"), ("Ab", "medium")]),
        ("mailto:a@b.org", {"format": "email"}, [("a@b.org", "high")]),
        ("MAILTO:a@b.org", {"format": "email"}, [("a@b.org", "high")]),
        ("Ann <a@b.org>", {"format": "email"}, [("a@b.org", "medium")]),
        ("<https://b.org>", {"format": "uri"}, [("https://b.org", "high")]),
        ("b.org/x", {"format": "uri"}, [("https://b.org/x", "medium")]),
        ("https://b.org/a b", {"format": "uri"}, [("https://b.org/a%20b", "medium")]),
        ("<https://b.org", {"format": "uri"}, []),
        ("x" * 2_001 + " ", {"pattern": "x"}, []),
    ],
)
def test_other_ways_to_write_a_text(value: str, schema: dict[str, object], found: list[tuple[object, str]]) -> None:
    said = [(guess.value, guess.confidence) for guess in variants(value, [schema])]
    assert said[: len(found) or None] == found


@pytest.mark.parametrize(
    ("day", "iso"),
    [
        ("13/12/2025", "2025-12-13"),
        ("12/13/2025", "2025-12-13"),
        ("12/12/2025", "2025-12-12"),
        ("12/11/2025", None),
        ("13/13/2025", None),
    ],
)
def test_a_day_is_read_where_only_one_number_can_be_the_month(day: str, iso: str | None) -> None:
    schema = {"type": "object", "properties": {"day": {"type": "string", "format": "date"}}, "required": ["day"]}
    found = repair(schema, {"day": day})
    assert (None if found is None else found.arguments) == (None if iso is None else {"day": iso})


@pytest.mark.parametrize(
    ("value", "path", "said"),
    [
        (None, (), "null"),
        (True, (), "true"),
        ("10", (), 'the text "10"'),
        (10**40, (), f"the number {10**40}"),
        (2**198, (), f"the number {2**198}"),
        (2**199, (), "a number"),
        ("x" * 58, (), f'the text "{"x" * 58}"'),
        ("x" * 59, (), "a text"),
        ("hunter2", ("auth", "password"), "a text"),
        ('{"a": 1}', (), "a JSON text"),
        ({}, (), "an object"),
        ([], (), "a list"),
        ("password=hunter2", (), "a text"),
    ],
)
def test_a_value_is_described_unless_it_is_secret_or_long(value: object, path: tuple[str, ...], said: str) -> None:
    assert describe_value(value, path) == said


def test_places_are_cut_and_printable() -> None:
    assert [name_place(path) for path in ((), ("a/b", 0), ("\x1b",))] == ["the arguments", "'/a~1b/0'", "'/\ufffd'"]
    assert name_place(("x" * 119,)) == f"'/{'x' * 119}'"
    assert name_place(("x" * 120,)) == f"'/{'x' * 119}\u2026'"


def test_names_that_mean_the_same() -> None:
    assert mean_the_same("town", "city")
    assert mean_the_same("id", "task_id")
    assert not mean_the_same("user_id", "task_id")
    assert not mean_the_same("", "id")
    assert not mean_the_same("id", "-")
    assert meant("null" + " " * 36, "null")
    assert not meant("null" + " " * 37, "null")


@pytest.mark.parametrize("length", [80, 81])
def test_a_name_of_any_length_is_no_other_name_where_it_is_too_long(length: int) -> None:
    wanted = "a" * length
    schema = {
        "type": "object",
        "properties": {wanted: {"type": "integer"}},
        "required": [wanted],
        "additionalProperties": False,
    }
    found = repair(schema, {"town": 5})
    assert (found is None) is (length > 80)
    assert (nearest(wanted.upper(), [wanted]) is None) is (length > 80)


UPPER = {"type": "object", "propertyNames": {"pattern": "^[A-Z]+$"}}
LOWER = {"type": "object", "propertyNames": {"pattern": "^[a-z]+$"}}


def closed(*names: str, required: tuple[str, ...] = ()) -> dict[str, Any]:
    """A schema of these whole numbers, and nothing else."""
    properties = {name: {"type": "integer"} for name in names}
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


@pytest.mark.parametrize(
    ("schema", "sent", "meant", "confidence"),
    [
        # Names by a rule.
        (UPPER, {"abc": 1}, {"ABC": 1}, "medium"),
        (UPPER, {"ab": 1, "cd": 2}, {"AB": 1, "CD": 2}, "medium"),
        (UPPER, {"a1": 1}, None, ""),
        (LOWER, {"ABC": 1}, {"abc": 1}, "medium"),
        (LOWER, {" abc ": 1}, {"abc": 1}, "medium"),
        (LOWER, {"abc": 1, "ABC": 2}, None, ""),
        # Members that nothing allows.
        (closed("a"), {"a": 1, "zzz": None}, {"a": 1}, "high"),
        (closed("a"), {"a": 1, "zzz": None, "yyy": 5}, {"a": 1}, "low"),
        (closed("a"), {"a": 1, "zzz": 5}, {"a": 1}, "medium"),
        (closed("a", "pages"), {"a": 1, "input_pages": 5}, {"a": 1}, "low"),
        # Other names.
        (closed("relevance"), {"relevence": 1}, {"relevance": 1}, "medium"),
        (closed("relevance"), {"relevence": 1, "relavance": 2}, {}, "low"),
        (closed("file_path", required=("file_path",)), {"file": 1}, {"file_path": 1}, "medium"),
        (closed("the_user", required=("the_user",)), {"the_file": 1}, None, ""),
        (closed("user_id", required=("user_id",)), {"task_id": 1}, None, ""),
        # Arguments in a member that only wraps them.
        (closed("a", "b", required=("a",)), {"input": {"a": 1}}, {"a": 1}, "high"),
        (closed("a", "b", required=("a",)), {"name": "tool", "input": {"a": 1}}, {"a": 1}, "medium"),
        (closed("a", "b", required=("a",)), {"note": "x", "input": {"a": 1}, "id": "5"}, {"a": 1}, "low"),
        (closed("a", "b", required=("a",)), {"x": {"c": 1}, "input": {"a": 1}}, {"a": 1}, "medium"),
        ({"anyOf": [closed("a", required=("a",)), {"type": "string"}]}, {"a": "5"}, {"a": 5}, "high"),
    ],
)
def test_members_that_were_meant(
    schema: dict[str, Any], sent: dict[str, Any], meant: dict[str, Any] | None, confidence: str
) -> None:
    found = repair(schema, sent)
    assert (None if found is None else found.arguments) == meant
    assert found is None or found.confidence == confidence
