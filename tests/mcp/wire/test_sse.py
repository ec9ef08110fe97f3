from itertools import pairwise

import pytest
from hypothesis import given, strategies as st
from tests.examples import examples

from toolvet.mcp.wire import SseEvent, SseFramer
from toolvet.mcp.wire.sse import RawSseFramer, encode_event, has_id, read_data, replace_data

PIECES = [
    b"data: one\n",
    b"data:two\r\n",
    b"data\r",
    b"data:  two spaces\n",
    b"event: message\n",
    b"event: ping\r",
    b"id: 7\n",
    b"id: a\0b\n",
    b"id\n",
    b"retry: 10\n",
    b"retry: x\n",
    b": comment\n",
    b"unknown: x\n",
    b"\n",
    b"\r\n",
    b"\r",
    b"\n\n",
    b"\xef\xbb\xbf",
    b"\xff",
]
STREAM = st.lists(st.sampled_from(PIECES), max_size=25).map(b"".join)


def slow_events(stream: bytes) -> tuple[list[SseEvent], str, int | None]:
    """The twin: the standard's algorithm, line by line over the whole stream."""
    lines: list[bytes] = []
    line = b""
    index = 0
    stream = stream.removeprefix(b"\xef\xbb\xbf")
    while index < len(stream):
        if stream[index] in b"\r\n":
            index += 2 if stream[index : index + 2] == b"\r\n" else 1
            lines.append(line)
            line = b""
        else:
            line += stream[index : index + 1]
            index += 1
    events: list[SseEvent] = []
    data, event, last, retry = b"", "", "", None
    for line in lines:
        if not line:
            if data:
                events.append(SseEvent(data[:-1], event or "message", last))
            data, event = b"", ""
            continue
        if line.startswith(b":"):
            continue
        name, _, value = line.partition(b":")
        value = value[1:] if value.startswith(b" ") else value
        if name == b"data":
            data += value + b"\n"
        elif name == b"event":
            event = value.decode(errors="replace")
        elif name == b"id" and b"\0" not in value:
            last = value.decode(errors="replace")
        elif name == b"retry" and value.isdigit():
            retry = int(value)
    return events, last, retry


@examples(500)
@given(STREAM, st.lists(st.integers(0, 200)))
def test_events_are_the_standards_however_the_stream_is_cut(stream: bytes, cuts: list[int]) -> None:
    points = sorted({min(cut, len(stream)) for cut in cuts} | {0, len(stream)})
    framer = SseFramer()
    events: list[SseEvent] = []
    for start, end in pairwise(points):
        events += framer.feed(stream[start:end])
    assert (events, framer.last_event_id, framer.retry) == slow_events(stream)


@given(st.lists(st.binary()))
def test_any_bytes_are_some_stream(chunks: list[bytes]) -> None:
    framer = SseFramer()
    for chunk in chunks:
        framer.feed(chunk)


def test_an_event_without_data_is_not_dispatched_but_sets_id_and_retry() -> None:
    framer = SseFramer()
    assert framer.feed(b"id: 5\nretry: 250\n\n") == []
    assert (framer.last_event_id, framer.retry) == ("5", 250)
    assert framer.feed(b"data: x\n\n") == [SseEvent(b"x", "message", "5")]


def test_an_event_of_10_megabytes_comes_out_whole_and_is_counted_while_it_grows() -> None:
    framer = SseFramer()
    framer.feed(b"data: ")
    for _ in range(160):
        assert framer.feed(b"x" * 65_536) == []
    assert framer.pending_bytes == 6 + 160 * 65_536
    (event,) = framer.feed(b"\n\n")
    assert len(event.data) == 160 * 65_536
    assert framer.pending_bytes == 0


def test_a_retry_of_a_million_digits_is_ignored() -> None:
    framer = SseFramer()
    framer.feed(b"retry: " + b"9" * 1_000_000 + b"\n\n")
    assert framer.retry is None


@given(STREAM, st.lists(st.integers(0, 200)))
def test_raw_blocks_lose_no_byte_however_the_stream_is_cut(stream: bytes, cuts: list[int]) -> None:
    points = sorted({min(cut, len(stream)) for cut in cuts} | {0, len(stream)})
    framer = RawSseFramer()
    blocks = [block for start, end in pairwise(points) for block in framer.feed(stream[start:end])]
    size = framer.size
    rest = framer.rest()
    assert b"".join(blocks) + rest == stream
    assert size == len(rest)
    assert framer.size == 0


@given(STREAM)
def test_a_raw_block_holds_the_data_of_the_event_that_the_standard_dispatches(stream: bytes) -> None:
    events, _, _ = slow_events(stream)
    found = [data for block in RawSseFramer().feed(stream) if (data := read_data(block)) is not None]
    assert found == [event.data for event in events if event.data and event.event == "message"]


def test_of_several_types_in_a_block_the_last_one_counts_and_none_is_a_message() -> None:
    for types in (b"event: ping\nevent: message\n", b"event:\n", b"event\n", b"event: ping\nevent\n"):
        assert read_data(types + b"data: {}\n\n") == b"{}"
    for types in (b"event: message\nevent: ping\n", b"event: message \n", b"event:  message\n"):
        assert read_data(types + b"data: {}\n\n") is None


@pytest.mark.parametrize("cuts", [(0,), (0, 1), (0, 2), (0, 3), (0, 1, 2, 3, 4)])
def test_a_byte_order_mark_hides_no_event_from_the_proxy(cuts: tuple[int, ...]) -> None:
    stream = b"\xef\xbb\xbfdata: {}\n\n"
    framer = RawSseFramer()
    blocks = [block for start, end in pairwise((*cuts, len(stream))) for block in framer.feed(stream[start:end])]
    assert blocks == [b"\xef\xbb\xbf", b"data: {}\n\n"]
    assert read_data(blocks[1]) == b"{}"


def test_another_message_goes_into_a_block_and_the_rest_of_it_stays() -> None:
    block = b": hello\r\nid: 7\r\nevent: message\r\ndata: {}\r\n\r\n"
    assert has_id(block)
    assert replace_data(block, [b"[1]"]) == block.replace(b"{}", b"[1]")
    second = b"event: message\r\ndata: [2]\r\n\r\n"
    assert replace_data(block, [b"[1]", b"[2]"]) == block.replace(b"{}", b"[1]") + second
    assert replace_data(b"data: {}\n\n", []) == b""


@given(st.lists(st.sampled_from([b"{}", b"\n", b" ", b"x"]), min_size=1).map(b"".join), st.sampled_from([b"", b"7"]))
def test_an_encoded_event_is_read_back(message: bytes, id_: bytes) -> None:
    (event,) = SseFramer().feed(encode_event(message, id_)) or [SseEvent(b"")]
    assert event.data == b"\n".join(message.splitlines())
