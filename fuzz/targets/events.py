"""Server-sent events: what comes out does not depend on the cuts, and a proxy passes on each byte."""

from fuzz.draw import Draw
from fuzz.holds import holds

from toolvet.mcp.wire.sse import RawSseFramer, SseFramer, encode_event, has_id, read_data, replace_data

PARTS = (
    *(b"data: {}", b"data:", b"data", b"id: 7", b"id", b"event: message", b"event: ping", b"retry: 10", b": x", b"\n"),
    *(
        b"\r",
        b"\r\n",
        b"\n\n",
        b"\r\n\r\n",
        b"\xef\xbb\xbf",
        b"id: \0",
        b"data: a\ndata: b\n\n",
        b"retry: " + b"9" * 30,
    ),
)


def check(draw: Draw) -> None:
    """Raw bytes, or parts of events, in pieces."""
    stream = draw.raw() if draw.flag() else b"".join(draw.one(PARTS) for _ in range(len(draw.data)))
    pieces = Draw(stream[::-1]).cuts(stream)
    framers = [SseFramer(), SseFramer()]
    events = [event for piece in pieces for event in framers[0].feed(piece)]
    holds(events == framers[1].feed(stream), "the events depend on the cuts")
    for name in ("last_event_id", "retry"):
        holds(getattr(framers[0], name) == getattr(framers[1], name), f"{name} depends on the cuts")
    raw = RawSseFramer()
    blocks = [block for piece in pieces for block in raw.feed(piece)]
    size, rest = raw.size, raw.rest()
    holds(size == len(rest), "the size is not that of the rest")
    holds(b"".join(blocks) + rest == stream, "bytes were lost")
    read = [data for block in blocks if (data := read_data(block)) is not None]
    messages = [event.data for event in events if event.event == "message" and event.data]
    holds(read == messages, "the raw framer reads other messages")
    for block in blocks:
        has_id(block)
        message = b'{"a": 1}'
        replaced = replace_data(block, [message, message])
        if read_data(block) is not None:
            found = [event.data for event in SseFramer().feed(b":\n\n" + replaced)]
            holds(found == [message, message], "what was replaced is not read back")
    for data in read:
        lines = data.splitlines()
        encoded = SseFramer().feed(encode_event(data, b"5"))
        holds([event.data for event in encoded] == ([b"\n".join(lines)] if lines else []), "not read back as encoded")
