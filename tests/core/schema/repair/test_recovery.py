import json
from typing import Any

import pytest
from hypothesis import given, strategies as st
from tests.examples import examples

from toolvet.core.schema import recover


@pytest.mark.parametrize(
    ("text", "value", "confidence"),
    [
        ('{"a": 1}', {"a": 1}, "high"),
        ("5", 5, "high"),
        ("{'a': 'b'}", {"a": "b"}, "high"),
        ("{'a': 'it\\'s'}", {"a": "it's"}, "high"),
        ('{"a": [1, 2,], }', {"a": [1, 2]}, "high"),
        ("{'a': True, 'b': None, 'c': False}", {"a": True, "b": None, "c": False}, "high"),
        ("{'a': (1, 2)}", {"a": [1, 2]}, "high"),
        ("{'a': (1,)}", {"a": [1]}, "high"),
        ('{a: 1, _b$: "x"}', {"a": 1, "_b$": "x"}, "high"),
        ('{"a": 1, // one\n "b": 2 /* two */}', {"a": 1, "b": 2}, "high"),
        ('{\n# none\n"a": 1}', {"a": 1}, "high"),
        ('```json\n{"a": 1}\n```', {"a": 1}, "high"),
        ("```\n{'a': 1}\n```\nThat is it.", {"a": 1}, "high"),
        ('Here you are: {"a": [1]}. Anything else?', {"a": [1]}, "medium"),
        ('As of [1], use {"a": 1}', None, ""),
        ('As in [the manual], use {"a": 1}', {"a": 1}, "medium"),
        ("{“a”: “b”}", {"a": "b"}, "high"),
        ('{"a": "x", "b": [1, "y"', {"a": "x", "b": [1, "y"]}, "medium"),
        ('{"a": {"b": true', {"a": {"b": True}}, "low"),
        ('{"a": 1', {"a": 1}, "low"),
        ('{"a": "hel', {"a": "hel"}, "low"),
        ('{"a": "x",', {"a": "x"}, "low"),
        ('"{\\"a\\": 1}"', {"a": 1}, "high"),
        ('"\\"{\\\\\\"a\\\\\\": 1}\\""', {"a": 1}, "high"),
        ('{"a": 1}}', {"a": 1}, "medium"),
        ('{"a": 1};', {"a": 1}, "high"),
        ('{"path": "C:\\dir"}', {"path": "C:\\dir"}, "medium"),
        ('{"a": "two\nlines"}', {"a": "two\nlines"}, "high"),
        ('{"a": +5, "b": .5, "c": 1_000}', {"a": 5, "b": 0.5, "c": 1000}, "high"),
        ('{"n": 123456789012345678901234567890}', {"n": 123456789012345678901234567890}, "high"),
        ('\ufeff{"a": 1}', {"a": 1}, "high"),
        ('{"a" => 1}', {"a": 1}, "medium"),
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}, "medium"),
        ('{"a": {"x": 1}\n b: ["x" "y"]}', {"a": {"x": 1}, "b": ["x", "y"]}, "medium"),
        ('[{"a": 1} {"a": 2}]', [{"a": 1}, {"a": 2}], "medium"),
        ('{"a": 1; "b": [1; 2]}', {"a": 1, "b": [1, 2]}, "medium"),
        ("{“a“: “its“}", {"a": "its"}, "high"),
        ("{„a“: „b“}", {"a": "b"}, "high"),
        ('{"a": 10,000, "b": -1,234,567}', {"a": 10000, "b": -1234567}, "medium"),
        ('search(query="x", limit=5, all=True)', {"query": "x", "limit": 5, "all": True}, "medium"),
        ('client.search({"query": "x"});', {"query": "x"}, "medium"),
        ('{"a": "\\ud83d\\ude00"', {"a": "\U0001f600"}, "medium"),
    ],
)
def test_text_that_was_meant_as_json_is_read(text: str, value: Any, confidence: str) -> None:
    found = recover(text)
    if value is None:
        assert found is None
        return
    assert found is not None
    assert (found.value, found.confidence) == (value, confidence)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "There is [no] JSON {in} this text.",
        '{"a": NaN}',
        "[Infinity]",
        "NaN",
        '{"list": [1, 2], "a": NaN}',
        '{"a": 1} {"b": 2}',
        '```json\n{"a": 1}\n```\nor\n```json\n{"a": 2}\n```',
        '{"a": "x", "b"',
        '{"a": "x", "b":',
        '{"a": tru',
        '{"a": yes please}',
        '{"a": say "hi" now}',
        '{"a": "say "hi" now"}',
        "[1 2]",
        '{"a": "say "b": two"}',
        '{"a": 3,50}',
        '{"a": 0,500}',
        '{"a": 1,2345}',
        "print(1)",
        "f(a=1, 2)",
        "f(a=1) or g(a=2)",
        '["a""b"]',
        '{"a": 1 b}',
        '{"a": 1]',
        '{"a": 007}',
        '{"a": 1e999}',
        '{"a": 1, "a": 2, }',
        '{"a": "\\u12"}',
        "{'a': __import__('os')}",
        "{'a': 1 + 1}",
        '{"a": 1, // never ended',
    ],
)
def test_what_could_mean_several_things_or_nothing_is_not_recovered(text: str) -> None:
    assert recover(text) is None


