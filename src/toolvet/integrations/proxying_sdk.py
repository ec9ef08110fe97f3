"""The public import path of `ProxyMiddleware` for the official SDK: `pip install toolvet[mcp]`."""

from toolvet.integrations.proxy.sdk import ProxyMiddleware

__all__ = ["ProxyMiddleware"]
