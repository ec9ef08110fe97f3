"""The policies of `toolvet proxy` as a middleware of the official SDK's servers: `pip install toolvet[mcp]`.

server.middleware.append(ProxyMiddleware(Policies(ProxySettings(repair="apply"))))
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from toolvet.integrations.proxying import BlockedCall, Vetting
from toolvet.integrations.sdk import dressed, era_of, tools_of
from toolvet.meta import PROTOCOL_VERSION_KEY
from toolvet.schema.json_value import is_object, members
from toolvet.session import Note, Policies

_Context = ServerRequestContext[Any, Any]


class ProxyMiddleware:
    """Sees wire messages; touches `tools/call` alone. As for FastMCP, the capability is announced elsewhere."""

    def __init__(self, policies: Policies | None = None, on_note: Callable[[Note], None] | None = None) -> None:
        self._vetting = Vetting(policies, on_note)

    async def __call__(self, ctx: _Context, call_next: CallNext) -> HandlerResult:
        """One message."""
        if ctx.method != "tools/call":
            return await call_next(ctx)
        params = members(ctx.params)
        if not isinstance(params.get("name"), str) or not is_object(params.get("arguments", {})):
            # Malformed requests are protocol errors (SEP-1303), and the SDK's own business.
            return await call_next(ctx)
        tools, stamp = await tools_of(ctx, call_next)
        era = era_of(ctx)
        meta = {
            **members(params.get("_meta")),
            **({PROTOCOL_VERSION_KEY: ctx.protocol_version} if era == "modern" else {}),
        }
        vetted = self._vetting.call(_caller(ctx), tools.get(str(params["name"])), {**params, "_meta": meta})
        if isinstance(vetted, BlockedCall):
            return dressed(vetted.result, era, stamp)
        if vetted.arguments != params.get("arguments", {}):
            ctx = replace(ctx, params={**params, "arguments": dict(vetted.arguments)})
        try:
            result = await call_next(ctx)
        except MCPError as error:
            vetted.failed(error.error.code, error.error.message)
            raise
        except asyncio.CancelledError:
            vetted.cancelled()
            raise
        except Exception as error:
            vetted.failed(-32603, str(error))
            raise
        return dict(vetted.result(result)) if is_object(result) else result


def _caller(ctx: _Context) -> str | None:
    """The session, by its header over HTTP; a pipe has one client. In the modern era HTTP clients are unknown."""
    if ctx.request is None:
        return ""
    found = ctx.request.headers.get("mcp-session-id")
    return found if isinstance(found, str) else None
