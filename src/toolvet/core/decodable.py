"""Types that are complete before any thread decodes with them."""

from _thread import allocate_lock
from typing import Final, TypeVar

import msgspec

T = TypeVar("T")
# It is `threading.Lock`, which takes 1 ms to import.
_BUILDING: Final = allocate_lock()
_READY: Final[set[object]] = set()


def decodable(kind: type[T]) -> type[T]:
    """Return `kind` after msgspec has prepared it, one thread at a time. Raises TypeError if it cannot be decoded.

    msgspec 0.22 stores what it knows of a Struct too early: a thread that decodes for the first time before that is
    complete ends the process with signal 11. Modules that make a `Decoder` prepare its type when they are imported.
    """
    if kind not in _READY:
        with _BUILDING:
            msgspec.msgpack.Decoder(kind)
        _READY.add(kind)
    return kind
