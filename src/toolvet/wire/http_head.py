"""The heads of HTTP messages: what a proxy passes on of them, and how they are written."""

from collections.abc import Sequence
from typing import Final, TypeAlias

import msgspec

Field: TypeAlias = tuple[bytes, bytes]
"""One header field: its name as it came, and its value."""

# RFC 9110 §7.6.1: these speak of one connection, not of the message. `Expect` is answered where it is read.
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
_ILLEGAL: Final = b"\r\n\0"
# What we must write ourselves on each connection: where it goes, and how long the body is.
DROPPED: Final = _HOP_BY_HOP | {b"host", b"content-length"}


class RequestHead(msgspec.Struct):
    """`target` is as it stood in the request line: a path with its query, or an absolute URL."""

    method: bytes
    target: bytes
    fields: list[Field]
    keep_alive: bool = True
    # HTTP/1.0 knows no chunks.
    version: bytes = b"1.1"
    # The body's length in bytes, where it was announced.
    length: int | None = None
    # Made when first asked for: a call asks for a dozen names.
    index: dict[bytes, bytes] | None = None

    def get(self, name: bytes) -> bytes | None:
        """The value of the first field of this name (in small letters), None if there is none."""
        index = self.index
        if index is None:
            index = self.index = _indexed(self.fields)
        return index.get(name)

    def values(self, name: bytes) -> list[bytes]:
        """All values of the fields of this name (in small letters)."""
        if self.get(name) is None:
            return []
        return [value for key, value in self.fields if key.lower() == name]


class ResponseHead(msgspec.Struct):
    """`length` is the body's length in bytes; None when only its end tells it."""

    status: int
    reason: bytes
    fields: list[Field]
    length: int | None = None
    index: dict[bytes, bytes] | None = None

    def get(self, name: bytes) -> bytes | None:
        """The value of the first field of this name (in small letters), None if there is none."""
        index = self.index
        if index is None:
            index = self.index = _indexed(self.fields)
        return index.get(name)

    @property
    def media_type(self) -> bytes:
        """What the body is, in small letters, without parameters; b"" when nothing says it."""
        return (self.get(b"content-type") or b"").partition(b";")[0].strip().lower()


def _indexed(fields: Sequence[Field]) -> dict[bytes, bytes]:
    return {name.lower(): value for name, value in reversed(fields)}


def passing(fields: Sequence[Field], dropped: frozenset[bytes]) -> list[Field]:
    """The fields that go on: not those in `dropped` (DROPPED and more), nor those that `Connection` names."""
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
    name, value = field
    return not any(byte in name or byte in value for byte in _ILLEGAL)


def written_request(head: RequestHead, host: bytes, length: int | None) -> bytes:
    """A request head for the wire. `length` None means that the body follows in chunks, -1 that there is none."""
    lines = [head.method + b" " + head.target + b" HTTP/1.1", b"Host: " + host]
    return _written(lines, head.fields, length)


def written_response(head: ResponseHead, *, chunked: bool, close: bool) -> bytes:
    """A response head for the wire; its `length` stands in it unless it is chunked or None."""
    lines = [b"HTTP/1.1 %d %s" % (head.status, head.reason)]
    if close:
        lines.append(b"Connection: close")
    length = None if chunked else -1 if head.length is None else head.length
    return _written(lines, head.fields, length)


def _written(lines: list[bytes], fields: Sequence[Field], length: int | None) -> bytes:
    lines += [name + b": " + value for name, value in fields]
    if length is None:
        lines.append(b"Transfer-Encoding: chunked")
    elif length >= 0:
        lines.append(b"Content-Length: %d" % length)
    lines.append(b"\r\n")
    return b"\r\n".join(lines)
