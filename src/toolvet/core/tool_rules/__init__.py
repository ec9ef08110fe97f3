"""Rules on a tool's definition and its calls: whether it only reads, what it may destroy, and how its calls ended."""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
