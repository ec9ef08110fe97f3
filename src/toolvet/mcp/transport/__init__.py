"""Pipes and sockets: from a target to an MCP session. What the peer does wrong is a `Reply` or a note, no exception."""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
