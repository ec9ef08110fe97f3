"""Bytes of a peer: messages, batches, lines, header values. Any bytes are some message, and cuts change nothing."""

import json

from fuzz.draw import Draw
from fuzz.holds import holds

from toolvet.mcp.wire import (
    InvalidJson,
    LineFramer,
    Oversize,
    RawLineFramer,
    encode_error,
    encode_notification,
    encode_request,
    encode_result,
    parse,
    shallow,
    split_batch,
    without_half_characters,
)
from toolvet.mcp.wire.header import encode_header, mirror, parameter_headers, request_headers

MEMBERS = ("jsonrpc", "id", "method", "params", "result", "error", "code")


def check(draw: Draw) -> None:
    """One of five: raw bytes, a drawn message, lines, what was encoded, headers."""
    match draw.byte() % 5:
        case 0:
            _read(draw.raw())
        case 1:
            _read(_message(draw))
        case 2:
            _lines(draw)
        case 3:
            _encoded(draw)
        case _:
            _headers(draw)


def _read(line: bytes) -> None:
    message = parse(line)
    holds(parse(line) == message, "the same bytes, another message")
    holds(getattr(message, "raw", line) == line, "a message lost its bytes")
    repr([getattr(message, name, None) for name in ("params", "result", "data")])
    for part in split_batch(line):
        parse(part)
    mended = without_half_characters(line)
    holds(not isinstance(mended, InvalidJson), "repaired, and still not JSON")
    for limit in (2, 500):
        cut = shallow(line, limit)
        holds(len(cut) <= len(line) + 4 * line.count(b"[") + 4 * line.count(b"{"), "cutting made it longer")
    holds(shallow(line, max(1, line.count(b"[") + line.count(b"{"))) == line, "it is not deep, and was cut")


def _message(draw: Draw) -> bytes:
    message = {"jsonrpc": draw.one(("2.0", "2.0", "2.0", "1.0", 2))}
    message |= {name: draw.json() for name in draw.several(lambda: draw.one(MEMBERS), 4)}
    text = json.dumps(message).encode()
    if draw.byte() > 200:
        at = draw.byte() % (len(text) + 1)
        text = text[:at] + draw.piece(6) + text[at + draw.byte() % 4 :]
    return text


def _lines(draw: Draw) -> None:
    limit = draw.one((None, 3, 20))
    pieces = draw.cuts(draw.raw())
    whole = b"".join(pieces)
    framers = [LineFramer(limit), LineFramer(limit)]
    found = [line for piece in pieces for line in framers[0].feed(piece)]
    holds(found == framers[1].feed(whole), "the lines depend on the cuts")
    last = [framer.finish() for framer in framers]
    holds(last[0] == last[1], "the last line depends on the cuts")
    if limit is not None:
        holds(all(isinstance(line, Oversize) or len(line) <= limit for line in found), "a line is over its limit")
    raw = RawLineFramer()
    lines = [line for piece in pieces for line in raw.feed(piece)]
    holds(b"".join(line + b"\n" for line in lines) + (raw.finish() or b"") == whole, "bytes were lost")


def _encoded(draw: Draw) -> None:
    identifier = draw.one((1, "a", 0, -5, "", 2**70))
    value = draw.json()
    try:
        lines = [
            encode_request(identifier, draw.text(), value),
            encode_notification(draw.text(), value),
            encode_result(identifier, value),
            encode_error(identifier, 5, draw.text(), value),
        ]
    except (ValueError, TypeError):
        return
    for line in lines:
        holds(b"\n" not in line, "an encoded message has two lines")
        json.loads(line)
        _read(line)


def _headers(draw: Draw) -> None:
    text = draw.text()
    holds(encode_header(text).isascii(), "a header value is not ASCII")
    holds(not set(encode_header(text)) & set("\r\n\0"), "a header value ends its line")
    for value in request_headers(text, draw.one(("tools/call", "resources/read", text)), draw.value()).values():
        holds(isinstance(value, str), "a header value is not a text")
    found = parameter_headers(draw.schema() if draw.flag() else draw.value())
    holds(all(value.isascii() for value in mirror(found, draw.value()).values()), "a header value is not ASCII")
