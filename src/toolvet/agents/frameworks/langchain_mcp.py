"""`ToolvetInterceptor` for the tools of MCP servers in LangChain (read from langchain-mcp-adapters 0.3).

interceptor = ToolvetInterceptor()
client = MultiServerMCPClient(connections, tool_interceptors=[interceptor])
interceptor.tools = await client.get_tools()
"""

# pyright: basic, reportMissingImports=false
# Installed by `make frameworks` only, so the type checkers of `make lint` do not see it.

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from mcp.types import CallToolResult

from toolvet.agents.frameworks.guard import AgentGuard, RefusedCall


class ToolvetInterceptor:
    """Checks every call of an MCP tool, also outside of an agent, and judges every result. A refused call is an error.

    `tools` are those whose schemas are known: an interceptor gets none of them, and what it does not know passes.
    """

    def __init__(self, guard: AgentGuard | None = None) -> None:
        self.tools: Sequence[Any] = ()
        self._guard = guard if guard is not None else AgentGuard()

    async def __call__(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """Refuse a call, or make it, perhaps repaired, and judge its result."""
        # With `tool_name_prefix` a tool is named after its server, too.
        names = (request.name, f"{request.server_name}_{request.name}")
        if (tool := next((each for each in self.tools if each.name in names), None)) is None:
            return await handler(request)
        info = getattr(request.runtime, "execution_info", None)
        definition = {"name": request.name, "inputSchema": tool.args_schema}
        found = self._guard.call(str(getattr(info, "thread_id", None) or ""), definition, request.args)
        if isinstance(found, RefusedCall):
            return _error(found.text)
        with found:
            result = await handler(request.override(args=dict(found.arguments)))
        if not isinstance(result, CallToolResult):
            return result
        text = found.returned(result.model_dump(mode="json", by_alias=True, exclude_none=True))
        return result if text is None else _error(text)


def _error(text: str) -> CallToolResult:
    return CallToolResult.model_validate({"content": [{"type": "text", "text": text}], "isError": True})
