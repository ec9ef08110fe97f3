"""What is kept of a tool definition: its parts (`ToolView`), and a handle that keeps its compiled schema, too."""

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from toolvet.core.schema import Schema


class ToolView(msgspec.Struct, frozen=True, gc=False):
    """A tool definition: name and description ("" without one), `inputSchema` and `outputSchema` (None without one).

    `shape` is the name of the shape that it was read as, "" where it was not read.
    """

    name: str
    description: str
    input_schema: object
    output_schema: object
    shape: str = ""


class ToolHandle(msgspec.Struct, frozen=True, eq=False):
    """A tool definition that was read, with its compiled schema. `tool` makes one; what takes a definition takes it.

    `ready` is the compiled schema of the arguments, None for a tool without one, and `view` has the parts as they were
    read. `ready_output` is the compiled schema of the results; None where that was not compiled yet. The definition
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
        """What the tool says of itself; "" where it says nothing."""
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
