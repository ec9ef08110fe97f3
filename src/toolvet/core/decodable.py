"""Types that are complete before any thread decodes with them."""

from functools import cache
from threading import Lock
from typing import Final, TypeVar

import msgspec

T = TypeVar("T")
_BUILDING: Final = Lock()


@cache
def decodable(kind: type[T]) -> type[T]:
    """Return `kind` after msgspec has prepared it, one thread at a time. Raises TypeError if it cannot be decoded.

    msgspec 0.22 stores what it knows of a Struct too early: a thread that decodes for the first time before that is
    complete ends the process with signal 11. Modules that make a `Decoder` prepare its type when they are imported.
    """
    with _BUILDING:
        msgspec.msgpack.Decoder(kind)
    return kind
