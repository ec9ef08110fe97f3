"""core/tool_rules."""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
