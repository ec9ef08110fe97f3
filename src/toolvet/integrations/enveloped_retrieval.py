"""The public import path of `enable_retrieval`, for servers of FastMCP and of the official SDK."""

from toolvet.integrations.enveloped.retrieval import enable_retrieval

__all__ = ["enable_retrieval"]
