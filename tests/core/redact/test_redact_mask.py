"""The mask of one exchange: bare words, halves and known values go; our own words and near misses stay."""

import pytest
from hypothesis import given, strategies as st

from toolvet.core.redact import SecretMask

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
        ("PW1", "PW1"),  # too short to differ from a word
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
    ("secret", "said", "safe"),
    [
        # A quotation from inside a secret.
        ("pass-word-9x", "s-wo", "[redacted]"),
        ("pass-word-9x", "s-w", "s-w"),
        ("pass-word-9x", "pass-word-9… ", "[redacted]"),
        # Cut in a secret: half of it, which is 4 to 6 characters, is enough.
        ("pass-word-9x", "say pass-w", "say [redacted]"),
        ("pass-word-9x", "say pass-word-9", "say [redacted]"),
        ("pass-word-9x", "say pass-", "say pass-"),
        ("abcde1-xyz", "say abcde", "say [redacted]"),
        ("abcde1-xyz", "say abcd", "say abcd"),
        ("abcd1-xy", "say abcd…", "say [redacted]"),
        ("abcd1-xy", "say abc", "say abc"),
        ("ab1-x", "say ab1-", "say [redacted]"),
        ("ab1-x", "say ab1", "say ab1"),
        ("a-secret-of-many-words", "say a-secr", "say [redacted]"),
        # Begun in a secret.
        ("pass-word-9x", "ord-9x, he said", "[redacted], he said"),
        ("pass-word-9x", "ass-word-9x, he said", "[redacted], he said"),
        ("pass-word-9x", "rd-9x, he said", "rd-9x, he said"),
        # Other words end or begin so.
        ("pass-word-9x", "a :xpass-word", "a :xpass-word"),
        ("pass-word-9x", "a 1xpass-word", "a 1xpass-word"),
        ("pass-word-9x", "word-9xt, he said", "word-9xt, he said"),
        ("pass-word-9x", "word-9xtt he said", "word-9xtt he said"),
    ],
)
def test_half_a_secret_where_a_quotation_is_cut(secret: str, said: str, safe: str) -> None:
    assert SecretMask([secret]).text(said) == safe


@pytest.mark.parametrize(
    ("said", "safe"),
    [
        ("they connect to postgres://b", "they connect to [redacted]"),
        ("mysql://e", "[redacted]"),
        ("they connect to [redacted]", "they connect to [redacted]"),
        ("they connect ", "they connect "),
        # Too short to be known anywhere, but it is a word that was masked.
        ("header abcde came", "header [redacted] came"),
        ("header abcdef came", "header abcdef came"),
    ],
)
def test_words_that_hold_a_secret(said: str, safe: str) -> None:
    learned = (
        SecretMask.learned("connect to postgres://bob:pa55wd-x9@db")
        | SecretMask.learned("and mysql://eve:pa66wd-x8@db")
        | SecretMask.learned("X-Api-Key: abcde")
    )
    assert learned.text(said) == safe


def test_keys_are_masked_and_what_is_not_text_stays() -> None:
    value = {"FIXTUREPW1": 1, 5: "a FIXTUREPW1", "more": [None, 2.5, ("FIXTUREPW1",)]}
    safe = {"[redacted]": 1, 5: "a [redacted]", "more": [None, 2.5, ["[redacted]"]]}
    assert MASK.value(value) == safe
    assert SecretMask().value(value) == value
    assert SecretMask().text("a FIXTUREPW1") == "a FIXTUREPW1"


def test_a_container_in_many_places_is_read_once() -> None:
    value: object = ["FIXTUREPW1"]
    for _ in range(60):
        value = [value, value]
    safe = MASK.value(value)
    for _ in range(60):
        assert isinstance(safe, list)
        assert safe[0] is safe[1]
        safe = safe[0]
    assert safe == ["[redacted]"]


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


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        ("x password=aaa111 y token=bbb222 z", {"aaa111", "bbb222"}),
        ("password=aaa111 y token=bbb222 z secret=ccc333", {"aaa111", "bbb222", "ccc333"}),
        ("password=abcdefgh", {"abcdefgh"}),
        ("password=abcdefg", set()),
        ("password=abc12", set()),
        ("password=abc123", {"abc123"}),
        ("mysql://bob:p%40abc123@db", {"bob:p%40abc123", "abc123"}),
    ],
)
def test_what_is_learned_of_a_text(text: str, secrets: set[str]) -> None:
    assert set(SecretMask.learned(text).secrets) == secrets


def test_nothing_is_left_of_a_long_secret_that_is_known() -> None:
    secret = "hunter2" * 1_000
    assert "hunter" not in SecretMask([secret]).text(f"it was {secret} before")
