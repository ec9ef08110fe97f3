"""`ProxyMiddleware` for servers of the official SDK: `pip install toolvet[mcp]`.

server.middleware.append(ProxyMiddleware(Policies(ProxySettings(repair="apply"))))
"""

import asyncio
from collections.abc import Callable
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
        vetted = self._vetting.call(
            _caller(ctx),
            tools.get(str(params["name"])),
            {**params, "_meta": meta},
            parent=None if ctx.request is None else ctx.request.headers.get("traceparent"),
        )
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


def _caller(ctx: _Context) -> str | None:
    """The id of the session, from its header. A pipe has one client; HTTP clients of the modern era are unknown."""
    if ctx.request is None:
        return ""
    found = ctx.request.headers.get("mcp-session-id")
    return found if isinstance(found, str) else None
