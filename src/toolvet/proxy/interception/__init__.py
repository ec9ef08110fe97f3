"""Asks interceptor servers (SEP-2624) about the messages of a connection.

traffic   messages in, messages or refusals out: what is hooked, and what became of it
chain     all interceptors of one event: in which order, what blocks, what changes the payload. No I/O
servers   the connections to the interceptor servers, in a thread of their own

    toolvet proxy --interceptor 'toolvet intercept' -- uvx mcp-server-git
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
