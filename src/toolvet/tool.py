"""The parts of a tool definition that we read, from a mapping or an object of the official SDK or FastMCP. Total."""

from collections.abc import Mapping
from typing import Final, cast

import msgspec


class ToolView(msgspec.Struct, frozen=True, gc=False):
    """A tool definition: name and description ("" without one), `inputSchema` and `outputSchema` (None without one)."""

    name: str
    description: str
    input_schema: object
    output_schema: object


def view_of(tool: object) -> ToolView:
    """Read `tool`, a mapping or an SDK object. A part that is missing or of the wrong type is empty.

    >>> view_of({"name": "search", "inputSchema": {"type": "object"}}).input_schema
    {'type': 'object'}
    """
    try:
        if type(tool) is dict or isinstance(tool, Mapping):
            parts = cast("Mapping[object, object]", tool)
            schema = parts.get("inputSchema")
            if schema is None:
                # SDK objects spell it this way; OpenAI and FastMCP call it `parameters`.
                schema = parts.get("input_schema", parts.get("parameters"))
            output = parts.get("outputSchema")
            if output is None:
                output = parts.get("output_schema")
            name, description = parts.get("name"), parts.get("description")
        else:
            name, description = getattr(tool, "name", None), getattr(tool, "description", None)
            schema = _first(tool, "input_schema", "parameters", "inputSchema")
            output = _first(tool, "output_schema", "outputSchema")
    except Exception:  # noqa: BLE001 - reading an attribute of a foreign object runs foreign code.
        return _EMPTY_TOOL
    return ToolView(
        name if isinstance(name, str) else "",
        description if isinstance(description, str) else "",
        schema,
        output,
    )


def input_schema_of(tool: object) -> object:
    """Return `view_of(tool).input_schema`; for a definition as JSON in a tenth of the time."""
    if type(tool) is dict:
        found = cast("dict[str, object]", tool).get("inputSchema")
        if found is not None:
            return found
    return view_of(tool).input_schema  # pyright: ignore[reportUnknownArgumentType]


_EMPTY_TOOL: Final = ToolView("", "", None, None)
_ABSENT: Final = object()


def _first(tool: object, *attributes: str) -> object:
    """Return the first of `attributes` that `tool` has, even if its value is None.

    The callers name the camel case last: SDKs warn when it is read, and a user may treat warnings as errors.
    """
    for attribute in attributes:
        found: object = getattr(tool, attribute, _ABSENT)
        if found is not _ABSENT:
            return found
    return None
