"""The bodies of HTTP/1.1 messages: how the end of a body is found, and how its parts are written. No I/O.

RFC 9112 §6.3 as this proxy needs it. `answer_framing` decides for an answer that was read, `response_framing` for one
that will be written; `BodyWriter` writes a body in the framing that was chosen.

    framing  chosen when                                     write(data)  end()       the reader sees the end
    -------  ----------------------------------------------  -----------  ----------  ----------------------------
    none     the request was HEAD; status 1xx, 204 or 304    b""          b""         with the head
    length   the length is known                             data         b""         after so many bytes
    chunked  it is not known, and the peer reads HTTP/1.1    one chunk    last chunk  at the last chunk
    close    it is not known, and the peer reads HTTP/1.0    data         b""         when the connection is closed
"""

from typing import Final, Literal, TypeAlias

from toolvet.mcp.wire.http_head import RequestHead, ResponseHead

BodyFraming: TypeAlias = Literal["none", "length", "chunked", "close"]

LAST_CHUNK: Final = b"0\r\n\r\n"
_WITHOUT_BODY: Final = frozenset({204, 304})


def announced_length(head: ResponseHead) -> int | None:
    """Return the `Content-Length` of an answer that was read; None without one, and for a chunked body."""
    length = head.get(b"content-length")
    return None if length is None or _is_chunked(head) else int(length)


def answer_framing(method: bytes, head: ResponseHead) -> BodyFraming:
    """Return how the body of an answer ends that was read; `method` is the one of its request."""
    if method == b"HEAD" or head.status < 200 or head.status in _WITHOUT_BODY:
        return "none"
    if _is_chunked(head):
        return "chunked"
    return "close" if head.get(b"content-length") is None else "length"


def response_framing(request: RequestHead, head: ResponseHead) -> BodyFraming:
    """Return how to write the body of a response with this head; `head.length` None means that it is not known yet."""
    if request.method == b"HEAD" or head.status < 200 or head.status in _WITHOUT_BODY:
        return "none"
    if head.length is not None:
        return "length"
    return "close" if request.version == b"1.0" else "chunked"


class BodyWriter:
    r"""Writes one body: `write` for each part, then `end` once. Both return the bytes for the wire.

    >>> writer = BodyWriter("chunked")
    >>> writer.write(b"hello"), writer.end()
    (b'5\r\nhello\r\n', b'0\r\n\r\n')
    """

    __slots__ = ("framing",)

    def __init__(self, framing: BodyFraming) -> None:
        self.framing: Final[BodyFraming] = framing

    def write(self, data: bytes) -> bytes:
        """Return a part of the body as it goes on the wire. `data` is not empty: an empty chunk would be the last."""
        if self.framing == "chunked":
            return b"%x\r\n%b\r\n" % (len(data), data)
        return b"" if self.framing == "none" else data

    def end(self) -> bytes:
        """Return what marks the end of the body on the wire; b"" where nothing does."""
        return LAST_CHUNK if self.framing == "chunked" else b""


def _is_chunked(head: ResponseHead) -> bool:
    return b"chunked" in (head.get(b"transfer-encoding") or b"").lower()
