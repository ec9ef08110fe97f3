"""A text that one pattern matches and another does not, and the proof that there is none."""

import re

import pytest
from hypothesis import given, strategies as st

from toolvet.core.contract.patterns import escaping_text

PIECES = st.sampled_from(["a", "b", "[ab]", "[^a]", ".", "a?", "b*", "(a|b)", "(ab)+", "a{2,3}", "\\d"])
PATTERN = st.builds(
    lambda start, pieces, end: start + "".join(pieces) + end,
    st.sampled_from(["", "^"]),
    st.lists(PIECES, max_size=4),
    st.sampled_from(["", "$"]),
)


@given(PATTERN, PATTERN, st.text("ab0\n", max_size=6))
def test_a_text_escapes_or_none_does(matched: str, unmatched: str, text: str) -> None:
    found = escaping_text(matched, unmatched)
    # Python's `$` also matches before a line feed at the end.
    left, right = (re.compile(pattern.replace("$", r"\Z")) for pattern in (matched, unmatched))
    if isinstance(found, str):
        assert left.search(found)
        assert not right.search(found)
    elif found is False:
        assert not left.search(text) or right.search(text)


@pytest.mark.parametrize("pattern", [r"\bfoo", r"(?=a)", r"(a)\1", "(", "a" * 3_000, r"\p{L}", "(.*a){40}.{40}$"])
def test_what_is_not_decided_is_unknown(pattern: str) -> None:
    assert escaping_text(pattern, "^b$") is None or isinstance(escaping_text(pattern, "^b$"), str)
    assert escaping_text("^(?:[ab]*a[ab]{20})$", pattern) is not False
