"""Toolvet inside a server: validation, the policies of `toolvet proxy`, and tools that answer with envelopes.

Each public module imports its framework, so none of them is imported here.

    fastmcp, sdk                        `enable_validation` for FastMCP and for the official SDK
    answering                           the answer of the `validate` tool, for servers of any other framework
    proxying_fastmcp, proxying_sdk      `ProxyMiddleware`: the policies of `toolvet proxy` as a middleware
    enveloped, enveloped_retrieval      `@enveloped` for tools, and the tool that returns what responses left out
    embedding                           an embedding model for `toolvet.turn.consistency`
"""

from toolvet.integrations.validation import Problem, ToolValidation

__all__ = ["Problem", "ToolValidation"]
