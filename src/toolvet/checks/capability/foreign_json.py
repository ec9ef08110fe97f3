"""A foreign value as plain JSON: mappings stay, objects of the official SDK or FastMCP become mappings."""

from collections.abc import Mapping
from typing import cast

# In the order in which a result is written; the second name is what Python objects call it.
_ATTRIBUTES = (
    ("content", "content"),
    ("structuredContent", "structured_content"),
    ("isError", "is_error"),
)


def plain(value: object) -> object:
    """`value` as JSON. May raise what a foreign object raises when it is looked at."""
    if isinstance(value, Mapping):
        return dict(cast("Mapping[object, object]", value))
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        return dump(by_alias=True, exclude_none=True, mode="json")
    if hasattr(value, "content") and not isinstance(value, str):
        found = {wire: getattr(value, wire, getattr(value, name, None)) for wire, name in _ATTRIBUTES}
        return {key: member for key, member in found.items() if member is not None}
    return value


def plain_items(value: object) -> list[object]:
    """The items of a list or tuple as JSON; nothing else has items."""
    return [plain(item) for item in cast("list[object]", value)] if isinstance(value, list | tuple) else []
