"""The mask of one exchange: bare words, halves and known values go; our own words and near misses stay."""

import pytest
from hypothesis import given, strategies as st

from toolvet.redact import SecretMask

ARGUMENTS = {"password": "FIXTUREPW1", "user": "ann", "auth": {"pin": 482913, "mode": "basic"}}
ANSWER = "connect to postgres://bob:pa55wd-x9@db, sent as X-Api-Key"
MASK = SecretMask.learned(ARGUMENTS, ANSWER)


@pytest.mark.parametrize(
    ("said", "safe"),
    [
        ("no user FIXTUREPW1", "no user [redacted]"),
        ("<FIXTUREPW1>", "<[redacted]>"),
        ("pin 482913 is wrong", "pin [redacted] is wrong"),
        ("said pa55wd-x9", "said [redacted]"),
        ("connect to postgres://bob:pa55", "connect to postgres://[redacted]"),
        ("PW1", "PW1"),  # too short to be told from a word
        ("XTUREPW", "[redacted]"),
        ("no user ann, mode basic", "no user ann, mode basic"),
        ("order 14829137", "order 14829137"),
        ("a fixture", "a fixture"),
        ("", ""),
    ],
)
def test_quotations(said: str, safe: str) -> None:
    assert MASK.text(said) == safe


@pytest.mark.parametrize(
    "arguments",
    [
        {"password": {"type": "string", "description": "At least eight characters."}},
        {"token": "abc", "password": "password", "secret": True, "api_key": None},
        {"max_tokens": 123456, "user": "hunter2hunter2"},
    ],
)
def test_what_is_no_secret_is_not_learned(arguments: dict[str, object]) -> None:
    assert not SecretMask.learned(arguments).secrets


def test_own_words_cannot_be_blotted_out_by_a_server() -> None:
    mask = SecretMask.learned("password=fully_working and token=invalid_input")
    verdict = {"classification": "fully_working", "state": "invalid_input", "evidence": ["it is fully_working"]}
    assert mask.own(verdict) == {**verdict, "evidence": ["it is [redacted]"]}
    assert mask.value({"state": "invalid_input"}) == {"state": "[redacted]"}


def test_two_masks_are_one() -> None:
    both = SecretMask(["one-secret"]) | SecretMask(["other-secret"])
    assert both.text("one-secret other-secret") == "[redacted] [redacted]"
    assert (SecretMask() | MASK) is MASK


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.sampled_from(["password", "token"]), inner),
)


@given(json_values, st.text())
def test_total(value: object, said: str) -> None:
    mask = SecretMask.learned(value, said)
    mask.text(said)
    mask.value(value)
    mask.own(value)
