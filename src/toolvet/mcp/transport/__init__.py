"""Pipes and sockets: from a target to an MCP session. A fault of the peer is a `Reply` or a note, not an exception."""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
