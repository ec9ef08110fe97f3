"""Replace some members of a JSON object and keep all others byte for byte.

>>> message = split_members(b'{"id": 1,  "params": {"n": 1.0, "x": []}}')
>>> params = member(message, "params")
>>> params["x"] = raw([2])
>>> message["params"] = raw(params)
>>> encode_members(message)
b'{"id":1,"params":{"n":1.0,"x":[2]}}'
"""

from collections.abc import Mapping
from typing import Final, TypeAlias

import msgspec

from toolvet.mcp.wire import encode_result

Raws: TypeAlias = dict[str, msgspec.Raw]


def split_members(data: bytes | msgspec.Raw) -> Raws:
    """Return the members of a JSON object, undecoded. Raises msgspec.DecodeError for anything else."""
    return _MEMBERS.decode(data)


def member(of: Raws, name: str) -> Raws:
    """Return the members of the object under `name`, undecoded; none if it is missing or not an object."""
    found = of.get(name)
    if found is None:
        return {}
    try:
        return _MEMBERS.decode(found)
    except (msgspec.MsgspecError, ValueError):
        return {}


def encode_members(members: Mapping[str, object]) -> bytes:
    """Return the members as a JSON object."""
    return _ENCODER.encode(members)


def raw(value: object) -> msgspec.Raw:
    """Encode a value as a member."""
    try:
        return msgspec.Raw(_ENCODER.encode(value))
    except (msgspec.MsgspecError, OverflowError, ValueError, RecursionError):
        # Integers beyond 64 bits: wire.encode can write them.
        return split_members(encode_result(0, value))["result"]


_MEMBERS: Final = msgspec.json.Decoder(Raws)
_ENCODER: Final = msgspec.json.Encoder()
