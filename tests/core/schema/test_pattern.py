from itertools import islice

import pytest

from toolvet.core.matching.syntax import parse_ecma
from toolvet.core.schema.compilation import compiled
from toolvet.core.schema.text import texts


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "^$",
        "^abc$",
        "a|b|",
        "^[^a-z]$",
        "^[\\w.-]+@[\\w-]+\\.[a-z]{2,}$",
        "^\\$\\{[^}]+\\}$",
        "^(?:[A-F0-9]{2}:){5}[A-F0-9]{2}$",
        "^(\\d{4})-\\1$",
        "^\\x41\\u0042\\u{43}$",
        "^[\\]\\-\\\\]$",
        "^\\p{Letter}+$",
        "^\\P{L}+$",
        "^(a*)*$",
        "^[^\\W\\d]+$",
        "^.{3}$",
        "^\\S+\\s\\S+$",
        "\\bword\\b",
        "^(?!.*--)[a-z-]{5,}$",
    ],
)
def test_one_of_the_suggestions_matches(pattern: str) -> None:
    judge = compiled({"pattern": pattern})
    assert judge.notes == ()
    assert any(judge.is_valid(text) for text in texts(pattern))


def test_the_lengths_that_are_asked_for_are_kept_where_the_pattern_allows() -> None:
    assert {len(text) for text in islice(texts("^[a-z]+$", 12, 12), 5)} == {12}
    assert {len(text) for text in islice(texts("^([a-z]{3}-)*x$", 9, 9), 5)} == {9}


@pytest.mark.parametrize(
    "pattern", ["(", "[a", "a{2", "*", "(?", "\\", "(" * 500 + ")" * 500, "\\p{Nonsense}", "[[:alpha:]]"]
)
def test_what_cannot_be_read_gives_no_suggestion_and_no_error(pattern: str) -> None:
    assert isinstance(list(islice(texts(pattern), 3)), list)


def test_a_pattern_that_asks_for_enormous_texts_gives_none() -> None:
    assert list(texts("^((a{1000}){1000}){1000}$")) == []
    assert parse_ecma("a" * 6000) is None
