"""The parts of a repair, each answer in full: guesses with what they cost, readings with their steps."""

from collections.abc import Iterable

import pytest
from tests.core.schema.repair.whole import Schema

from toolvet.core.schema import recover
from toolvet.core.schema.repairs.context import Guess, distance, nearest
from toolvet.core.schema.repairs.leaf import convert, match_options
from toolvet.core.schema.repairs.notation import variants

Guesses = list[tuple[object, str, int]]


def listed(guesses: Iterable[Guess]) -> Guesses:
    """Guesses as rows of a table."""
    return [(guess.value, guess.confidence, guess.cost) for guess in guesses]


@pytest.mark.parametrize(
    ("value", "kind", "found"),
    [
        ("a", "array", [(["a"], "high", 2)]),
        ("a,b", "array", [(["a", "b"], "medium", 0), (["a,b"], "low", 2)]),
        ("a, b c d e f", "array", [(["a, b c d e f"], "medium", 2)]),
        ("a b c d,e", "array", [(["a b c d", "e"], "medium", 0), (["a b c d,e"], "low", 2)]),
        ("a b c d e,f", "array", [(["a b c d e,f"], "medium", 2)]),
        (",", "array", [([","], "medium", 2)]),
        ("a,,b", "array", [(["a,,b"], "medium", 2)]),
        (" a , 'b' ", "array", [(["a", "b"], "medium", 0), ([" a , 'b' "], "low", 2)]),
        ("a\n", "array", [(["a\n"], "medium", 2)]),
        ("a;b,c", "array", [(["a;b,c"], "medium", 2)]),
        ("none", "array", []),
        ('{"0": 1}', "array", [(['{"0": 1}'], "high", 2)]),
        (" " * 199 + "[1]", "array", [([1], "high", 0)]),
        (
            " " * 200 + "[1]",
            "array",
            [
                (
                    [" " * 200 + "[1]"],
                    "high",
                    2,
                )
            ],
        ),
        ("x" * 199 + "[1]", "array", [([1], "medium", 0)]),
        (
            '["' + "x" * 199_996 + '"]',
            "array",
            [
                (
                    ["x" * 199_996],
                    "high",
                    0,
                )
            ],
        ),
        (
            '["' + "x" * 199_997 + '"]',
            "array",
            [
                (
                    ['["' + "x" * 199_997 + '"]'],
                    "high",
                    2,
                )
            ],
        ),
        ({"0": 1, "1": 2}, "array", [([1, 2], "high", 0), ([{"0": 1, "1": 2}], "high", 2)]),
        ({"1": 1, "2": 2}, "array", [([1, 2], "medium", 0), ([{"1": 1, "2": 2}], "high", 2)]),
        ({"2": 1}, "array", [([{"2": 1}], "high", 2)]),
        ({"value": [5]}, "array", [([5], "medium", 0), ([{"value": [5]}], "high", 2)]),
        ({"data": "a,b"}, "array", [("a,b", "medium", 0), ([{"data": "a,b"}], "high", 2)]),
        (5.5, "string", [("5.5", "high", 1)]),
        (5.0, "string", [("5", "medium", 0), ("5.0", "medium", 1)]),
        (1e300, "string", [("1e+300", "medium", 1)]),
        ({"value": {"a": 1}}, "object", []),
        ({"value": 5}, "string", [(5, "medium", 0), ("5", "low", 0)]),
        ({"value": [5]}, "integer", [([5], "medium", 0), (5, "low", 0)]),
        ({"value": {"value": 5}}, "integer", [({"value": 5}, "medium", 0)]),
        ([5.0], "string", [(5.0, "high", 0), ("5", "medium", 0), ("5.0", "medium", 1)]),
        ([[1]], "string", [([1], "high", 0), (1, "medium", 0), ("1", "medium", 0)]),
        ([True], "integer", [(True, "high", 0), (1, "low", 0)]),
        ([None], "null", [(None, "high", 0)]),
        ([], "integer", []),
        (["a", "b"], "object", []),
        ("1" * 60, "integer", [(int("1" * 60), "high", 0)]),
        ("1" * 61, "integer", []),
        ("-0", "integer", [(0, "high", 0)]),
        ("00", "integer", [(0, "medium", 0)]),
        ("'5'", "integer", [(5, "high", 0)]),
        ("1_000", "integer", [(1000, "medium", 0)]),
    ],
)
def test_a_value_as_another_type_and_what_it_costs(value: object, kind: str, found: Guesses) -> None:
    assert repr(listed(convert(value, kind, "", ()))) == repr(found)


