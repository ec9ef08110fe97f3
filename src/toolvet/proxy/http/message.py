"""What passes through the proxy: heads, bodies as they arrive, and the answer that goes to the client.

Names and values of heads are the bytes that came. aiohttp frames what is read and written.
"""

import asyncio
import re
from collections.abc import Sequence
from typing import Final, Protocol, TypeAlias

import aiohttp
import msgspec
from aiohttp import web
from multidict import CIMultiDict

Field: TypeAlias = tuple[bytes, bytes]
"""One header field: its name as the sender wrote it, and its value."""

# RFC 9110 §7.6.1: these belong to one connection, not to the message. The code that reads `Expect` answers it.
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
# Written again for each connection: the host, and how long the body is.
DROPPED: Final = _HOP_BY_HOP | {b"host", b"content-length"}
_CONTROL: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


class RequestHead(msgspec.Struct):
    """`target` is the path of the request line with its query, `length` the body's length if it was announced."""

    method: bytes
    target: bytes
    fields: list[Field]
    length: int | None = None
    # Built when first needed: a call looks up a dozen names.
    index: dict[bytes, bytes] | None = None
    # Its fields as they were last sent.
    sent: CIMultiDict[str] | None = None

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
    """Whether this field can be written: without control characters, a line break among them."""
    return _CONTROL.search(b"".join(field)) is None


def encode_fields(fields: Sequence[Field]) -> CIMultiDict[str]:
    """Return the fields as aiohttp writes them: in UTF-8. A value in another encoding is taken for Latin-1."""
    return CIMultiDict([(name.decode("latin-1"), _text(value)) for name, value in fields])


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


class BrokenBodyError(Exception):
    """The sender closed the connection before the body was complete, or it is malformed."""


class Body(Protocol):
    """A body as it arrives."""

    @property
    def is_over(self) -> bool:
        """Whether all of it was read."""
        ...

    async def read(self) -> bytes:
        """Return what has arrived since the last call, waiting for at least one byte; b"" at the end.

        Raises BrokenBodyError when the body broke off.
        """
        ...


async def take(body: Body, limit: int) -> tuple[bytes, bool]:
    """Read a body up to `limit` bytes.

    Returns the whole body and True. If it has more than `limit` bytes, returns its beginning and False. Raises
    BrokenBodyError if the body broke off.
    """
    parts: list[bytes] = []
    length = 0
    while not body.is_over and (part := await body.read()):
        parts.append(part)
        length += len(part)
        if length > limit:
            return b"".join(parts), False
    return parts[0] if len(parts) == 1 else b"".join(parts), True


class ReceivedBody:
    """The body of a message that aiohttp reads. `sender` names who sends it, in the words of an error."""

    __slots__ = ("_content", "_error", "_first", "_sender")

    def __init__(self, content: aiohttp.StreamReader, sender: str) -> None:
        self._content = content
        self._sender = sender
        self._first = b""
        self._error: Exception | None = None

    @property
    def is_over(self) -> bool:
        """Whether all of it was read."""
        return not self._first and self._content.at_eof()

    async def read(self) -> bytes:
        """Return what has arrived, as `Body.read`."""
        if self._first:
            first, self._first = self._first, b""
            return first
        try:
            if self._error is None:
                return await self._content.readany()
        except (aiohttp.ClientError, OSError) as error:
            self._error = error
            # aiohttp would keep what arrived before: with a server that ends badly, this may be the answer.
            self._content._exception = None  # noqa: SLF001 # pyright: ignore[reportPrivateUsage]
            rest = self._content.read_nowait()
            if rest:
                return rest
        raise BrokenBodyError(f"the {self._sender} closed the connection in the middle of its message") from self._error

    async def is_empty(self) -> bool:
        """Wait for the first byte, or for the end. Returns True at the end. Raises BrokenBodyError."""
        self._first = await self.read()
        return not self._first


class FedBody:
    """A body that is made here: fed by one side, read by the other."""

    def __init__(self, data: bytes = b"", *, done: bool = False) -> None:
        self._chunks = [data] if data else []
        self._done = done
        self._changed = asyncio.Event()

    @property
    def is_over(self) -> bool:
        """Whether all of it was read."""
        return self._done and not self._chunks

    def feed(self, chunk: bytes) -> None:
        """Add a part of the body."""
        self._chunks.append(chunk)
        self._changed.set()

    def finish(self) -> None:
        """Mark the body as complete."""
        self._done = True
        self._changed.set()

    async def read(self) -> bytes:
        """Return what was fed, as `Body.read`."""
        while not self._chunks and not self._done:
            self._changed.clear()
            await self._changed.wait()
        data = b"".join(self._chunks)
        self._chunks.clear()
        return data


class _Passed(web.StreamResponse):
    """An answer as the server gave it: aiohttp adds neither its own name nor a media type."""

    async def _prepare_headers(self) -> None:
        absent = [name for name in ("Server", "Content-Type") if name not in self.headers]
        await super()._prepare_headers()
        for name in absent:
            self.headers.popall(name, None)


class WholeResponse(_Passed, web.Response):
    """An answer whose body is complete."""


class Responder:
    """Answers one request: `send` for a complete answer, or `start`, `write` and `end`.

    `response` is what the handler of the request has to return, None while there is no answer. `begun` says whether a
    part of it may have reached the client. All that writes waits while the client reads slowly, and raises
    ConnectionError when the client is gone.
    """

    __slots__ = ("_request", "begun", "response")

    def __init__(self, request: web.BaseRequest) -> None:
        self._request = request
        self.response: web.StreamResponse | None = None
        self.begun = False

    def send(self, head: ResponseHead, data: bytes = b"") -> None:
        """Answer with all of `data`, when the handler returns."""
        headers = encode_fields(head.fields)
        self.response = WholeResponse(body=data, status=head.status, reason=_reason(head), headers=headers)

    async def send_now(self, head: ResponseHead, data: bytes) -> None:
        """Answer with all of `data` at once."""
        self.send(head, data)
        if self.response is not None:
            self.begun = True
            await self.response.prepare(self._request)
            await self.response.write_eof()

    async def start(self, head: ResponseHead, data: bytes = b"") -> None:
        """Send the head and `data`, the beginning of the body. A body without a length ends with `end`."""
        headers = encode_fields(head.fields)
        if head.length is not None:
            headers["Content-Length"] = str(head.length)
        self.begun = True
        self.response = _Passed(status=head.status, reason=_reason(head), headers=headers)
        await self.response.prepare(self._request)
        if data:
            await self.write(data)

    async def write(self, data: bytes) -> None:
        """Send a part of the body."""
        if self.response is not None:
            await self.response.write(data)

    async def end(self) -> None:
        """End the body, and with it the answer."""
        if self.response is not None:
            await self.response.write_eof()

    def abort(self) -> None:
        """Cut the connection, so that the client does not take a body that broke off for a complete one."""
        if self._request.transport is not None:
            self._request.transport.abort()


def _reason(head: ResponseHead) -> str:
    return "" if _CONTROL.search(head.reason) else _text(head.reason)
