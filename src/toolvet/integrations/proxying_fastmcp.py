"""The public import path of `ProxyMiddleware` for FastMCP: `pip install toolvet[fastmcp]`."""

from toolvet.integrations.proxy.fastmcp import ProxyMiddleware

__all__ = ["ProxyMiddleware"]
