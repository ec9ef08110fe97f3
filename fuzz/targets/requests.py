"""HTTP requests to the proxy: what a connection reads of them does not depend on the cuts, and never raises."""

import asyncio

import msgspec
from fuzz.draw import Draw
from fuzz.holds import holds

from toolvet.mcp.wire.http import (
    DROPPED,
    RequestHead,
    ResponseHead,
    announced_length,
    answer_framing,
    encode_request_head,
    is_legal,
    passed_fields,
)
from toolvet.proxy.http.body import Body, BrokenBodyError, Responder
from toolvet.proxy.http.client_connection import ClientConnection
from toolvet.proxy.http.open_connections import Limits, OpenConnections

PARTS = (
    *(b"POST /mcp HTTP/1.1\r\n", b"GET / HTTP/1.1\r\n", b"POST / HTTP/1.0\r\n", b"Host: a\r\n", b"\r\n", b"\r\n\r\n"),
    *(
        b"Content-Length: 5\r\n",
        b"Content-Length: 0\r\n",
        b"Transfer-Encoding: chunked\r\n",
        b"hello",
        b"5\r\nhello\r\n",
    ),
    *(b"0\r\n\r\n", b"Connection: close\r\n", b"Connection: Upgrade, HTTP2-Settings\r\n", b"Upgrade: h2c\r\n", b"\n"),
    *(b"Expect: 100-continue\r\n", b"Connection: keep-alive\r\n", b" ", b"\t", b"x: y\r\n", b"Content-Length: 6\r\n"),
    *(b"Transfer-Encoding: gzip, chunked\r\n", b"CONNECT a:1 HTTP/1.1\r\n", b"PRI * HTTP/2.0\r\n", b"\r", b"\0", b":"),
    *(b"GET http://a/b?c HTTP/1.1\r\n", b"Content-Length: +5\r\n", b"5;a=b\r\nhello\r\n", b"HEAD / HTTP/1.1\r\n", b"g"),
    *(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello", b"ffffffffffffffff\r\n", b"x" * 300, b"OPTIONS"),
    *(
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        b"Upgrade: websocket\r\n",
    ),
)
LIMITS = Limits(head_bytes=600, fields=12)
LOOP = asyncio.new_event_loop()


class Transport(asyncio.Transport):
    """Keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.is_closed = False

    def write(self, data: bytes) -> None:
        """Keep the bytes."""
        if not self.is_closed:
            self.written += data

    def close(self) -> None:
        """Take nothing more."""
        self.is_closed = True

    abort = close

    def is_closing(self) -> bool:
        """Whether it was closed."""
        return self.is_closed

    def pause_reading(self) -> None:
        """Do nothing: what was sent is sent."""

    def resume_reading(self) -> None:
        """Do nothing."""

    def is_reading(self) -> bool:
        """Whether more would be read."""
        return not self.is_closed

    def can_write_eof(self) -> bool:
        """Whether one half can be closed."""
        return True

    def write_eof(self) -> None:
        """Do nothing."""

    def get_extra_info(self, name: str, default: object = None) -> object:
        """Return nothing."""
        del name
        return default


def check(draw: Draw) -> None:
    """Raw bytes, or parts of requests, in pieces."""
    stream = draw.raw() if draw.flag() else b"".join(draw.one(PARTS) for _ in range(min(len(draw.data), 60)))
    pieces = Draw(stream[::-1]).cuts(stream)
    LOOP.run_until_complete(_both(pieces, stream))


async def _both(pieces: list[bytes], stream: bytes) -> None:
    cut, cut_bytes = await _served(pieces)
    whole, whole_bytes = await _served([stream])
    for head, body in (*cut, *whole):
        holds(head.length in {None, len(body)}, "a head has another length than its body")
    # A head that came in one piece may be kept by its bytes, with its length; what it says is the same.
    cut, whole = (
        [(msgspec.structs.replace(head, form=None, length=None), body) for head, body in each] for each in (cut, whole)
    )
    holds(cut == whole, f"the requests depend on the cuts: {cut} {whole}")
    # Which of several faults of a request is seen first may depend on the cuts; that there is one may not.
    answers, refusal = whole_bytes.split(b"HTTP/1.1 4", 1)[0], b"HTTP/1.1 4" in whole_bytes
    same = cut_bytes.split(b"HTTP/1.1 4", 1)[0] == answers and (b"HTTP/1.1 4" in cut_bytes) == refusal
    holds(same, "the answers depend on the cuts")
    holds(whole_bytes.count(b"HTTP/1.1 200 OK") == len(whole), "a request has no answer")
    for head, _ in whole:
        fields = passed_fields(head.fields, DROPPED)
        holds(all(map(is_legal, fields)), "a field that cannot be written was read")
        encoded = encode_request_head(RequestHead(head.method, head.target, fields), b"host", 5)
        holds(encoded.count(b"\r\n\r\n") == 1 and encoded.endswith(b"\r\n\r\n"), "a head ends before its end")
        answer = ResponseHead(200, b"OK", head.fields)
        answer_framing(head.method, answer)
        if (answer.get(b"content-length") or b"").isdigit():
            announced_length(answer)


async def _served(pieces: list[bytes]) -> tuple[list[tuple[RequestHead, bytes]], bytes]:
    served: list[tuple[RequestHead, bytes]] = []

    async def handle(head: RequestHead, body: Body, responder: Responder) -> None:
        try:
            data, _ = await body.take(1 << 20)
        except BrokenBodyError:
            return
        head.index = None
        served.append((head, data))
        responder.send(ResponseHead(200, b"OK", []), b"yes")

    transport = Transport()
    connection = ClientConnection(handle, OpenConnections(LIMITS))
    connection.connection_made(transport)
    for piece in pieces:
        if piece and not transport.is_closed:
            connection.data_received(piece)
        for _ in range(3):
            await asyncio.sleep(0)
    written, quiet = 0, 0
    while quiet < 8:
        await asyncio.sleep(0)
        quiet = quiet + 1 if len(transport.written) == written else 0
        written = len(transport.written)
    connection.connection_lost(None)
    await asyncio.sleep(0)
    return served, transport.written