@pytest.mark.parametrize(
    ("value", "options", "found"),
    [
        ("5", [5, "5"], [("5", "high", 0), (5, "high", 1)]),
        ("1", [1, True], [(1, "high", 1), (True, "medium", 1)]),
        (5, ["5", 6.0], [("5", "high", 1), ("5", "high", 1)]),
        (5.0, ["5", "5.0"], [("5", "medium", 1), ("5", "high", 1), ("5.0", "medium", 1), ("5.0", "high", 1)]),
        (True, ["true", "yes", "no"], [("true", "high", 1), ("true", "high", 1), ("yes", "medium", 1)]),
        ("yes", [True, False], [(True, "medium", 1)]),
        (1, [True], []),
        (["A"], ["a"], [("a", "high", 0)]),
        (["a"], ["a", "b"], [("a", "high", 0), ("a", "high", 0)]),
        ([5], ["5"], [("5", "high", 1), ("5", "high", 1)]),
        ([5], [5], [(5, "high", 0)]),
        ("none", [None, "some"], [(None, "high", 1)]),
        (None, ["null"], []),
        (None, [0, ""], []),
        ("a", [["a"], {}], []),
        ("[1]", [[1]], []),
        ({"value": 5}, [5], []),
        ({"value": 5}, ["5"], [("5", "low", 1)]),
        (["a", "b"], ["a", "b"], []),
        ([], ["a"], []),
    ],
)
def test_which_of_the_allowed_values_and_what_it_costs(value: object, options: list[object], found: Guesses) -> None:
    assert repr(listed(match_options(value, options))) == repr(found)


