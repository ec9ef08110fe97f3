"""`ProxyMiddleware` for FastMCP (extra `fastmcp`).

    mcp.add_middleware(ProxyMiddleware(Policies(ProxySettings(repair="apply"))))

Also on a FastMCP proxy (`create_proxy(target, middleware=[ProxyMiddleware()])`), whose tools are those of its target.
"""

import asyncio
from collections.abc import Callable, Mapping

import mcp_types as types
from fastmcp.exceptions import NotFoundError
from fastmcp.server.middleware import CallNext, Middleware, MiddlewareContext
from fastmcp.tools.base import Tool, ToolResult
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from toolvet.agents.integrations.fastmcp import called_tool
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
        tool = await called_tool(context)
        params = context.message.model_dump(by_alias=True, mode="json", exclude_none=True)
        server = context.fastmcp_context
        request = server.request_context if server is not None else None
        http = None if request is None else request.request
        # In the modern era there is no session: a pipe has one client, HTTP unknown ones.
        caller: str | None = None
        if server is not None and request is not None:
            if request.protocol_version not in MODERN_PROTOCOL_VERSIONS:
                caller = server.session_id
            elif http is None:
                caller = ""
        vetted = self._vetting.call(
            caller,
            None if tool is None else _definition(tool),
            # FastMCP keeps the `_meta` of the call apart from the call.
            {**params, "_meta": {} if request is None else members(request.meta)},
            parent=None if http is None else http.headers.get("traceparent"),
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


def _dump(result: ToolResult) -> Mapping[str, object]:
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
