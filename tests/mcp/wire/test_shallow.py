"""Values nested too deeply are cut off at their limit."""

import json
import re
from typing import Any

import pytest
from hypothesis import given, strategies as st

from toolvet.mcp.wire import ErrorReply, Request, Result, parse, split_batch
from toolvet.mcp.wire.message import _brackets, cut_items, shallow

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)


def cut(value: object, limit: int) -> object:
    if isinstance(value, dict):
        return None if limit < 1 else {key: cut(item, limit - 1) for key, item in value.items()}
    if isinstance(value, list):
        return None if limit < 1 else [cut(item, limit - 1) for item in value]
    return value


spellings = st.fixed_dictionaries({"indent": st.sampled_from([None, 1]), "ensure_ascii": st.booleans()})


@given(values, st.integers(0, 4), spellings)
def test_what_is_within_the_limit_stays_and_what_is_deeper_is_null(
    value: object, limit: int, spelling: dict[str, Any]
) -> None:
    line = json.dumps(value, **spelling).encode()
    assert json.loads(shallow(line, limit)) == cut(value, limit)


@given(st.binary(), st.integers(0, 3))
def test_no_bytes_make_it_fail(line: bytes, limit: int) -> None:
    assert len(shallow(line, limit)) <= 5 * len(line)


@given(st.lists(values, max_size=4), spellings)
def test_the_items_of_an_array_are_cut_as_they_are_written(items: list[object], spelling: dict[str, Any]) -> None:
    line = json.dumps(items, **spelling).encode()
    assert [json.loads(item) for item in cut_items(line)] == items


@pytest.mark.parametrize("item", [b"NaN", rb'"\ud800,]"', rb'{"a": ["\"]", -Infinity]}', b"[[[]]]"])
def test_what_a_decoder_does_not_take_is_an_item_like_any_other(item: bytes) -> None:
    assert cut_items(b" [1, " + item + b" ,[[2]]]\n") == [b"1", item, b"[[2]]"]
    assert split_batch(b"[" + item + b"]") == [item]


@given(st.binary() | st.text('"\\[{]},a', max_size=20).map(str.encode))
def test_no_bytes_make_the_cutting_fail(line: bytes) -> None:
    assert sum(map(len, cut_items(line))) <= len(line)


TOKENS = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|\[+|\{+|\]+|\}+', re.DOTALL)


@given(st.text('"\\[{]}a\n', max_size=40))
def test_brackets_in_strings_are_no_brackets(text: str) -> None:
    line = text.encode()
    assert list(_brackets(line)) == [found.span() for found in TOKENS.finditer(line) if found[0][:1] != b'"']


@pytest.mark.parametrize("line", [b'"' + b'\\"' * 500_000, b'"' + b"\\" * 999_999, b'"' + b"\\n" * 500_000 + b'"'])
def test_a_string_of_nothing_but_backslashes_is_passed_over(line: bytes) -> None:
    assert shallow(line) == line


def deep(number: int) -> bytes:
    return b'{"a":[' * number + b"]}" * number


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (b'{"x":%s,"id":7,"method":"m","params":%s,"jsonrpc":"2.0"}', Request),
        (b'{ "x":%s,"\\u0069d" : 7 ,"result":%s,"jsonrpc":"2.0"}', Result),
        (b'{"x":%s,"error":{"code":1,"message":"]]\\"","data":%s},"id":7,"jsonrpc":"2.0"}', ErrorReply),
    ],
)
def test_a_message_with_deep_members_is_still_told_for_what_it_is(line: bytes, kind: type) -> None:
    found = parse(shallow(line % (deep(20_000), deep(20_000))))
    assert isinstance(found, Request | Result | ErrorReply)
    assert type(found) is kind
    assert found.id == 7
