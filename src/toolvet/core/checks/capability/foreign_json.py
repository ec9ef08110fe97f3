"""Foreign values as JSON: mappings, and objects of the official SDK and of FastMCP."""

from collections.abc import Mapping
from typing import Final, cast

# The members of a tool result in their usual order, each with the name of the attribute in Python.
_ATTRIBUTES: Final = (
    ("content", "content"),
    ("structuredContent", "structured_content"),
    ("isError", "is_error"),
)


def as_json(value: object) -> object:
    """`value` as JSON. Raises what a foreign object raises when its attributes are read."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(by_alias=True, exclude_none=True, mode="json")
    if hasattr(value, "content") and not isinstance(value, str):
        found = {wire: getattr(value, wire, getattr(value, name, None)) for wire, name in _ATTRIBUTES}
        return {key: member for key, member in found.items() if member is not None}
    return value


def items_as_json(value: object) -> list[object]:
    """The items of a list or tuple as JSON; empty for any other value."""
    return [as_json(item) for item in cast("list[object]", value)] if isinstance(value, list | tuple) else []
