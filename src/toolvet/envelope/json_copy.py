"""What JSON can hold, as an independent copy; anything else is refused with the place where it stands."""

import json
import math
from collections.abc import Mapping
from enum import Enum
from typing import Any, cast

import orjson

from toolvet.errors import EnvelopeError

# Encoders refuse more levels than this; nothing that people write comes near it.
DEEPEST = 250
# Python's own limit for writing and reading numbers, 4,300 digits, is a little higher.
_MOST_BITS = 14_000
_STRICT = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_INSTEAD = {
    "datetime": "give its isoformat()",
    "date": "give its isoformat()",
    "UUID": "give str() of it",
    "Decimal": "give str() of it, or a float",
    "bytes": "decode it, or give it as Base64",
    "set": "give a sorted list",
    "frozenset": "give a sorted list",
}


def plain(value: object, place: str) -> Any:
    """A deep copy of `value` in JSON's own types. Raises EnvelopeError, naming `place`, for what JSON cannot hold."""
    try:
        copy: object = orjson.loads(orjson.dumps(value, option=_STRICT))
    except (TypeError, ValueError, RecursionError):
        return _walked(value, place, 0)
    # What comes back is equal to what went in only where nothing was converted on the way (NaN, UUID, Enum).
    return copy if copy == value else _walked(value, place, 0)


def copied(value: Mapping[str, object]) -> dict[str, Any]:
    """A deep copy of an object that `plain` has made: changing one leaves the other alone."""
    try:
        return cast("dict[str, Any]", orjson.loads(orjson.dumps(value)))
    except TypeError:
        # Whole numbers beyond 64 bits.
        return cast("dict[str, Any]", _walked(value, "", 0))


def written(value: object) -> bytes:
    """What `plain` has made, as compact JSON in UTF-8: the text that is sent, counted and hashed."""
    try:
        return orjson.dumps(value)
    except TypeError:
        # Whole numbers beyond 64 bits.
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _walked(value: object, place: str, depth: int) -> object:
    """The slow way, which knows where it is: subclasses become what they extend, tuples become arrays."""
    if depth > DEEPEST:
        raise EnvelopeError(place, f"is nested deeper than {DEEPEST} levels, or contains itself")
    match value:
        case None | bool():
            return value
        case str():
            return _text(value, place)
        case int():
            if value.bit_length() > _MOST_BITS:
                raise EnvelopeError(place, "is a whole number of over 4,000 digits: give it as a string")
            return int(value)
        case float():
            if not math.isfinite(value):
                raise EnvelopeError(place, f"is {value}, which JSON cannot hold: give null, or leave it out")
            return float(value)
        case list() | tuple():
            items = cast("list[object] | tuple[object, ...]", value)
            return [_walked(item, f"{place}/{index}", depth + 1) for index, item in enumerate(items)]
        case Mapping():
            return _members(cast("Mapping[object, object]", value), place, depth)
        case _:
            kind = type(value).__name__
            instead = "give its value" if isinstance(value, Enum) else _INSTEAD.get(kind, "give plain JSON values")
            raise EnvelopeError(place, f"is a {kind}, which JSON cannot hold: {instead}")


def _members(value: Mapping[object, object], place: str, depth: int) -> dict[str, object]:
    copy: dict[str, object] = {}
    for key, member in value.items():
        if not isinstance(key, str):
            raise EnvelopeError(place, f"has a key of type {type(key).__name__}: JSON knows only strings")
        name = _text(key, place)
        copy[name] = _walked(member, place + "/" + step(name), depth + 1)
    return copy


def _text(text: str, place: str) -> str:
    bare = str.__str__(text)
    try:
        bare.encode()
    except UnicodeEncodeError:
        raise EnvelopeError(place, "holds half a surrogate pair, which UTF-8 cannot encode") from None
    return bare


def step(name: str) -> str:
    """A name as one step of a JSON Pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")
