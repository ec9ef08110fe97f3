"""Independent copies of values in JSON's own types, and their encoding.

A value that JSON cannot hold is refused with its place.
"""

import json
import math
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final, cast

import orjson

from toolvet.core.json_value import is_endless, pointer
from toolvet.errors import EnvelopeError

# Encoders refuse more levels than this; nothing that people write comes near it.
DEEPEST: Final = 250
# Python's own limit for writing and reading numbers, 4,300 digits, is a little higher.
_MOST_BITS: Final = 14_000
_STRICT: Final = orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
# What to give instead of a value of this Python type.
_ALTERNATIVES: Final = {
    "datetime": "give its isoformat()",
    "date": "give its isoformat()",
    "UUID": "give str() of it",
    "Decimal": "give str() of it, or a float",
    "bytes": "decode it, or give it as Base64",
    "set": "give a sorted list",
    "frozenset": "give a sorted list",
}


def copy_as_json(value: object, place: str) -> Any:
    """A deep copy of `value` in JSON's own types: subclasses become what they extend, tuples become arrays.

    Raises EnvelopeError for a value that JSON cannot hold; it names `place` and the JSON Pointer below it.
    """
    if is_endless(value):
        raise EnvelopeError(place, "contains itself, or repeats its parts without end")
    return copy_bounded(value, place)


def copy_bounded(value: object, place: str) -> Any:
    """The same for a value that is known not to be endless, which to find out takes as long as the copy."""
    try:
        copy: object = orjson.loads(orjson.dumps(value, option=_STRICT))
    except (TypeError, ValueError, RecursionError):
        return _copy_slowly(value, place, 0)
    # The copy equals the value only if nothing was converted on the way (NaN, UUID, Enum).
    return copy if copy == value else _copy_slowly(value, place, 0)


def copy_json(value: Mapping[str, object]) -> dict[str, Any]:
    """A deep copy of an object that `copy_as_json` has made."""
    try:
        return cast("dict[str, Any]", orjson.loads(orjson.dumps(value)))
    except TypeError:
        # Whole numbers beyond 64 bits.
        return cast("dict[str, Any]", _copy_slowly(value, "", 0))


def is_blank(text: str) -> bool:
    r"""Return whether nothing in `text` is visible: white space, or a byte order mark, which is `\s` in JSON Schema.

    >>> is_blank("\ufeff "), is_blank("\ufeffa")
    (True, False)
    """
    return not text or text.isspace() or (not text.isascii() and not text.replace("\ufeff", "").strip())


def encode_json(value: object) -> bytes:
    """A value that `copy_as_json` has made, as compact JSON in UTF-8: the text that is sent, counted and hashed."""
    try:
        return orjson.dumps(value)
    except TypeError:
        # Whole numbers beyond 64 bits.
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _copy_slowly(value: object, place: str, depth: int) -> object:
    if depth > DEEPEST:
        raise EnvelopeError(place, f"is nested deeper than {DEEPEST} levels, or contains itself")
    match value:
        case None | bool():
            return value
        case str():
            return _copy_text(value, place)
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
            return [_copy_slowly(item, f"{place}/{index}", depth + 1) for index, item in enumerate(items)]
        case Mapping():
            copy: dict[str, object] = {}
            for key, member in cast("Mapping[object, object]", value).items():
                if not isinstance(key, str):
                    raise EnvelopeError(place, f"has a key of type {type(key).__name__}: JSON knows only strings")
                name = _copy_text(key, place)
                copy[name] = _copy_slowly(member, place + pointer((name,)), depth + 1)
            return copy
        case _:
            kind = type(value).__name__
            advice = "give its value" if isinstance(value, Enum) else _ALTERNATIVES.get(kind, "give plain JSON values")
            raise EnvelopeError(place, f"is a {kind}, which JSON cannot hold: {advice}")


def _copy_text(text: str, place: str) -> str:
    bare = str.__str__(text)
    try:
        bare.encode()
    except UnicodeEncodeError:
        raise EnvelopeError(place, "holds half a surrogate pair, which UTF-8 cannot encode") from None
    return bare
