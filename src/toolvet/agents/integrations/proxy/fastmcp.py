"""`ProxyMiddleware` for FastMCP: `pip install toolvet[fastmcp]`.

    mcp.add_middleware(ProxyMiddleware(Policies(ProxySettings(repair="apply"))))

Also on a FastMCP proxy (`create_proxy(target, middleware=[ProxyMiddleware()])`), whose tools are those of its target.
"""

import asyncio
from collections.abc import Callable, Mapping

import mcp_types as types
from fastmcp.exceptions import NotFoundError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import Tool, ToolResult
from fastmcp.utilities.versions import VersionSpec
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolvet.agents.integrations.proxy.vetting import BlockedCall, Vetting
from toolvet.core.json_value import is_object, members
from toolvet.proxy.session import Note, Policies


class ProxyMiddleware(Middleware):
    """Checks the arguments of every call and judges its result by the policies of `toolvet proxy`.

    It does not announce `toolValidation`: `toolvet.agents.integrations.fastmcp.enable_validation` does.

    Args:
        policies: what is checked, repaired and refused; the defaults of `toolvet proxy` without it.
        on_note: called with everything that is worth recording (`toolvet.proxy.session` has the kinds of notes); it
            must not raise.

    Example:
        >>> from fastmcp import FastMCP
        >>> mcp = FastMCP("harbour", middleware=[ProxyMiddleware()])
    """

    def __init__(self, policies: Policies | None = None, on_note: Callable[[Note], None] | None = None) -> None:
        self._vetting = Vetting(policies, on_note)

    async def on_call_tool(
        self,
        context: MiddlewareContext[types.CallToolRequestParams],
        call_next: CallNext[types.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Refuse a call, or pass it on, perhaps repaired; then judge its result."""
        tool = await _definition_of_called_tool(context)
        params = context.message.model_dump(by_alias=True, mode="json", exclude_none=True)
        vetted = self._vetting.call(
            _caller(context), tool, {**params, "_meta": _meta(context)}, parent=_trace_parent(context)
        )
        if isinstance(vetted, BlockedCall):
            return _tool_result(vetted.result)
        if vetted.arguments != params.get("arguments", {}):
            context = context.copy(message=context.message.model_copy(update={"arguments": dict(vetted.arguments)}))
        try:
            with vetted.responding():
                result = await call_next(context)
        except NotFoundError as error:
            vetted.fail(-32602, str(error))
            raise
        except asyncio.CancelledError:
            vetted.cancel()
            raise
        except Exception as error:
            # The framework makes a result of the exception later, and decides how much of the text it shows.
            vetted.judge({"content": [{"type": "text", "text": str(error)}], "isError": True})
            raise
        sent = _dump(result)
        changed = vetted.judge(sent)
        return result if changed is sent else _tool_result(changed)


async def _definition_of_called_tool(
    context: MiddlewareContext[types.CallToolRequestParams],
) -> Mapping[str, object] | None:
    """The definition of the called tool, in the version that the call asks for; None for an unknown tool."""
    if context.fastmcp_context is None:
        return None
    version = members(members(context.message.meta).get("fastmcp")).get("version")
    try:
        found = await context.fastmcp_context.fastmcp.get_tool(
            context.message.name, VersionSpec(eq=version) if isinstance(version, str) else None
        )
    except NotFoundError:
        return None
    return None if found is None else _definition(found)


def _definition(tool: Tool) -> Mapping[str, object]:
    definition: dict[str, object] = {
        "name": tool.name,
        "description": tool.description or "",
        "inputSchema": tool.parameters,
    }
    if tool.output_schema is not None:
        definition["outputSchema"] = tool.output_schema
    if tool.annotations is not None:
        definition["annotations"] = tool.annotations.model_dump(by_alias=True, exclude_none=True)
    return definition


def _caller(context: MiddlewareContext[types.CallToolRequestParams]) -> str | None:
    """The id of the MCP session. In the modern era there is none: a pipe has one client, HTTP unknown ones."""
    request = context.fastmcp_context.request_context if context.fastmcp_context is not None else None
    if context.fastmcp_context is None or request is None:
        return None
    if request.protocol_version not in MODERN_PROTOCOL_VERSIONS:
        return context.fastmcp_context.session_id
    return "" if request.request is None else None


def _meta(context: MiddlewareContext[types.CallToolRequestParams]) -> Mapping[str, object]:
    """The `_meta` of the call, which FastMCP keeps apart from the call."""
    request = context.fastmcp_context.request_context if context.fastmcp_context is not None else None
    return members(request.meta) if request is not None else {}


def _trace_parent(context: MiddlewareContext[types.CallToolRequestParams]) -> object:
    """The header `traceparent` of the HTTP request; None where there is none."""
    request = context.fastmcp_context.request_context if context.fastmcp_context is not None else None
    return None if request is None or request.request is None else request.request.headers.get("traceparent")


def _dump(result: ToolResult) -> Mapping[str, object]:
    """The result in the JSON form that is sent."""
    wire = result.to_mcp_result()
    if isinstance(wire, types.CallToolResult):
        return wire.model_dump(by_alias=True, mode="json", exclude_none=True)
    content, structured = wire if isinstance(wire, tuple) else (wire, None)
    dumped: dict[str, object] = {
        "content": [block.model_dump(by_alias=True, mode="json", exclude_none=True) for block in content]
    }
    return dumped if structured is None else {**dumped, "structuredContent": structured}


def _tool_result(result: Mapping[str, object]) -> ToolResult:
    read = types.CallToolResult.model_validate(dict(result))
    structured = read.structured_content if is_object(read.structured_content) else None
    return ToolResult(
        content=read.content,
        structured_content=dict(structured) if structured is not None else None,
        meta=dict(members(read.meta)) or None,
        is_error=bool(read.is_error),
    )
