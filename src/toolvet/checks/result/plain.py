"""JSON values as Python's own types.

A subclass is foreign code that runs when it is looked at, so it is not looked at.
"""

from typing import cast


def object_of(value: object) -> dict[object, object] | None:
    """A JSON object, or None."""
    return cast("dict[object, object]", value) if type(value) is dict else None


def list_of(value: object) -> list[object] | None:
    """A JSON array, or None."""
    return cast("list[object]", value) if type(value) is list else None
