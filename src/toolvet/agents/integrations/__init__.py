"""Toolvet inside a server: validation, the policies of `toolvet proxy`, and tools that answer with envelopes.

Each public module imports its framework, so none of them is imported here.

    fastmcp, sdk                 `enable_validation` for FastMCP and for the official SDK
    validation                   what they share, for servers of any other framework
    proxy.fastmcp, proxy.sdk     `ProxyMiddleware`: the policies of `toolvet proxy` as a middleware
    enveloped                    `@enveloped` for tools; `enveloped.retrieval` has the tool for what was left out
    embedding                    an embedding model for `toolvet.core.turn.consistency`
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from toolvet.agents.integrations.validation import Problem as Problem, ToolValidation as ToolValidation

__all__ = ["Problem", "ToolValidation"]


def __getattr__(name: str) -> object:
    """Load validation when it is asked for: `toolvet.wrap` lives in this room too, and needs none of asyncio."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("toolvet.agents.integrations.validation"), name)
