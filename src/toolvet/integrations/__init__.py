"""Toolvet inside a server: validation, the policies of `toolvet proxy`, and tools that answer with envelopes.

Each public module imports its framework, so none of them is imported here.

    fastmcp, sdk                 `enable_validation` for FastMCP and for the official SDK
    validation                   what they share, for servers of any other framework
    proxy.fastmcp, proxy.sdk     `ProxyMiddleware`: the policies of `toolvet proxy` as a middleware
    enveloped                    `@enveloped` for tools; `enveloped.retrieval` has the tool for what was left out
    embedding                    an embedding model for `toolvet.turn.consistency`
"""

from toolvet.integrations.validation import Problem, ToolValidation

__all__ = ["Problem", "ToolValidation"]