@pytest.mark.parametrize(
    ("value", "schema", "found"),
    [
        (
            "a-b",
            {"pattern": "x"},
            [
                ("A-B", "medium", 0),
                ("a_b", "medium", 1),
                ("a_b", "medium", 2),
                ("ab", "medium", 1),
                ("ab", "medium", 2),
                ("#a-b", "medium", 3),
                ("@a-b", "medium", 3),
                ("$a-b", "medium", 3),
                ("+a-b", "medium", 3),
            ],
        ),
        (
            "A b",
            {"pattern": "x"},
            [
                ("A B", "medium", 0),
                ("a b", "medium", 0),
                ("A-b", "medium", 1),
                ("a-b", "medium", 2),
                ("A_b", "medium", 1),
                ("a_b", "medium", 2),
                ("Ab", "medium", 1),
                ("ab", "medium", 2),
                ("#A b", "medium", 3),
                ("@A b", "medium", 3),
                ("$A b", "medium", 3),
                ("+A b", "medium", 3),
            ],
        ),
        (
            "#Ab",
            {"pattern": "x"},
            [
                ("#AB", "medium", 0),
                ("#ab", "medium", 0),
                ("Ab", "medium", 1),
                ("##Ab", "medium", 3),
                ("@#Ab", "medium", 3),
                ("$#Ab", "medium", 3),
                ("+#Ab", "medium", 3),
            ],
        ),
        (
            "9 pm",
            {"pattern": "x"},
            [
                ("21:00", "high", 0),
                ("21:00:00", "high", 0),
                ("9 PM", "medium", 0),
                ("9-pm", "medium", 1),
                ("9-pm", "medium", 2),
                ("9_pm", "medium", 1),
                ("9_pm", "medium", 2),
                ("9pm", "medium", 1),
                ("9pm", "medium", 2),
                ("#9 pm", "medium", 3),
                ("@9 pm", "medium", 3),
                ("$9 pm", "medium", 3),
                ("+9 pm", "medium", 3),
            ],
        ),
        (
            "{0189F7A6-1111-7111-8111-0123456789AB}",
            {"format": "uuid"},
            [("0189F7A6-1111-7111-8111-0123456789AB", "high", 0)],
        ),
        ("0189f7a6111171118111012345678 9ab", {"format": "uuid"}, []),
        ("Ann <a@b.org>", {"format": "idn-email"}, [("a@b.org", "medium", 0)]),
        ("b.org", {"format": "iri"}, [("https://b.org", "medium", 0)]),
        ("a b", {"format": "uri"}, []),
        (" 'x' ", {}, [("'x'", "high", 0), ("x", "high", 1)]),
        ("'x'", {}, [("x", "high", 1)]),
        (
            "x" * 1_999 + " ",
            {},
            [
                (
                    "x" * 1_999,
                    "high",
                    0,
                )
            ],
        ),
        ("x" * 2_000 + " ", {}, []),
        ("2025-01-15", {"format": "date-time"}, [("2025-01-15T00:00:00Z", "low", 0)]),
    ],
)
def test_a_text_in_other_spellings_and_what_they_cost(value: str, schema: Schema, found: Guesses) -> None:
    assert listed(variants(value, [schema])) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('[x {"a": 1}', None),
        ('] {"a": 1}', None),
        ('x ] {"a": 1}', None),
        ('{"a": 1}}])', ({"a": 1}, "medium", ("Left out closing brackets that close nothing.",))),
        ('{"a": 1}}', ({"a": 1}, "medium", ("Left out closing brackets that close nothing.",))),
        ('{"a": 1},', ({"a": 1}, "high", ("Left out what follows the JSON.",))),
        ('{"a": 1};', ({"a": 1}, "high", ("Left out what follows the JSON.",))),
        ('{"a": 1};;', ({"a": 1}, "medium", ("Left out the words around the JSON.",))),
        ('{"a": 1} [', None),
        ('"a" done', None),
        ("'a' done", None),
        ('say "x" [1] and [2]', None),
        ('```\n{"a": 1}\n``` bye', ({"a": 1}, "high", ("Took the JSON out of its Markdown fence.",))),
        ('\ufeff{"a": 1}', ({"a": 1}, "high", ())),
        ('"{\\"a\\": 1}"', ({"a": 1}, "high", ("Decoded JSON that was encoded twice.",))),
        (
            '"\\"[1]\\""',
            ([1], "high", ("Decoded JSON that was encoded twice.", "Decoded JSON that was encoded twice.")),
        ),
        ("{a1: 2, $b: 3, c-d: 4}", ({"a1": 2, "$b": 3, "c-d": 4}, "high", ("Put quotation marks around names.",))),
        (
            "{'a': nil}",
            (
                {"a": None},
                "high",
                (
                    "Replaced other quotation marks by double ones.",
                    "Read Python and JavaScript words for true, false and null.",
                ),
            ),
        ),
        (
            "{a: NULL, b: TRUE}",
            (
                {"a": None, "b": True},
                "high",
                ("Put quotation marks around names.", "Read Python and JavaScript words for true, false and null."),
            ),
        ),
        (
            "{'a': [1, {'b': 'c'",
            (
                {"a": [1, {"b": "c"}]},
                "medium",
                (
                    "Replaced other quotation marks by double ones.",
                    "Closed the brackets that were open at the end of the text.",
                ),
            ),
        ),
        (
            "{'a': 'b",
            (
                {"a": "b"},
                "low",
                (
                    "Replaced other quotation marks by double ones.",
                    "Closed the text that was open at the end.",
                    "Closed the brackets that were open at the end of the text.",
                ),
            ),
        ),
        ("{'a'", None),
        ("{'a':", None),
        ("(1,)", ([1], "high", ("Read a Python tuple as a list.", "Left out a comma before a closing bracket."))),
        ("{\u201ca\u201d: \u2018b\u2019}", ({"a": "b"}, "high", ("Replaced other quotation marks by double ones.",))),
        ("{`a`: `b`}", ({"a": "b"}, "high", ("Replaced other quotation marks by double ones.",))),
        ("[.5, 5., +1, -1, 1_0]", ([0.5, 5.0, 1, -1, 10], "high", ("Wrote numbers as JSON writes them.",))),
        ("[01]", None),
        ("[0.5.1]", None),
        ("[1a]", None),
        ("{a: 1 # x\n, b: 2}", ({"a": 1, "b": 2}, "high", ("Put quotation marks around names.", "Left out comments."))),
        (
            "/* x */ {a: 1}",
            ({"a": 1}, "medium", ("Left out the words around the JSON.", "Put quotation marks around names.")),
        ),
        ("[ /*a*/ /*b*/ 1]", ([1], "high", ("Left out comments.",))),
        ('{"a": 1 /*x*/ , "b": 2}', ({"a": 1, "b": 2}, "high", ("Left out comments.",))),
        ("[/**/1]", ([1], "high", ("Left out comments.",))),
        ("True", None),
        ('""', ("", "high", ())),
        ('["\\q"]', (["\\q"], "medium", ("Doubled backslashes that begin no escape of JSON.",))),
        ('["\\\'"]', (["'"], "high", ("Read escapes that JSON does not have.",))),
        ("['\\ud800']", (["\ufffd"], "high", ("Replaced other quotation marks by double ones.",))),
        (
            "{'a'=>1}",
            ({"a": 1}, "medium", ("Replaced other quotation marks by double ones.", "Read an equals sign as a colon.")),
        ),
        ("[1 2]", None),
        ('x {a} y {"b": 1}', ({"b": 1}, "medium", ("Left out the words around the JSON.",))),
        ("x " + "{b} " * 7 + '{"a": 1}', ({"a": 1}, "medium", ("Left out the words around the JSON.",))),
        ("x " + "{b} " * 8 + '{"a": 1}', None),
    ],
)
def test_a_text_that_was_meant_as_json_in_full(text: str, found: tuple[object, str, tuple[str, ...]] | None) -> None:
    made = recover(text)
    assert repr(None if made is None else (made.value, made.confidence, made.steps)) == repr(found)


