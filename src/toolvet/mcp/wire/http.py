"""The heads and bodies of HTTP/1.1 messages: which fields a proxy passes on, and how each is written. No I/O.

Heads are read by `httptools` (C) in the two connections of the proxy. For bodies this is RFC 9112 §6.3 as the proxy
needs it: `answer_framing` decides for an answer that was read, `response_framing` for one that will be written;
`BodyWriter` writes a body in the framing that was chosen.

    framing  chosen when                                     write(data)  end()       the reader sees the end
    -------  ----------------------------------------------  -----------  ----------  ----------------------------
    none     the request was HEAD; status 1xx, 204 or 304    b""          b""         with the head
    length   the length is known                             data         b""         after so many bytes
    chunked  it is not known, and the peer reads HTTP/1.1    one chunk    last chunk  at the last chunk
    close    it is not known, and the peer reads HTTP/1.0    data         b""         when the connection is closed
"""

import re
from collections.abc import Sequence
from typing import Final, Literal, TypeAlias

import msgspec

Field: TypeAlias = tuple[bytes, bytes]
"""One header field: its name as the sender wrote it, and its value."""

Length: TypeAlias = int | Literal["chunked"] | None
"""What a head says of its body: its length in bytes, that it follows in chunks, or nothing."""

# RFC 9110 §7.6.1: these belong to one connection, not to the message. `Expect` is answered where it is read.
_HOP_BY_HOP: Final = frozenset(
    {
        b"connection",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
        b"expect",
    }
)
_ILLEGAL: Final = re.compile(rb"[\r\n\0]")
# The length has no more digits where a head is known again.
_MOST_DIGITS: Final = 9
# Heads with these fields are parsed each time: a body without a length, another protocol, a question before the body.
_NO_FORM: Final = frozenset({b"transfer-encoding", b"upgrade", b"expect", b"trailer"})
# The proxy writes these itself on each connection: the host, and how long the body is.
DROPPED: Final = _HOP_BY_HOP | {b"host", b"content-length"}


class HeadForm(msgspec.Struct, frozen=True):
    """The bytes of a head that is not parsed again when it comes again: all but the number in `Content-Length`."""

    before: bytes
    after: bytes

    def find_length(self, data: bytes) -> tuple[int, int] | None:
        r"""Return the length that the head at the start of `data` announces, and where the body begins.

        None for any other head, and for one that is not complete.

        >>> form = head_form(b"POST /mcp HTTP/1.1", [(b"Content-Length", b"2"), (b"Accept", b"*/*")])
        >>> form.find_length(b"POST /mcp HTTP/1.1\r\nContent-Length: 13\r\nAccept: */*\r\n\r\nbody")
        (13, 55)
        """
        if not data.startswith(self.before):
            return None
        begin = len(self.before)
        end = data.find(b"\r", begin, begin + _MOST_DIGITS + 1)
        digits = data[begin:end]
        # Without a line end it is the last byte that is missing in `digits`.
        if end < 0 or not digits.isdigit() or not data.startswith(self.after, end):
            return None
        return int(digits), end + len(self.after)


def head_form(line: bytes, fields: "Sequence[Field]", begun: bytes | None = None) -> HeadForm | None:
    """Return the form of a head with this first line and these fields; None where it would say more than that.

    `begun` are bytes that must begin with the head, as it is written here: a space more, and there is no form for it.
    """
    lines, before = [line], b""
    for name, value in fields:
        lower = name.lower()
        if lower in _NO_FORM:
            return None
        if lower == b"content-length":
            if before or not value.isdigit():
                return None
            before = b"\r\n".join([*lines, name + b": "])
            lines = [b""]
        else:
            lines.append(name + b": " + value)
    if not before:
        return None
    form = HeadForm(before, b"\r\n".join([*lines, b"", b""]))
    return form if begun is None or form.find_length(begun) is not None else None


