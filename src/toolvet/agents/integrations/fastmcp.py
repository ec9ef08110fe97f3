"""Validation for FastMCP servers (extra `fastmcp`).

    enable_validation(mcp, validation)        or       mcp.add_middleware(ToolValidationMiddleware(validation))

Invalid calls are answered before the framework sees them, with a report from which the model can fix its call. The
schema is applied strictly: where FastMCP would convert "3" to 3, the call is refused, and the report has the repair.
"""

from collections.abc import Mapping
from typing import Annotated, Any

import mcp_types as types
from fastmcp import FastMCP
from fastmcp.exceptions import NotFoundError
from fastmcp.server.dependencies import get_context
from fastmcp.server.middleware import CallNext, MiddlewareContext
from fastmcp.server.middleware.tool_injection import ToolInjectionMiddleware
from fastmcp.tools.base import Tool, ToolResult
from fastmcp.utilities.versions import VersionSpec
from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from toolvet.agents.integrations.validation.answer import answered
from toolvet.agents.integrations.validation.tool_validation import ToolValidation
from toolvet.core.checks import EXTENSION_ID
from toolvet.core.json_value import members


def enable_validation(mcp: FastMCP[Any], validation: ToolValidation | None = None) -> ToolValidation:
    """Announce `toolValidation`, add the `validate` tool, and refuse invalid calls with a report on how to fix them.

    Call it once, before the server runs.

    Args:
        mcp: the server.
        validation: what is validated; a new ToolValidation with its defaults without it.

    Returns:
        The validation, for `@validation.validator(…)`.

    Example:
        >>> validation = enable_validation(FastMCP("harbour"))
        >>> validation.levels
        ('syntax',)
    """
    found = validation if validation is not None else ToolValidation()
    mcp.add_middleware(ToolValidationMiddleware(found))
    return found


class ToolValidationMiddleware(ToolInjectionMiddleware):
    """Announces the capability, lists and answers the `validate` tool, and checks all other calls.

    The `validate` tool hides a tool of the server that has its name.
    """

    def __init__(self, validation: ToolValidation) -> None:
        tool = types.Tool.model_validate(validation.definition())
        validate = _ValidateTool(
            validation=validation,
            name=tool.name,
            title=tool.title,
            description=tool.description,
            parameters=tool.input_schema,
            output_schema=tool.output_schema,
            annotations=tool.annotations,
        )
        super().__init__([validate])
        self._validation = validation

    async def on_initialize(
        self,
        context: MiddlewareContext[types.InitializeRequest],
        call_next: CallNext[types.InitializeRequest, types.InitializeResult | None],
    ) -> types.InitializeResult | None:
        """Announce the capability in the handshake of the legacy era."""
        result = await call_next(context)
        if result is not None:
            capabilities = self._validation.announced_in(_dump(result.capabilities), "legacy")
            result.capabilities = types.ServerCapabilities.model_validate(capabilities)
        return result

    async def on_discover(
        self,
        context: MiddlewareContext[types.DiscoverRequest],
        call_next: CallNext[types.DiscoverRequest, types.DiscoverResult | dict[str, Any]],
    ) -> types.DiscoverResult | dict[str, Any]:
        """Announce the capability in the first answer of the modern era."""
        result = await call_next(context)
        if isinstance(result, types.DiscoverResult):
            capabilities = self._validation.announced_in(_dump(result.capabilities), "modern")
            result.capabilities = types.ServerCapabilities.model_validate(capabilities)
        return result

    async def on_call_tool(
        self,
        context: MiddlewareContext[types.CallToolRequestParams],
        call_next: CallNext[types.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """Refuse a call, or pass it on."""
        tool = None if context.message.name == self._validation.method else await called_tool(context)
        if tool is None:
            return await call_next(context)
        found = await self._validation.judge(_definition(tool), context.message.arguments or {}, purpose="call")
        if not found.valid:
            refusal = types.CallToolResult.model_validate(found.to_result("modern"))
            return ToolResult(content=refusal.content, meta=dict(members(refusal.meta)), is_error=True)
        result = await call_next(context)
        if found.messages:
            # Warnings go into the `_meta` of the result.
            result.meta = {**(result.meta or {}), EXTENSION_ID: found.reply.to_dict()}
        return result


class _ValidateTool(Tool):
    """The `validate` tool."""

    validation: Annotated[SkipJsonSchema[Any], Field(exclude=True)]

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        tools = await get_context().fastmcp.list_tools()
        definitions = {tool.name: _definition(tool) for tool in tools}
        # Without a progress token in the request, FastMCP sends nothing.
        result = await answered(self.validation, arguments, definitions, get_context().report_progress)
        answer = types.CallToolResult.model_validate(result)
        return ToolResult(
            content=answer.content, structured_content=answer.structured_content, is_error=answer.is_error
        )


async def called_tool(context: MiddlewareContext[types.CallToolRequestParams]) -> Tool | None:
    """Return the called tool, in the version that the call asks for; None for an unknown tool."""
    if context.fastmcp_context is None:
        return None
    version = members(members(context.message.meta).get("fastmcp")).get("version")
    try:
        return await context.fastmcp_context.fastmcp.get_tool(
            context.message.name, VersionSpec(eq=version) if isinstance(version, str) else None
        )
    except NotFoundError:
        return None


def _definition(tool: Tool) -> Mapping[str, object]:
    return {"name": tool.name, "description": tool.description or "", "inputSchema": tool.parameters}


def _dump(capabilities: types.ServerCapabilities) -> dict[str, object]:
    return capabilities.model_dump(by_alias=True, mode="json", exclude_none=True)
