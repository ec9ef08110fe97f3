"""The trace id of a turn: one id for its calls, their results and the answer that rests on them.

    `_meta.traceparent` of the call (W3C Trace Context, as MCP carries it)
    else `_meta["dev.toolvet/trace"]` of the call, if it is a text
    else the header `traceparent` of the HTTP request
    else a hash of the connection (`seed`) and of the JSON-RPC id

The last one is an id of its own for each call: only the client knows which calls belong together.
"""

import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

import msgspec

from toolvet.core.meta import META_PREFIX

if TYPE_CHECKING:
    from hashlib import blake2b

    from toolvet.mcp.wire import Id

TRACE_KEY: Final = f"{META_PREFIX}trace"
TRACE_PARENT: Final = "traceparent"

# What follows the flags is for versions after 00, which may add fields.
_TRACE_PARENT: Final = re.compile(r"(?!ff)([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?")
# It is printed, stored and sent to collectors: a text with blanks or control characters is not an id.
_OWN: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+=-]{0,127}")
_ORDER_BYTES: Final = 6
_END_BYTES: Final = 8


class TraceSource(msgspec.Struct, frozen=True, gc=False):
    """Where the trace ids of a session's calls come from, for calls that bring none in their `_meta`.

    `seed` distinguishes the connection from all others: the driver makes it, because a session has no randomness.
    `parent` is the header `traceparent` of the HTTP request, None if there is none. If each connection has one call
    only, the ids begin with `order`, 12 hexadecimal digits such as the time; otherwise they begin with a hash of the
    seed. So calls that are recorded together have neighbouring ids: an index of a million random ids made a record cost
    twice as much.
    """

    seed: str = ""
    parent: str | None = None
    order: str = ""

    def id_of(self, meta: Mapping[str, object], id_: "Id") -> str:
        """Return the trace id of the request `id_` with this `_meta`, always the same.

        >>> TraceSource().id_of({"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}, 1)
        '0af7651916cd43dd8448eb211c80319c'
        >>> TraceSource("connection 1").id_of({}, 1)
        '2ffc4ea93c2e00012f1c35c45eb57782'
        """
        given = self.given_in(meta)
        if given:
            return given
        # `1` and `"1"` are two ids. In the form of W3C, so that a collector accepts it as the id of a trace; what
        # samples traces takes its end for random.
        end = _digest(f"{self.seed}\n{id_!r}", _END_BYTES)
        count = id_ & 0xFFFF if isinstance(id_, int) else 0
        return f"{self.order or _order_of(self.seed)}{count:04x}{end}"

    def given_in(self, meta: Mapping[str, object]) -> str | None:
        """Return the trace id that a request with this `_meta` brings; None if it brings none.

        >>> TraceSource().given_in({"dev.toolvet/trace": "turn-7"}), TraceSource().given_in({})
        ('turn-7', None)
        """
        if not meta and self.parent is None:
            # As in most calls.
            return None
        return trace_of_parent(meta.get(TRACE_PARENT)) or _own_id(meta.get(TRACE_KEY)) or trace_of_parent(self.parent)

    def parent_of(self, meta: Mapping[str, object]) -> str | None:
        """Return the legal `traceparent` that the trace id comes from; None if it comes from elsewhere."""
        parent = meta.get(TRACE_PARENT)
        if isinstance(parent, str) and trace_of_parent(parent) is not None:
            return parent
        if _own_id(meta.get(TRACE_KEY)) is not None or trace_of_parent(self.parent) is None:
            return None
        return self.parent


def trace_of_parent(parent: object) -> str | None:
    """Return the trace id of a `traceparent`; None for any value that W3C Trace Context does not allow.

    >>> trace_of_parent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    '0af7651916cd43dd8448eb211c80319c'
    """
    found = _TRACE_PARENT.fullmatch(parent.strip()) if isinstance(parent, str) else None
    if found is None or (found[1] == "00" and found[4]):
        return None
    # All zeros mean that there is no trace, and no span.
    return found[2] if found[2].strip("0") and found[3].strip("0") else None


def _own_id(given: object) -> str | None:
    return given if isinstance(given, str) and _OWN.fullmatch(given) else None


@cache
def _hash() -> "type[blake2b]":
    from hashlib import blake2b  # noqa: PLC0415 - loads OpenSSL, which costs 3 ms of every start

    return blake2b


@lru_cache(maxsize=1024)
def _order_of(seed: str) -> str:
    return _digest(seed, _ORDER_BYTES)


def _digest(text: str, length: int) -> str:
    return _hash()(text.encode("utf-8", "surrogatepass"), digest_size=length).hexdigest()