class RequestHead(msgspec.Struct):
    """`target` is the one of the request line: a path with its query, or an absolute URL."""

    method: bytes
    target: bytes
    fields: list[Field]
    keep_alive: bool = True
    # HTTP/1.0 has no chunks.
    version: bytes = b"1.1"
    # The body's length in bytes, where it was announced.
    length: int | None = None
    # Built when first needed: a call looks up a dozen names.
    index: dict[bytes, bytes] | None = None
    # The host and the bytes it was last written as, without its length: the next message has the same head mostly.
    written: tuple[bytes, bytes] | None = None
    # Set where a head of the same form is known again.
    form: HeadForm | None = None

    def get(self, name: bytes) -> bytes | None:
        """Return the value of the first field of this name (in lower case), None if there is none."""
        index = self.index
        if index is None:
            index = self.index = _index(self.fields)
        return index.get(name)

    def values(self, name: bytes) -> list[bytes]:
        """Return the values of all fields of this name (in lower case)."""
        if self.get(name) is None:
            return []
        return [value for key, value in self.fields if key.lower() == name]


class ResponseHead(msgspec.Struct):
    """`length` is the body's length in bytes, None when it is not known before the body ends."""

    status: int
    reason: bytes
    fields: list[Field]
    length: int | None = None
    index: dict[bytes, bytes] | None = None
    # Its bytes without its length, for a connection that goes on.
    written: bytes | None = None
    form: HeadForm | None = None

    def get(self, name: bytes) -> bytes | None:
        """Return the value of the first field of this name (in lower case), None if there is none."""
        index = self.index
        if index is None:
            index = self.index = _index(self.fields)
        return index.get(name)

    @property
    def media_type(self) -> bytes:
        """The body's media type in lower case, without parameters; b"" when no field says it."""
        return (self.get(b"content-type") or b"").partition(b";")[0].strip().lower()


def _index(fields: Sequence[Field]) -> dict[bytes, bytes]:
    return {name.lower(): value for name, value in reversed(fields)}


def passed_fields(fields: Sequence[Field], dropped: frozenset[bytes]) -> list[Field]:
    """Return the fields to pass on: not those in `dropped` (DROPPED and more), nor those that `Connection` names."""
    passed: list[Field] = []
    named: list[bytes] = []
    for field in fields:
        name = field[0].lower()
        if name not in dropped:
            passed.append(field)
        elif name == b"connection" and field[1] != b"keep-alive":
            named.append(field[1])
    if named:
        own = {word.strip() for word in b",".join(named).lower().split(b",")}
        return [field for field in passed if field[0].lower() not in own]
    return passed


def is_legal(field: Field) -> bool:
    """Whether this field can be written without beginning another one."""
    return _ILLEGAL.search(b"".join(field)) is None


def encode_request_head(head: RequestHead, host: bytes, length: Length) -> bytes:
    r"""Return the bytes of a request head with `Host` and what `length` says of the body.

    >>> encode_request_head(RequestHead(b"GET", b"/mcp", []), b"host", None)
    b'GET /mcp HTTP/1.1\r\nHost: host\r\n\r\n'
    """
    written = head.written
    if written is None or written[0] != host:
        lines = [head.method + b" " + head.target + b" HTTP/1.1", b"Host: " + host]
        written = head.written = (host, _encode_fields(lines, head.fields))
    return written[1] + _encode_length(length)


def encode_response_head(head: ResponseHead, length: Length, *, close: bool) -> bytes:
    r"""Return the bytes of a response head. `close` announces that the connection ends after it.

    >>> encode_response_head(ResponseHead(200, b"OK", []), "chunked", close=False)
    b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
    """
    if head.written is not None and not close:
        return head.written + _encode_length(length)
    lines = [b"HTTP/1.1 %d %s" % (head.status, head.reason)]
    if close:
        lines.append(b"Connection: close")
    return _encode_fields(lines, head.fields) + _encode_length(length)


def write_response_head(head: ResponseHead) -> None:
    """Set `written`, for a head that comes again."""
    head.written = _encode_fields([b"HTTP/1.1 %d %s" % (head.status, head.reason)], head.fields)


def _encode_fields(lines: list[bytes], fields: Sequence[Field]) -> bytes:
    lines += [name + b": " + value for name, value in fields]
    lines.append(b"")
    return b"\r\n".join(lines)


def _encode_length(length: Length) -> bytes:
    """Return what a head says of its body, and its end."""
    if length is None:
        return b"\r\n"
    return b"Transfer-Encoding: chunked\r\n\r\n" if length == "chunked" else b"Content-Length: %d\r\n\r\n" % length


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
