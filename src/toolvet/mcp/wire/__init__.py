"""Bytes in, JSON-RPC messages out, and the framings around them. Pure and total: every byte string is some message."""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
