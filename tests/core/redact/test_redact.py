"""Secrets are hidden, and nothing else is."""

import json

import pytest
from hypothesis import given, strategies as st
from tests.steps import regex_steps

from toolvet.core.redact import REDACTED, is_secret_key, redact, redact_text, word_segments
from toolvet.core.redact.secret import _HEADER, _LOOSE, _NAME_BACKWARDS, _shapes, secret_data

DATA = secret_data()
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@pytest.mark.parametrize("name", DATA.keys.hits)
def test_the_value_of_a_secret_key_is_hidden(name: str) -> None:
    assert redact({name: "hunter2"}) == {name: REDACTED}


@pytest.mark.parametrize("name", DATA.keys.misses)
def test_a_key_that_only_sounds_secret_keeps_its_value(name: str) -> None:
    value = {name: "hunter2"}
    assert redact(value) is value


@pytest.mark.parametrize(("shape", "text"), [(s.name, hit) for s in DATA.shape for hit in s.hits])
def test_a_secret_shape_is_hidden(shape: str, text: str) -> None:
    assert REDACTED in redact_text(text), shape


@pytest.mark.parametrize(("shape", "text"), [(s.name, miss) for s in DATA.shape for miss in s.misses])
def test_a_near_miss_of_a_shape_is_kept(shape: str, text: str) -> None:
    assert redact_text(text) is text, shape


@pytest.mark.parametrize("text", DATA.assignments.hits)
def test_an_assignment_to_a_secret_name_hides_the_value_alone(text: str) -> None:
    assert REDACTED in redact_text(text)


@pytest.mark.parametrize("text", DATA.assignments.misses)
def test_an_assignment_that_gives_nothing_away_is_kept(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("https://x.org/?a=1&api_key=abc123&b=2", "https://x.org/?a=1&api_key=[redacted]&b=2"),
        ('{"password": "hunter2", "n": 1}', '{"password": "[redacted]", "n": 1}'),
        ("postgres://app:hunter2@db:5432/x", "postgres://[redacted]@db:5432/x"),
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer [redacted]"),
        ("curl -H 'Authorization: Bearer abcdef123456' x", "curl -H 'Authorization: Bearer [redacted]' x"),
        ("a\nX-Api-Key: 12345\nb", "a\nX-Api-Key: [redacted]\nb"),
        ("const apiKey = 'w2ubktpKSyYdd8';", "const apiKey = '[redacted]';"),
        ("password: hunter2, user: bob", "password: [redacted], user: bob"),
        ("- **Password:** `hunter2`", "- **Password:** `[redacted]`"),
        ("The API key: w2ubktpKSyYdd8 works", "The API key: [redacted] works"),
        ("<password>hunter2</password>", "<password>[redacted]</password>"),
        ("Set-Cookie: sid=abc; Path=/ ; done", "Set-Cookie: [redacted] ; done"),
        ("mysql://root:p@ss@db/x", "mysql://[redacted]@db/x"),
    ],
)
def test_the_text_around_a_secret_stays_readable(text: str, hidden: str) -> None:
    assert redact_text(text) == hidden


@pytest.mark.parametrize(
    ("value", "hidden"),
    [
        (
            {"headers": [{"name": "Authorization", "value": "abc"}]},
            {"headers": [{"name": "Authorization", "value": REDACTED}]},
        ),
        ({"key": "X-Api-Key", "value": "abc"}, {"key": "X-Api-Key", "value": REDACTED}),
        ({"key": "Accept", "value": "abc"}, {"key": "Accept", "value": "abc"}),
        (
            {"credentials": {"user": "a", "n": 1, "ok": True}},
            {"credentials": {"user": REDACTED, "n": REDACTED, "ok": True}},
        ),
        ({"tokens": ["a"]}, {"tokens": ["a"]}),
        ({"secrets": ["a", ["b"]]}, {"secrets": [REDACTED, [REDACTED]]}),
        ({"otp": 123456}, {"otp": REDACTED}),
        ({"password": None, "token": False, "secret": ""}, {"password": None, "token": False, "secret": ""}),
        ({"text": "password=hunter2"}, {"text": "password=[redacted]"}),
    ],
)
def test_any_shape_of_json_keeps_its_shape(value: object, hidden: object) -> None:
    assert redact(value) == hidden


