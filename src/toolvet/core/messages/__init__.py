"""A conversation in any common format → turns: questions, tool calls with their results, answers."""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