def test_json_comes_back_without_steps_and_the_rest_with_a_sentence_for_each_liberty() -> None:
    plain = recover('{"a": 1}')
    assert plain is not None
    assert plain.steps == ()
    found = recover("```\n{'a': True,}\n```")
    assert found is not None
    assert found.steps == (
        "Took the JSON out of its Markdown fence.",
        "Replaced other quotation marks by double ones.",
        "Read Python and JavaScript words for true, false and null.",
        "Left out a comma before a closing bracket.",
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_json_of_any_kind_comes_back_as_it_is(value: Any) -> None:
    found = recover(json.dumps(value))
    assert found is not None
    nested = isinstance(value, str) and value.strip()[:1] in ("{", "[", '"')
    assert found.value == value or nested


@given(st.dictionaries(st.text(), json_values, min_size=1))
def test_what_python_prints_comes_back(value: Any) -> None:
    found = recover(str(value))
    # Escapes that only Python has are read as backslashes, and that is reported.
    if found is not None and found.confidence == "high":
        assert found.value == value


@examples(300)
@given(st.text(alphabet=st.sampled_from(list("{}[]()\"'`,:=# \n\\/*abTrue10.-+eNn“”")), max_size=60) | st.text())
def test_any_text_is_read_or_not_and_never_raises(text: str) -> None:
    found = recover(text)
    if found is not None:
        assert found.value is None or json.dumps(found.value, allow_nan=False)


@examples(100)
@given(
    st.dictionaries(st.text(alphabet="abc"), json_values, min_size=1, max_size=3),
    st.integers(min_value=1, max_value=60),
)
def test_a_text_that_was_cut_is_never_recovered_with_high_confidence(value: Any, cut: int) -> None:
    text = json.dumps(value)
    found = recover(text[: -min(cut, len(text) - 1)])
    if found is not None:
        assert found.confidence != "high"


@pytest.mark.parametrize(
    "unit",
    [
        "{",
        "[",
        "(",
        "{'a':",
        '"',
        "'",
        "```",
        "```\n",
        "``` ",
        "1",
        "1_",
        "[1,",
        "/*",
        "//",
        "#",
        "\\",
        "{}",
        "[]",
        " ",
        "\n",
        "“",
        '{"a":1}',
        "x{",
        "'\\",
    ],
)
def test_a_long_text_of_any_kind_is_read_before_the_test_runs_out_of_time(unit: str) -> None:
    # In time that grows with the square of the length, these would take hours.
    text = unit * (1_000_000 // len(unit))
    for whole in (text, f"{{{text}", f"see {text}x"):
        recover(whole)
