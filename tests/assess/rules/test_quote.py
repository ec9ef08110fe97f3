"""Foreign words in our sentences are short, on one line, and without secrets."""

import pytest
from hypothesis import given, strategies as st

from toolvet.assess.rules.quote import list_names, quote, show


@pytest.mark.parametrize(
    ("text", "limit", "found"),
    [
        ("a\n  b\t c", 80, "a b c"),
        ("\x1b[31mred\x1b[0m", 80, "red"),
        ("bell\x07 and \u202eright to left", 80, "bell\ufffd and \ufffdright to left"),
        ("one two three four", 15, "one two three…"),
        ("abcdefghijklmnop", 8, "abcdefg…"),
        ("token=abc123456", 80, "token=[redacted]"),
        ("\ud800", 80, "\ufffd"),
        ("", 80, ""),
    ],
)
def test_words_are_folded_cut_and_cleaned(text: str, limit: int, found: str) -> None:
    assert quote(text, limit) == found


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        ("a\nb", '"a b"'),
        ({"a": [1, {"b": {"c": 1}}]}, '{"a": [1, {"b": {…}}]}'),
        ([1, 2, 3, 4, 5, 6], "[1, 2, 3, 4, 5, …]"),
        ({}, "{}"),
        ([], "[]"),
        (10**50, "a huge integer"),
        ({"password": "hunter2"}, '{"password": "[redacted]"}'),
        (b"x", "<bytes>"),
    ],
)
def test_a_value_is_shown_as_short_json(value: object, found: str) -> None:
    assert show(value) == found


def test_names_are_listed_like_in_a_sentence() -> None:
    assert list_names(["a"]) == "'a'"
    assert list_names(["a", "b"]) == "'a' and 'b'"
    assert list_names(["a", "b", "c"]) == "'a', 'b' and 'c'"
    assert list_names([str(n) for n in range(10)]) == "'0', '1', '2', '3', '4', '5', '6', '7' and 2 more"
    assert list_names([]) == ""


@given(st.text(max_size=400), st.integers(min_value=4, max_value=60))
def test_a_quotation_is_never_longer_than_its_limit_and_always_on_one_line(text: str, limit: int) -> None:
    found = quote(text, limit)
    assert len(found) <= limit
    assert found.isprintable()
    found.encode()
