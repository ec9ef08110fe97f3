"""The parts of a tool definition that we read, from any of the shapes that tools come in."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast

import msgspec

from toolvet.core.json_value import is_endless
from toolvet.core.tools.annotations import is_python_tool, read_python_tool
from toolvet.core.tools.shape import PYTHON_SHAPE, read_definition, readable_shapes
from toolvet.errors import ToolShapeError

if TYPE_CHECKING:
    from toolvet.core.schema import Schema


class ToolView(msgspec.Struct, frozen=True, gc=False):
    """A tool definition: name and description ("" without one), `inputSchema` and `outputSchema` (None without one).

    `shape` is the name of the shape that it was read as, or "". `output_variants` is what SEP-3279, a draft, has in
    place of an `outputSchema`.
    """

    name: str
    description: str
    input_schema: object
    output_schema: object
    shape: str = ""
    output_variants: object = None


class ToolHandle(msgspec.Struct, frozen=True, eq=False):
    """A tool definition that was read, with its compiled schema. `tool` makes one; what takes a definition takes it.

    `ready` is the compiled schema of the arguments, None for a tool without one, and `view` has the parts as they were
    read. `ready_output` is the compiled schema of the results; None if that was not compiled yet. The definition
    must not be changed while its handle is in use: make another one.
    """

    view: ToolView
    ready: "Schema | None"
    ready_output: "Schema | None" = None

    @property
    def name(self) -> str:
        """The name of the tool; "" without one."""
        return self.view.name

    @property
    def description(self) -> str:
        """The tool's own description; "" if it has none."""
        return self.view.description

    @property
    def input_schema(self) -> object:
        """The JSON Schema of the arguments, None without one."""
        return self.view.input_schema

    @property
    def output_schema(self) -> object:
        """The JSON Schema of the structured results, None without one."""
        return self.view.output_schema

    def __repr__(self) -> str:
        return f"<ToolHandle {self.view.name!r}>"


def handle_of(view: ToolView) -> ToolHandle:
    """The handle of a definition that was read."""
    # The schema engine takes as long to import as all the rest, and reading definitions does without it.
    from toolvet.core.schema import compiled  # noqa: PLC0415

    return ToolHandle(view, None if view.input_schema is None else compiled(view.input_schema))


_SEVERAL: Final = ("tools", "functionDeclarations", "function_declarations", "functions")


def view_of(tool: object) -> ToolView:
    """Read `tool`. Total: a part that is missing or of the wrong type is empty, and a mere text is a name.

    >>> view_of({"name": "search", "inputSchema": {"type": "object"}}).input_schema
    {'type': 'object'}
    >>> view_of({"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}).name
    'search'
    """
    given = tool
    if type(tool) is dict:
        parts = cast("dict[str, object]", tool)
        schema = parts.get("inputSchema")
        if type(schema) is dict and "json" not in schema:
            # MCP as JSON, which is nearly all: as fast as can be. `json` may be the box of a Bedrock tool.
            output = parts.get("outputSchema")
            if output is None:
                output = parts.get("output_schema")
            name, description = parts.get("name"), parts.get("description")
            return ToolView(
                name if isinstance(name, str) else "",
                description if isinstance(description, str) else "",
                cast("object", schema),
                output,
                "MCP",
                parts.get("outputVariants"),
            )
        if len(parts) == 1 and "name" in parts:
            return _named(parts["name"])
    if isinstance(given, ToolHandle):
        return given.view
    try:
        return _read(given) or _named(given)
    except Exception:  # noqa: BLE001 - reading an attribute of a foreign object runs foreign code.
        return _EMPTY_TOOL


def read_tool(tool: object) -> ToolView:
    """Read `tool`, which the caller handed over as one.

    Raises:
        ToolShapeError: It is in no shape that we read (a TypeError). A definition without a schema is read.

    Example:
        >>> def forecast(city: str, days: int = 1) -> str: ...
        >>> view = read_tool(forecast)
        >>> view.name, view.input_schema["required"]
        ('forecast', ['city'])
    """
    if type(tool) is ToolHandle:
        return tool.view
    try:
        view = _read(tool)
    except Exception as problem:
        raise ToolShapeError(_refusal(tool, f" ({type(problem).__name__}: {problem})")) from problem
    if view is None:
        raise ToolShapeError(_refusal(tool, ""))
    return view


def tool(definition: object) -> ToolHandle:
    """Read a tool definition once, for a program that checks many calls of the tool.

    The handle goes wherever a definition goes: `check_arguments(handle, arguments)`, `check_result(handle, …)`, the
    tools of `check_conversation`. A check then neither reads the definition again nor looks for its compiled schema.

    Args:
        definition: a tool in any of the usual shapes (docs/shapes.md). A handle is returned as it is.

    Raises:
        ToolShapeError: `definition` is in no shape that is read (a TypeError).

    Example:
        >>> import toolvet
        >>> sail = toolvet.tool({"name": "sail", "inputSchema": {"type": "object", "required": ["port"]}})
        >>> [toolvet.check_arguments(sail, arguments).valid for arguments in ({"port": "Lisbon"}, {})]
        [True, False]
    """
    return definition if isinstance(definition, ToolHandle) else handle_of(read_tool(definition))


def input_schema_of(tool: object) -> object:
    """Return `read_tool(tool).input_schema`; for a definition as JSON in a tenth of the time. Raises as `read_tool`."""
    if type(tool) is dict:
        found = cast("dict[str, object]", tool).get("inputSchema")
        if type(found) is dict and "json" not in found:
            return cast("object", found)
    return read_tool(tool).input_schema  # pyright: ignore[reportUnknownArgumentType]


_EMPTY_TOOL: Final = ToolView("", "", None, None)


def _read(tool: object) -> ToolView | None:
    if tool is None or isinstance(tool, str | bytes | int | float | list | tuple | set | frozenset) or is_endless(tool):
        return None
    if is_python_tool(tool):
        found = read_python_tool(tool)
        return ToolView(found.name, found.description, found.schema, None, PYTHON_SHAPE)
    definition = read_definition(tool)
    if definition is None:
        return None
    name, description = definition.name, definition.description
    return ToolView(
        name if isinstance(name, str) else "",
        description if isinstance(description, str) else "",
        definition.input_schema,
        definition.output_schema,
        definition.shape,
        cast("Mapping[str, object]", tool).get("outputVariants") if isinstance(tool, Mapping) else None,
    )


def _named(tool: object) -> ToolView:
    """What cannot be read, with the name that it has: results are judged for such tools, too."""
    name = tool if isinstance(tool, str) else getattr(tool, "name", None)
    return ToolView(name, "", None, None) if isinstance(name, str) else _EMPTY_TOOL


def _refusal(tool: object, cause: str) -> str:
    what = f"the class {tool.__name__}" if isinstance(tool, type) else f"a value of type {type(tool).__name__}"
    if isinstance(tool, Mapping):
        names = ", ".join(repr(name)[:40] for name in list(cast("Mapping[object, object]", tool))[:6])
        what = f"a mapping with the members {names}" if names else "an empty mapping"
    several = isinstance(tool, list | tuple) or (isinstance(tool, Mapping) and any(name in tool for name in _SEVERAL))
    hint = " Pass one tool of the list." if several else ""
    shapes = "; ".join(f"{name}: {example}" for name, example in readable_shapes())
    return f"not a tool definition: {what}{cause}.{hint} These shapes are read: {shapes}"