def test_a_secret_in_a_key_is_hidden_and_no_member_is_lost() -> None:
    assert redact({"password=hunter2": {}}) == {"password=[redacted]": {}}
    two = redact({"api_key=1234": 1, "api_key=5678": 2, "a": 3})
    assert two == {"api_key=[redacted]": REDACTED, "api_key=[redacted] 2": REDACTED, "a": 3}
    assert redact(two) == two


def test_the_schema_of_a_secret_parameter_is_not_a_secret() -> None:
    tool = {
        "inputSchema": {
            "properties": {
                "password": {"type": "string", "description": "Your password"},
                "token": {"$ref": "#/$defs/t"},
            }
        }
    }
    assert redact(tool) is tool


def test_a_list_without_secrets_is_returned_itself_and_a_tuple_stays_a_tuple() -> None:
    clean: list[object] = [1, {"a": ["b"]}]
    assert redact(clean) is clean
    assert redact(({"token": "x"},)) == ({"token": REDACTED},)


@given(JSON)
def test_any_json_value_is_redacted_without_an_error_and_only_once(value: object) -> None:
    once = redact(value)
    assert redact(once) is once


@given(st.text(alphabet="abcE\"'=:-_ .eyJ/@\\password", max_size=200))
def test_redacting_text_twice_changes_nothing_more(text: str) -> None:
    once = redact_text(text)
    assert redact_text(once) == once


@pytest.mark.parametrize("depth", [199, 200])
def test_what_lies_deeper_than_200_levels_is_replaced(depth: int) -> None:
    value: object = ["x"]
    for _ in range(depth):
        value = [value]
    safe = redact(value)
    assert (safe is value) is (depth < 200)
    for _ in range(depth):
        assert isinstance(safe, list)
        safe = safe[0]
    assert safe == (["x"] if depth < 200 else REDACTED)


def test_nesting_deeper_than_any_payload_is_harmless() -> None:
    deep: object = {"token": "x"}
    for _ in range(3000):
        deep = [deep]
    redact(deep)


@pytest.mark.parametrize(
    "unit",
    [
        "eyJ",
        "-eyJ",
        "password=",
        '"a":"',
        "://a:",
        "x-",
        "sk-",
        "bearer ",
        "-----BEGIN PRIVATE KEY-----",
        "A",
        ".a",
        "a=",
        '\\"',
        "a='",
        "\ncookie:a;b",
        "token:",
        "password: ",
        "API key:",
        "密码:",
        "**token:** a1",
        "token: abc123xyz_",
        "password='",
        "password is ",
        "--token a1 ",
        "Cookie: a=b;",
        "Authorization: token a1",
        "<password>",
        "hooks.slack.com/services/",
        "1:AA",
        " -u a:1",
        "?sig=",
    ],
)
def test_hostile_text_takes_no_more_than_a_fixed_number_of_steps_for_each_character(unit: str) -> None:
    text = unit * (800 // len(unit))
    for expression in (*(shape.expression for shape in _shapes()), _HEADER):
        assert regex_steps(expression, text) <= 30 * len(text), expression.pattern
    assert regex_steps(_NAME_BACKWARDS, text[::-1]) <= 30 * len(text)
    # A text that is not a secret is read again from the next name in it: that much.
    assert all(len(match["value"]) <= 64 for match in _LOOSE.finditer(text))
    # It ends for a text of 1 MB, too.
    redact_text(unit * (1_000_000 // len(unit)))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("deleteFile", ("delete", "file")),
        ("DELETE_FILE", ("delete", "file")),
        ("files.delete-2", ("files", "delete", "2")),
        ("getHTTPResponse", ("get", "http", "response")),
        ("XAPIKey", ("xapi", "key")),
        ("", ()),
        ("名前", ("名前",)),
    ],
)
def test_a_name_falls_into_words_in_any_case_style(name: str, words: tuple[str, ...]) -> None:
    assert word_segments(name) == words


def test_a_very_long_key_is_not_a_secret_and_costs_nothing() -> None:
    assert not is_secret_key("password" * 1000)
    assert json.dumps(redact({"a" * 10_000: "x"}))


@pytest.mark.parametrize(
    "text",
    [
        '{"Authorization": "%s"}',
        "password=%s b",
        'api_key="%s"',
        "Authorization: %s",
        "postgres://bob:%s@db/x",
        "Cookie: " + "; ".join(f"c{number}=%s" for number in range(60)),
    ],
)
def test_nothing_is_left_of_a_secret_of_any_length(text: str) -> None:
    assert "hunter" not in redact_text(text.replace("%s", "hunter" * 1_000))