@pytest.mark.parametrize(
    ("text", "options", "found"),
    [
        ("relevanse", ["aelevance", "relevance"], "relevance"),
        ("relevanse", ["relevance", "aelevance"], "relevance"),
        ("relevance", ["relevanca", "relevancy"], None),
        ("desc", ["description", "descending"], None),
        ("descr", ["description", "descending"], "description"),
        ("abcd", ["abce", "abcde"], None),
        ("ab", ["abc"], None),
        ("abc", ["abcdef"], "abcdef"),
        ("abcdefgh", ["abcdefij", "abcdefg"], "abcdefg"),
        ("abcdefg", ["abcdeij"], None),
        ("abcdefgh", ["abcdeijk"], None),
    ],
)
def test_the_nearest_of_several_in_either_order(text: str, options: list[str], found: str | None) -> None:
    made = nearest(text, options)
    assert (None if made is None else made.option) == found


@pytest.mark.parametrize(
    ("left", "right", "most", "away"),
    [
        ("abc", "cab", 2, 2),
        ("kitten", "sitting", 3, 3),
        ("a", "", 2, 1),
        ("", "ab", 2, 2),
        ("abcd", "badc", 2, 2),
        ("abcdef", "ghijkl", 2, 3),
        ("abcdef", "ghijkl", 1, 2),
        ("ca", "abc", 3, 3),
        ("axb", "ayb", 2, 1),
        ("abxc", "abcx", 2, 1),
        ("xab", "ab", 2, 1),
        ("flaw", "lawn", 3, 2),
    ],
)
def test_how_far_two_words_are_apart(left: str, right: str, most: int, away: int) -> None:
    assert distance(left, right, most) == away
