"""`ToolvetCapability` for Pydantic AI (read from 2.68): `pip install pydantic-ai-slim`.

Agent(model, tools=[weather], capabilities=[ToolvetCapability()])
"""

from typing import Any

from pydantic_ai import ModelRetry, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ToolCallPart
from pydantic_ai.tools import ToolDefinition

from toolvet.integrations.agents.guard import AgentGuard, RefusedCall


class ToolvetCapability(AbstractCapability[Any]):
    """Checks every call of an agent's tools, and judges every result. A refused call is a `ModelRetry`."""

    def __init__(self, guard: AgentGuard | None = None) -> None:
        self._guard = guard if guard is not None else AgentGuard()

    async def before_tool_validate(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: str | dict[str, Any]
    ) -> str | dict[str, Any]:
        """Refuse a call, or pass its arguments on, perhaps repaired."""
        shape = {"name": tool_def.name, "inputSchema": tool_def.parameters_json_schema}
        asked = self._guard.call(str(ctx.run_id), shape, args)
        if isinstance(asked, RefusedCall):
            raise ModelRetry(asked.text)
        self._guard.keep(call.tool_call_id, asked)
        return dict(asked.arguments)

    async def after_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: dict[str, Any], result: Any
    ) -> Any:
        """Judge what the tool returned."""
        del ctx, tool_def, args
        asked = self._guard.kept(call.tool_call_id)
        text = asked.returned(result) if asked is not None else None
        return result if text is None else text

    async def on_tool_execute_error(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        error: Exception,
    ) -> Any:
        """Judge what the tool raised, and let it go on."""
        del ctx, tool_def, args
        asked = self._guard.kept(call.tool_call_id)
        if asked is not None:
            asked.raised(error)
        raise error
