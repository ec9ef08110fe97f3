"""`enable_request_ids`: every envelope of a server has the id of the turn that the call brings, as `meta.request_id`.

    enable_request_ids(server)

The proxy, the record and the verdicts use the same id (`toolvet.proxy.session.trace`): one id from the call to the
answer.
"""

from collections.abc import Awaitable, Callable
from typing import Any, Final, Protocol, runtime_checkable

from toolvet.core.envelope import current_request_id, request_id
from toolvet.core.json_value import members
from toolvet.proxy.session import TRACE_PARENT, TraceSource

_CALL: Final = "tools/call"
_Next = Callable[[Any], Awaitable[Any]]


@runtime_checkable
class _FastMCPServer(Protocol):
    """FastMCP, which is not imported for servers of the SDK."""

    def add_middleware(self, middleware: Any) -> None: ...


@runtime_checkable
class _SDKServer(Protocol):
    """The SDK's MCPServer and low-level Server."""

    middleware: list[Any]


def enable_request_ids(server: Any) -> None:
    """Put the id of the turn into all envelopes that the tools of a server make. Call it once, before the server runs.

    The id is that of `traceparent` (W3C Trace Context) or of `dev.toolvet/trace` in the call's `_meta`, else of the
    HTTP header `traceparent`. A call that brings none is left alone, and so is an id that is set already.

    Args:
        server: a FastMCP server, or an MCPServer or a low-level Server of the official SDK.

    Raises:
        TypeError: for any other server.

    Example:
        >>> from mcp.server import MCPServer
        >>> enable_request_ids(MCPServer("harbour"))
    """
    if isinstance(server, _FastMCPServer):
        server.add_middleware(_around_fastmcp)
    elif isinstance(server, _SDKServer):
        server.middleware.append(_around_sdk)
    else:
        raise TypeError(f"server must be a FastMCP, MCPServer or Server, not {type(server).__name__}")


async def _around_fastmcp(context: Any, call_next: _Next) -> Any:
    known = context.fastmcp_context
    request = None if known is None else known.request_context
    if context.method != _CALL or request is None:
        return await call_next(context)
    return await _with_id(request.meta, request.request, context, call_next)


async def _around_sdk(ctx: Any, call_next: _Next) -> Any:
    if ctx.method != _CALL:
        return await call_next(ctx)
    return await _with_id(members(ctx.params).get("_meta"), ctx.request, ctx, call_next)


async def _with_id(meta: object, request: Any, message: Any, call_next: _Next) -> Any:
    parent = None if request is None else request.headers.get(TRACE_PARENT)
    found = TraceSource(parent=parent).given_in(members(meta))
    if found is None or current_request_id() is not None:
        return await call_next(message)
    with request_id(found):
        return await call_next(message)
