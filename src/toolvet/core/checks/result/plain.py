"""JSON values as Python's own types, and texts without JSON's escapes.

A subclass is foreign code that runs when it is looked at, so it is not looked at.
"""

from typing import cast


def object_of(value: object) -> dict[object, object] | None:
    """A JSON object, or None."""
    return cast("dict[object, object]", value) if type(value) is dict else None


def list_of(value: object) -> list[object] | None:
    """A JSON array, or None."""
    return cast("list[object]", value) if type(value) is list else None


def readable(text: str) -> str:
    r"""JSON escapes would glue `\n` to the word behind it: blank them, keeping every position."""
    if "\\" not in text:
        return text
    return text.replace("\\n", "  ").replace("\\t", "  ").replace("\\r", "  ").replace('\\"', ' "')
