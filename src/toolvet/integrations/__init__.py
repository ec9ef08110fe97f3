"""Validation put into a server: `toolvet.integrations.fastmcp`, `toolvet.integrations.sdk`; `validation` for others.

The policies of `toolvet proxy` inside a server: `proxying_fastmcp`, `proxying_sdk`. Each driver imports its framework,
so none is imported here.
"""

from toolvet.integrations.validation.tool_validation import Problem, ToolValidation

__all__ = ["Problem", "ToolValidation"]
