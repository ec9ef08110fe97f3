"""`ToolvetCapability` for Pydantic AI (read from 2.68): `pip install pydantic-ai-slim`.

Agent(model, tools=[weather], capabilities=[ToolvetCapability()])
"""

from typing import Any

from pydantic_ai import ModelRetry, RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelResponse, ToolCallPart
from pydantic_ai.tools import ToolDefinition

from toolvet.agents.frameworks.guard import AgentGuard, RefusedCall


class ToolvetCapability(AbstractCapability[Any]):
    """Checks every call of an agent, and judges every result and the last answer. A refused call is a `ModelRetry`."""

    def __init__(self, guard: AgentGuard | None = None) -> None:
        self._guard = guard if guard is not None else AgentGuard()

    async def before_tool_validate(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: str | dict[str, Any]
    ) -> str | dict[str, Any]:
        """Refuse a call, or pass its arguments on, perhaps repaired."""
        asked = self._guard.call(str(ctx.conversation_id), tool_def, args)
        if isinstance(asked, RefusedCall):
            raise ModelRetry(asked.text)
        self._guard.keep(call.tool_call_id, asked)
        return dict(asked.arguments)

    async def after_tool_execute(self, ctx: RunContext[Any], *, call: ToolCallPart, result: Any, **more: Any) -> Any:
        """Judge what the tool returned."""
        asked = self._guard.kept(call.tool_call_id)
        text = asked.returned(result) if asked is not None else None
        return result if text is None else text

    async def on_tool_execute_error(
        self, ctx: RunContext[Any], *, call: ToolCallPart, error: Exception, **more: Any
    ) -> Any:
        """Judge what the tool raised, and let it go on."""
        asked = self._guard.kept(call.tool_call_id)
        if asked is not None:
            asked.raised(error)
        raise error

    async def after_model_request(self, ctx: RunContext[Any], *, request_context: Any, response: ModelResponse) -> Any:
        """Judge the last answer, and ask the model again where the guard says so; it counts in the output's retries."""
        if not response.tool_calls:
            again = self._guard.finished(str(ctx.conversation_id), [*request_context.messages, response])
            if again is not None:
                raise ModelRetry(again)
        return response
