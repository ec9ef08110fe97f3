"""What we read of a tool definition: a mapping, or an object of the official SDK or FastMCP. Total."""

from collections.abc import Mapping
from typing import cast

import msgspec


class ToolView(msgspec.Struct, frozen=True, gc=False):
    """Name and description (empty without one), `inputSchema` and `outputSchema` (None without one)."""

    name: str
    description: str
    input_schema: object
    output_schema: object


def view_of(tool: object) -> ToolView:
    """Read `tool`; what is missing or of the wrong type is empty."""
    try:
        if type(tool) is dict or isinstance(tool, Mapping):
            parts = cast("Mapping[object, object]", tool)
            schema = parts.get("inputSchema")
            if schema is None:
                # The spelling of SDK objects, and the name that OpenAI and FastMCP have for the same thing.
                schema = parts.get("input_schema", parts.get("parameters"))
            output = parts.get("outputSchema")
            if output is None:
                output = parts.get("output_schema")
            name, description = parts.get("name"), parts.get("description")
        else:
            name, description = getattr(tool, "name", None), getattr(tool, "description", None)
            schema = _first(tool, "input_schema", "parameters", "inputSchema")
            output = _first(tool, "output_schema", "outputSchema")
    except Exception:  # noqa: BLE001 - foreign objects run foreign code when they are looked at.
        return _NOTHING
    return ToolView(
        name if isinstance(name, str) else "",
        description if isinstance(description, str) else "",
        schema,
        output,
    )


def input_schema_of(tool: object) -> object:
    """The `inputSchema` alone, as `view_of` reads it; for a definition as JSON in a tenth of the time."""
    if type(tool) is dict:
        found = cast("dict[str, object]", tool).get("inputSchema")
        if found is not None:
            return found
    return view_of(tool).input_schema  # pyright: ignore[reportUnknownArgumentType]


_NOTHING = ToolView("", "", None, None)
_ABSENT = object()


def _first(tool: object, *attributes: str) -> object:
    """The first of `attributes` that is there, also when it is None.

    The camel case comes last and only where nothing else is there: SDKs warn of it, and a warning may be an error.
    """
    for attribute in attributes:
        found: object = getattr(tool, attribute, _ABSENT)
        if found is not _ABSENT:
            return found
    return None
