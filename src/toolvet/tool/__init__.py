"""A tool in any form → its parts: definitions as JSON of MCP and of model APIs, objects of frameworks, Python types.

Nothing is imported from a framework: objects are known by their attributes. `shapes.toml` lists the shapes.
"""

from toolvet.tool.view import ToolView, input_schema_of, read_tool, view_of

__all__ = ["ToolView", "input_schema_of", "read_tool", "view_of"]
