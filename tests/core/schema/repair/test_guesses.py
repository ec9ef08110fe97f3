"""Possible meanings of a value: as a number, a truth value, a text, a list or a moment, and as JSON that was cut."""

import pytest

from toolvet.core.schema import recover
from toolvet.core.schema.repairs.leaf import convert
from toolvet.core.schema.repairs.notation import Target, rewrite_moment, rewrite_plainly

Guesses = list[tuple[object, str]]


@pytest.mark.parametrize(
    ("value", "kind", "found"),
    [
        ("5", "integer", [(5, "high")]),
        ("+5", "integer", [(5, "high")]),
        ("0", "integer", [(0, "high")]),
        ("05", "integer", [(5, "medium")]),
        ("5.0", "integer", [(5, "high")]),
        ("05.0", "integer", [(5, "medium")]),
        ("5.5", "integer", []),
        ("5.5", "number", [(5.5, "high")]),
        ("05.5", "number", [(5.5, "medium")]),
        ("5.", "number", [(5.0, "high")]),
        ("0.5", "number", [(0.5, "high")]),
        (".", "number", []),
        ("1e3", "integer", [(1000, "high")]),
        ("1e400", "number", []),
        ("\u0663", "integer", []),
        ("1" * 60, "integer", [(int("1" * 60), "high")]),
        ("1" * 61, "integer", []),
        # Beyond 2 ** 53 a fraction has lost its last digit.
        ("9007199254740991.0", "integer", [(2**53 - 1, "high")]),
        ("9007199254740992.0", "integer", []),
        (True, "integer", [(1, "low")]),
        (5.0, "integer", [(5, "high")]),
        (5.5, "integer", []),
        (1, "boolean", [(True, "medium")]),
        (0, "boolean", [(False, "medium")]),
        (1.0, "boolean", [(True, "medium")]),
        (2, "boolean", []),
        (True, "boolean", []),
        ("yes", "boolean", [(True, "medium")]),
        ("off", "boolean", [(False, "medium")]),
        ("maybe", "boolean", []),
        ("null", "null", [(None, "high")]),
        ("", "null", [(None, "medium")]),
        ("x", "null", []),
        (5, "null", []),
        (True, "string", [("true", "high")]),
        (False, "string", [("false", "high")]),
        (5, "string", [("5", "high")]),
        (2**199 - 1, "string", [(str(2**199 - 1), "high")]),
        (2**199, "string", []),
        (5.5, "string", [("5.5", "high")]),
        (5.0, "string", [("5", "medium"), ("5.0", "medium")]),
        (2.0**53 - 1, "string", [("9007199254740991", "medium"), ("9007199254740991.0", "medium")]),
        (2.0**53, "string", [("9007199254740992.0", "medium")]),
        (None, "string", []),
        ({"a": 1}, "string", []),
        ("a", "array", [(["a"], "high")]),
        ("a,b", "array", [(["a", "b"], "medium"), (["a,b"], "low")]),
        ("[1, 2]", "array", [([1, 2], "high")]),
        ("", "array", []),
        ("a;b", "array", [(["a", "b"], "medium"), (["a;b"], "low")]),
        ("a|b", "array", [(["a", "b"], "medium"), (["a|b"], "low")]),
        ("a\nb", "array", [(["a", "b"], "medium"), (["a\nb"], "low")]),
        ("a,", "array", [(["a"], "medium"), (["a,"], "low")]),
        ("a b", "array", [(["a b"], "high")]),
        ("x" * 3_998 + ",b", "array", [(["x" * 3_998, "b"], "medium"), (["x" * 3_998 + ",b"], "low")]),
        ("x" * 3_999 + ",b", "array", [(["x" * 3_999 + ",b"], "medium")]),
        ({"a": 1}, "array", [([{"a": 1}], "high")]),
        ({"0": 1}, "array", [([1], "high"), ([{"0": 1}], "high")]),
        ({"1": "a"}, "array", [(["a"], "medium"), ([{"1": "a"}], "high")]),
        (5, "array", [([5], "high")]),
        ([1], "array", [([[1]], "high")]),
        (None, "array", []),
    ],
)
def test_a_value_as_what_was_asked_for(value: object, kind: str, found: Guesses) -> None:
    made = [(guess.value, guess.confidence) for guess in convert(value, kind, "", ())]
    assert made == found
    assert [type(value) for value, _ in made] == [type(value) for value, _ in found]


