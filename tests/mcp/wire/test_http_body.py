"""Which framing a body has, and its bytes: the table of `wire/http.py`, read by an HTTP parser of others."""

from typing import Literal

import httptools
import pytest
from hypothesis import given, strategies as st

from toolvet.mcp.wire.http import (
    DROPPED,
    BodyFraming,
    BodyWriter,
    Field,
    RequestHead,
    ResponseHead,
    announced_length,
    answer_framing,
    encode_request_head,
    encode_response_head,
    passed_fields,
    response_framing,
)

CHUNKED = (b"Transfer-Encoding", b"chunked")
LENGTH = (b"Content-Length", b"5")


class Reader:
    """Collects what httptools reads."""

    def __init__(self) -> None:
        self.body = b""
        self.is_complete = False

    def on_body(self, data: bytes) -> None:
        self.body += data

    def on_message_complete(self) -> None:
        self.is_complete = True


@pytest.mark.parametrize(
    ("method", "status", "fields", "framing", "length"),
    [
        (b"POST", 200, [LENGTH], "length", 5),
        (b"POST", 200, [CHUNKED], "chunked", None),
        (b"POST", 200, [CHUNKED, LENGTH], "chunked", None),
        (b"POST", 200, [], "close", None),
        (b"HEAD", 200, [LENGTH], "none", 5),
        (b"POST", 204, [], "none", None),
        (b"GET", 304, [LENGTH], "none", 5),
    ],
)
def test_how_an_answer_that_was_read_ends(
    method: bytes, status: int, fields: list[Field], framing: BodyFraming, length: int | None
) -> None:
    head = ResponseHead(status, b"", fields)
    assert answer_framing(method, head) == framing
    assert announced_length(head) == length


@pytest.mark.parametrize(
    ("method", "version", "status", "length", "framing"),
    [
        (b"POST", b"1.1", 200, 5, "length"),
        (b"POST", b"1.0", 200, 5, "length"),
        (b"POST", b"1.1", 200, None, "chunked"),
        (b"POST", b"1.0", 200, None, "close"),
        (b"HEAD", b"1.1", 200, None, "none"),
        (b"GET", b"1.1", 304, None, "none"),
        (b"POST", b"1.1", 204, None, "none"),
    ],
)
def test_how_a_response_is_to_be_written(
    method: bytes, version: bytes, status: int, length: int | None, framing: BodyFraming
) -> None:
    request = RequestHead(method, b"/mcp", [], version=version)
    assert response_framing(request, ResponseHead(status, b"", [], length)) == framing


@given(st.lists(st.binary(min_size=1)), st.sampled_from(["length", "chunked", "close"]))
def test_another_parser_reads_the_body_that_was_written(
    parts: list[bytes], framing: Literal["length", "chunked", "close"]
) -> None:
    length = {"length": sum(map(len, parts)), "chunked": "chunked", "close": None}[framing]
    writer = BodyWriter(framing)
    wire = encode_response_head(ResponseHead(200, b"OK", []), length, close=framing == "close")  # type: ignore[arg-type]
    wire += b"".join(map(writer.write, parts)) + writer.end()
    reader = Reader()
    httptools.HttpResponseParser(reader).feed_data(wire)
    assert reader.body == b"".join(parts)
    # Nothing but the end of the connection marks the end of the third.
    assert reader.is_complete is (framing != "close")


def test_a_response_without_a_body_writes_none() -> None:
    writer = BodyWriter("none")
    assert (writer.write(b"lost"), writer.end()) == (b"", b"")


def test_fields_of_one_connection_do_not_pass() -> None:
    fields = [(b"Connection", b"close, X-Hop"), (b"x-hop", b"1"), (b"Host", b"a"), (b"Accept", b"b"), CHUNKED]
    assert passed_fields(fields, DROPPED) == [(b"Accept", b"b")]


def test_a_request_without_a_body_announces_none() -> None:
    head = RequestHead(b"GET", b"/mcp", [(b"Accept", b"b")])
    assert encode_request_head(head, b"host", None) == b"GET /mcp HTTP/1.1\r\nHost: host\r\nAccept: b\r\n\r\n"
    assert encode_request_head(head, b"host", 0).endswith(b"Content-Length: 0\r\n\r\n")
