"""Lists of values in statements, in few lengths."""

from collections.abc import Sequence
from typing import TypeVar

V = TypeVar("V")


def padded(values: Sequence[V]) -> list[V]:
    """Return the values, the last one repeated until they are a power of two; no values stay none.

    A list of each length is a statement of its own, and SQLite's driver keeps the last hundred of them, each with
    memory for all of its values.

    >>> padded([1, 2, 3])
    [1, 2, 3, 3]
    """
    found = list(values)
    missing = (1 << (len(found) - 1).bit_length()) - len(found) if found else 0
    return [*found, *found[-1:] * missing]
