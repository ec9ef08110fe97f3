"""Validation for FastMCP servers: `pip install toolvet[fastmcp]`.

    enable_validation(mcp, validation)        or       mcp.add_middleware(ToolValidationMiddleware(validation))

Bad calls are answered before the framework looks at them, so that the model reads what is wrong in a form that it can
act on. The schema is taken at its word: where FastMCP would turn "3" into 3, the call is refused, with the repair.
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

from toolvet.checks.capability import EXTENSION_ID
from toolvet.integrations.validation.answer import answered
from toolvet.integrations.validation.tool_validation import ToolValidation
from toolvet.schema.json_value import members


def enable_validation(mcp: FastMCP[Any], validation: ToolValidation | None = None) -> ToolValidation:
    """Announce the capability, add the `validate` tool, and refuse bad calls with a report that says how to mend them.

    Returns the validation, for `@validation.validator(…)`. Call it once, before the server runs.
    """
    found = validation if validation is not None else ToolValidation()
    mcp.add_middleware(ToolValidationMiddleware(found))
    return found


class ToolValidationMiddleware(ToolInjectionMiddleware):
    """The `validate` tool is injected: listed and called like any other, and preferred to one of the same name."""

    def __init__(self, validation: ToolValidation) -> None:
        super().__init__([_validate_tool(validation)])
        self._validation = validation

    async def on_initialize(
        self,
        context: MiddlewareContext[types.InitializeRequest],
        call_next: CallNext[types.InitializeRequest, types.InitializeResult | None],
    ) -> types.InitializeResult | None:
        """The handshake of the legacy era."""
        result = await call_next(context)
        if result is not None:
            told = self._validation.announced_in(_dumped(result.capabilities), "legacy")
            result.capabilities = types.ServerCapabilities.model_validate(told)
        return result

    async def on_discover(
        self,
        context: MiddlewareContext[types.DiscoverRequest],
        call_next: CallNext[types.DiscoverRequest, types.DiscoverResult | dict[str, Any]],
    ) -> types.DiscoverResult | dict[str, Any]:
        """What a client of the modern era asks first."""
        result = await call_next(context)
        if isinstance(result, types.DiscoverResult):
            told = self._validation.announced_in(_dumped(result.capabilities), "modern")
            result.capabilities = types.ServerCapabilities.model_validate(told)
        return result

    async def on_call_tool(
        self,
        context: MiddlewareContext[types.CallToolRequestParams],
        call_next: CallNext[types.CallToolRequestParams, ToolResult],
    ) -> ToolResult:
        """A call: refused, or passed on."""
        name = context.message.name
        tool = None if name == self._validation.method else await _tool(name, context)
        if tool is None:
            return await call_next(context)
        found = await self._validation.judge(_definition(tool), context.message.arguments or {}, purpose="call")
        if not found.valid:
            refusal = types.CallToolResult.model_validate(found.to_result("modern"))
            return ToolResult(content=refusal.content, meta=_plain(refusal.meta), is_error=True)
        result = await call_next(context)
        if found.messages:
            # What is only a warning goes with the result, where clients may find it.
            result.meta = {**(result.meta or {}), EXTENSION_ID: found.reply.to_dict()}
        return result


class _ValidateTool(Tool):
    """The tool that clients call."""

    validation: Annotated[SkipJsonSchema[Any], Field(exclude=True)]

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """The reply, or an error that says how to ask."""
        tools = await get_context().fastmcp.list_tools()
        definitions = {tool.name: _definition(tool) for tool in tools}
        answer = types.CallToolResult.model_validate(await answered(self.validation, arguments, definitions))
        return ToolResult(
            content=answer.content, structured_content=answer.structured_content, is_error=answer.is_error
        )


def _validate_tool(validation: ToolValidation) -> Tool:
    said = types.Tool.model_validate(validation.definition())
    return _ValidateTool(
        validation=validation,
        name=said.name,
        title=said.title,
        description=said.description,
        parameters=said.input_schema,
        output_schema=said.output_schema,
        annotations=said.annotations,
    )


async def _tool(name: str, context: MiddlewareContext[types.CallToolRequestParams]) -> Tool | None:
    """The tool that the call is for, in the version that it asks for; None for what the framework calls unknown."""
    if context.fastmcp_context is None:
        return None
    version = members(members(context.message.meta).get("fastmcp")).get("version")
    try:
        return await context.fastmcp_context.fastmcp.get_tool(
            name, VersionSpec(eq=version) if isinstance(version, str) else None
        )
    except NotFoundError:
        return None


def _definition(tool: Tool) -> Mapping[str, object]:
    return {"name": tool.name, "description": tool.description or "", "inputSchema": tool.parameters}


def _dumped(capabilities: types.ServerCapabilities) -> dict[str, object]:
    return capabilities.model_dump(by_alias=True, mode="json", exclude_none=True)


def _plain(meta: object) -> dict[str, Any]:
    return dict(members(meta))
