"""A head is known again by its bytes alone: one byte more or less, and it is parsed."""

import pytest

from toolvet.mcp.wire.http import Field, head_form

LINE = b"POST /mcp HTTP/1.1"
FIELDS: list[Field] = [(b"Host", b"a"), (b"content-length", b"2"), (b"Accept", b"*/*")]
HEAD = b"POST /mcp HTTP/1.1\r\nHost: a\r\ncontent-length: 2\r\nAccept: */*\r\n\r\n"


def test_the_same_head_is_found_with_any_length() -> None:
    form = head_form(LINE, FIELDS, HEAD + b"{}")
    assert form is not None
    for digits in (b"2", b"0", b"123456789"):
        head = HEAD.replace(b": 2", b": " + digits)
        assert form.find_length(head + b"{}") == (int(digits), len(head))


@pytest.mark.parametrize(
    "other",
    [
        HEAD.replace(b"/mcp", b"/MCP"),
        HEAD.replace(b"Host", b"host"),
        HEAD.replace(b"*/*", b"*/* "),
        HEAD.replace(b": 2", b":  2"),
        HEAD.replace(b": 2", b": +2"),
        HEAD.replace(b": 2", b": 2 "),
        HEAD.replace(b": 2", b": 0x2"),
        HEAD.replace(b": 2", b": \xc2\xb2"),
        HEAD.replace(b": 2", b": 1234567890"),
        HEAD.replace(b": 2", b": "),
        HEAD.replace(b"\r\n", b"\n"),
        HEAD.replace(b"Accept", b"Transfer-Encoding: chunked\r\nAccept"),
        HEAD[:-2] + b"Content-Length: 9\r\n\r\n",
        b"\r\n" + HEAD,
        HEAD[:-1],
        b"",
    ],
)
def test_any_other_head_is_not(other: bytes) -> None:
    form = head_form(LINE, FIELDS)
    assert form is not None
    assert form.find_length(other) is None


@pytest.mark.parametrize(
    "fields",
    [
        [(b"Host", b"a")],
        [*FIELDS, (b"Content-Length", b"2")],
        [*FIELDS, (b"Transfer-Encoding", b"chunked")],
        [*FIELDS, (b"Expect", b"100-continue")],
        [*FIELDS, (b"Upgrade", b"h2c")],
        [(b"Content-Length", b"+2")],
    ],
)
def test_a_head_that_says_more_is_parsed_each_time(fields: list[Field]) -> None:
    assert head_form(LINE, fields) is None


def test_a_head_that_was_written_otherwise_is_parsed_each_time() -> None:
    assert head_form(LINE, FIELDS, HEAD.replace(b": a", b":a")) is None
