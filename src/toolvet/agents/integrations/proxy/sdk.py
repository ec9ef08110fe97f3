"""`ProxyMiddleware` for servers of the official SDK (extra `mcp`).

server.middleware.append(ProxyMiddleware(Policies(ProxySettings(repair="apply"))))
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from mcp import MCPError
from toolvet.agents.integrations.proxy.vetting import BlockedCall, Vetting
from toolvet.agents.integrations.sdk import complete_result, era_of, list_tools
from toolvet.core.json_value import is_object, members
from toolvet.core.meta import PROTOCOL_VERSION_KEY
from toolvet.proxy.session import Note, Policies

_Context = ServerRequestContext[Any, Any]


class ProxyMiddleware:
    """Checks the arguments of every `tools/call` and judges its result by the policies of `toolvet proxy`.

    It does not announce `toolValidation`: `toolvet.agents.integrations.sdk.enable_validation` does.

    Args:
        policies: what is checked, repaired and refused; the defaults of `toolvet proxy` without it.
        on_note: called with everything that is worth recording (`toolvet.proxy.session` has the kinds of notes); it
            must not raise.

    Example:
        >>> from mcp.server import Server
        >>> server = Server("harbour")
        >>> server.middleware.append(ProxyMiddleware())
    """

    def __init__(self, policies: Policies | None = None, on_note: Callable[[Note], None] | None = None) -> None:
        self._vetting = Vetting(policies, on_note)

    async def __call__(self, ctx: _Context, call_next: CallNext) -> HandlerResult:
        """Handle one message."""
        if ctx.method != "tools/call":
            return await call_next(ctx)
        params = members(ctx.params)
        if not isinstance(params.get("name"), str) or not is_object(params.get("arguments", {})):
            # Malformed requests are protocol errors (SEP-1303), which the SDK answers.
            return await call_next(ctx)
        tools, stamp = await list_tools(ctx, call_next)
        era = era_of(ctx)
        meta = {
            **members(params.get("_meta")),
            **({PROTOCOL_VERSION_KEY: ctx.protocol_version} if era == "modern" else {}),
        }
        # A pipe has one client; those over HTTP are unknown in the modern era.
        headers: Mapping[str, object] = {"mcp-session-id": ""} if ctx.request is None else ctx.request.headers
        session = headers.get("mcp-session-id")
        caller, parent = session if isinstance(session, str) else None, headers.get("traceparent")
        tool = tools.get(str(params["name"]))
        vetted = self._vetting.call(caller, tool, {**params, "_meta": meta}, parent=parent)
        if isinstance(vetted, BlockedCall):
            return complete_result(vetted.result, era, stamp)
        if vetted.arguments != params.get("arguments", {}):
            ctx = replace(ctx, params={**params, "arguments": dict(vetted.arguments)})
        try:
            with vetted.responding():
                result = await call_next(ctx)
        except MCPError as error:
            vetted.fail(error.error.code, error.error.message)
            raise
        except asyncio.CancelledError:
            vetted.cancel()
            raise
        except Exception as error:
            vetted.fail(-32603, str(error))
            raise
        return dict(vetted.judge(result)) if is_object(result) else result
