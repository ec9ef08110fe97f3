"""One turn of a conversation: an answer and the tool calls that it rests on, and how good the answer is."""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
