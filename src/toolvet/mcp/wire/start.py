r"""The beginning of a message that is too long to be kept: which message it is, as far as that can be seen.

    b'{"jsonrpc":"2.0","id":7,"result":{"content":[…'                     the answer to 7
    b'{"result":{"content":[…'                                            an answer; its id follows at the end
    b'{"method":"tools/call","params":{"name":"write","arguments":{…'     a call of `write`; its id follows at the end

Python servers write the id first, the TypeScript SDK writes it last: `read_end` finds it in the last bytes.
"""

import re
from typing import Final, cast

import msgspec

from toolvet.mcp.wire.message import Id

# More than any member before the long one needs; at most this much is decoded.
WINDOW: Final = 64 * 1024

_TEXT: Final = rb'"[^"\\]*(?:\\.[^"\\]*)*"'
_KEY: Final = re.compile(rb"[\s,]*(" + _TEXT + rb")\s*:\s*", re.DOTALL)
_STRING: Final = re.compile(_TEXT, re.DOTALL)
_WORD: Final = re.compile(rb'[^\s,\[\]{}":]+')
# A string that is cut matches as its first quote.
_MARK: Final = re.compile(_TEXT + rb'|["\[\]{}]', re.DOTALL)
# One brace at the end: it is the message's own, and the id before it, too.
_LAST_ID: Final = re.compile(
    rb',\s*"id"\s*:\s*(-?\d{1,18}|"[^"\\]{1,200}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z'
)
_ANY: Final = msgspec.json.Decoder()


class MessageStart(msgspec.Struct, frozen=True):
    """The parts of a message that its first bytes show. None is not seen.

    `cut` is the name of the member whose value does not end in these bytes, "" where none is seen: the bytes are not
    the beginning of a JSON object, or they end between two members. `params` has the members of `params` that are
    complete, as a JSON object, and `tool` is its `name`; `id_at` is where the id begins and ends.
    """

    id: Id | None = None
    method: str | None = None
    tool: str | None = None
    params: bytes = b"{}"
    cut: str = ""
    id_at: tuple[int, int] | None = None

    @property
    def is_answer(self) -> bool:
        """Whether it answers a request."""
        return self.method is None and self.cut in {"result", "error"}


def read_start(data: bytes) -> MessageStart:
    r"""Return what the beginning of a message shows. Total, and linear in the bytes that it reads: the first 64 KiB.

    >>> read_start(b'{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text"')
    MessageStart(id=7, method=None, tool=None, params=b'{}', cut='result', id_at=(22, 23))
    """
    data = data[:WINDOW]
    members, cut, at = _read_members(data, 0)
    id_at = members.get("id")
    id_ = _decode(data, id_at)
    method = _decode(data, members.get("method"))
    params = members["params"][0] if "params" in members else at if cut == "params" else None
    inner = _read_members(data, params)[0] if params is not None else {}
    tool = _decode(data, inner.get("name"))
    return MessageStart(
        id_ if isinstance(id_, int | str) and not isinstance(id_, bool) else None,
        method if isinstance(method, str) else None,
        tool if isinstance(tool, str) else None,
        b"{" + b",".join(msgspec.json.encode(name) + b":" + data[at:end] for name, (at, end) in inner.items()) + b"}",
        cut,
        id_at,
    )


def read_end(data: bytes) -> Id | None:
    """Return the id of a message that ends with these bytes, None if it is not among its last members.

    >>> read_end(b'"}]},"jsonrpc":"2.0","id":7}')
    7
    """
    found = _LAST_ID.search(data)
    id_ = None if found is None else _decode(data, found.span(1))
    return id_ if isinstance(id_, int | str) else None


def _read_members(data: bytes, at: int) -> tuple[dict[str, tuple[int, int]], str, int]:
    found: dict[str, tuple[int, int]] = {}
    while data[at : at + 1].isspace():
        at += 1
    if data[at : at + 1] != b"{":
        return found, "", at
    at += 1
    while (key := _KEY.match(data, at)) is not None:
        name = _decode(data, key.span(1))
        at = key.end()
        end = _end_of_value(data, at)
        if not isinstance(name, str):
            break
        if end is None:
            return found, name, at
        found[name] = (at, end)
        at = end
    return found, "", at


def _end_of_value(data: bytes, at: int) -> int | None:
    first = data[at : at + 1]
    if first == b'"':
        text = _STRING.match(data, at)
        return None if text is None else text.end()
    if first not in {b"{", b"["}:
        word = _WORD.match(data, at)
        # The last bytes may be half of a number.
        return None if word is None or word.end() == len(data) else word.end()
    depth = 0
    for mark in _MARK.finditer(data, at):
        found = mark[0]
        if found == b'"':
            return None
        if found in b"{[":
            depth += 1
        elif found in b"}]":
            depth -= 1
            if depth == 0:
                return mark.end()
    return None


def _decode(data: bytes, place: tuple[int, int] | None) -> object:
    if place is None:
        return None
    try:
        return cast("object", _ANY.decode(data[place[0] : place[1]]))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
