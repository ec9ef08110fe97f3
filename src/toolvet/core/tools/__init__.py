"""A tool in any form → its parts: definitions as JSON of MCP and of model APIs, objects of frameworks, Python types.

Nothing is imported from a framework: objects are known by their attributes. `shapes.toml` lists the shapes.
"""

from toolvet.core.tools.outputs import has_outputs, read_outputs, variant_schemas
from toolvet.core.tools.view import ToolHandle, ToolView, handle_of, input_schema_of, read_tool, tool, view_of

__all__ = [
    "ToolHandle", "ToolView", "handle_of", "has_outputs", "input_schema_of", "read_outputs", "read_tool", "tool",
    "variant_schemas", "view_of",
]  # fmt: skip