@pytest.mark.parametrize(
    ("value", "target", "found"),
    [
        ("2026-11-22", "date", [("2026-11-22", "high")]),
        ("22.11.2026", "date", [("2026-11-22", "medium")]),
        ("November 22, 2026", "date", [("2026-11-22", "high")]),
        ("11/12/2026", "date", []),
        # A time other than midnight would be lost.
        ("2026-11-22T00:00:00", "date", [("2026-11-22", "high")]),
        ("2026-11-22T10:30:00Z", "date", [("2026-11-22", "low")]),
        (1795348800, "date", [("2026-11-22", "low")]),
        ("10:30", "date", []),
        ("10:30", "time", [("10:30:00Z", "medium")]),
        ("10:30:00+02:00", "time", [("10:30:00+02:00", "high")]),
        ("2026-11-22T10:30:00Z", "time", []),
        ("2026-11-22", "time", []),
        ("2026-11-22", "date-time", [("2026-11-22T00:00:00Z", "low")]),
        ("2026-11-22 10:30", "date-time", [("2026-11-22T10:30:00Z", "medium")]),
        ("2026-11-22T10:30:00Z", "date-time", [("2026-11-22T10:30:00Z", "high")]),
        (1795348800, "date-time", [("2026-11-22T12:00:00Z", "medium")]),
        (1795348800000, "date-time", [("2026-11-22T12:00:00Z", "medium")]),
        ("10:30", "date-time", []),
        (True, "date-time", []),
        (5, "date-time", []),
    ],
)
def test_a_moment_in_the_notation_that_was_asked_for(value: object, target: Target, found: Guesses) -> None:
    assert [(guess.value, guess.confidence) for guess in rewrite_moment(value, target)] == found


def test_a_moment_in_the_notations_of_patterns() -> None:
    for value, found in (
        ("22.11.2026", ["2026-11-22", "20261122", "2026/11/22"]),
        ("10:30", ["10:30", "10:30:00"]),
        ("10:30:00+02:00", ["10:30", "10:30:00+02:00"]),
        ("2026-11-22 10:30", ["2026-11-22T10:30:00", "2026-11-22 10:30:00", "2026-11-22T10:30:00Z"]),
    ):
        assert [guess.value for guess in rewrite_plainly(value)] == found


FENCE = "Took the JSON out of its Markdown fence."
QUOTED = "Replaced other quotation marks by double ones."
NUMBERS = "Wrote numbers as JSON writes them."
CLOSED = "Closed the brackets that were open at the end of the text."


@pytest.mark.parametrize(
    ("text", "value", "confidence", "steps"),
    [
        ('```\n{"a": 1}\n```', {"a": 1}, "high", (FENCE,)),
        ('Look:\n```json\n{"a": 1}\n```\nand', {"a": 1}, "high", (FENCE,)),
        ('```json\n{"a": 1', {"a": 1}, "low", (FENCE, CLOSED)),
        ("[", [], "low", (CLOSED,)),
        ("{'a': (1, 2)}", {"a": [1, 2]}, "high", (QUOTED, "Read a Python tuple as a list.")),
        ("{'a': 'b'}", {"a": "b"}, "high", (QUOTED,)),
        ("{a: 1}", {"a": 1}, "high", ("Put quotation marks around names.",)),
        ('{"a": +5}', {"a": 5}, "high", (NUMBERS,)),
        ('{"a": .5}', {"a": 0.5}, "high", (NUMBERS,)),
        ('{"a": 1_000}', {"a": 1000}, "high", (NUMBERS,)),
        ('{"a": 1e5}', {"a": 1e5}, "high", ()),
        ('{"a": True}', {"a": True}, "high", ("Read Python and JavaScript words for true, false and null.",)),
        ('{"a": 1,}', {"a": 1}, "high", ("Left out a comma before a closing bracket.",)),
        ('{"a": 1 // x\n}', {"a": 1}, "high", ("Left out comments.",)),
        ('{"a": 1 /**/}', {"a": 1}, "high", ("Left out comments.",)),
        ('{"a": "x\ny"}', {"a": "x\ny"}, "high", ("Escaped control characters inside a text.",)),
        ("[1", [1], "low", (CLOSED,)),
        ("[1,", [1], "low", ("Left out a comma at the end.", CLOSED)),
        ('{"a": {"b": 1', {"a": {"b": 1}}, "low", (CLOSED,)),
        ('Take {"a": 1} now', {"a": 1}, "medium", ("Left out the words around the JSON.",)),
        ('Take [x] {"a": 1}', {"a": 1}, "medium", ("Left out the words around the JSON.",)),
    ],
)
def test_json_with_words_around_it_or_without_its_end(
    text: str, value: object, confidence: str, steps: tuple[str, ...]
) -> None:
    found = recover(text)
    assert found is not None
    assert (found.value, found.confidence, found.steps) == (value, confidence, steps)


@pytest.mark.parametrize(
    "text", ['Look: ```json\n{"a": 1}', '```\n{"a": 1}\n```\n```\n{"a": 2}\n```', "(1", "(1,", "```", "``` ```"]
)
def test_json_that_is_not_sure_enough(text: str) -> None:
    assert recover(text) is None
