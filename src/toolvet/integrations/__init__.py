"""Validation put into a server: `toolvet.integrations.fastmcp`, `toolvet.integrations.sdk`; `validation` for others.

Each driver imports its framework, so none is imported here.
"""

from toolvet.integrations.validation import Problem, ToolValidation

__all__ = ["Problem", "ToolValidation"]
