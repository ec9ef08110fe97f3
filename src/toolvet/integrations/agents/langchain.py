"""`ToolvetMiddleware` for agents of LangChain (read from 1.4; LangGraph 1.2): `pip install langchain`.

create_agent(model, tools=[weather], middleware=[ToolvetMiddleware()])
"""

# Installed by `make frameworks` only, so the type checkers of `make lint` do not see it.
# pyright: reportMissingImports=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false, reportUntypedBaseClass=false

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain.messages import ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest

from toolvet.integrations.agents.guard import AgentGuard, GuardedCall, RefusedCall


class ToolvetMiddleware(AgentMiddleware[Any, Any]):
    """Checks every call of an agent's tools, and judges every result. A refused call is a ToolMessage with an error."""

    def __init__(self, guard: AgentGuard | None = None) -> None:
        super().__init__()
        self._guard = guard if guard is not None else AgentGuard()

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """Refuse a call, or make it, perhaps repaired, and judge its result."""
        call, request = self._begun(request)
        if not isinstance(call, GuardedCall):
            return handler(request) if call is None else call
        try:
            return _judged(call, handler(request))
        except Exception as error:
            call.raised(error)
            raise

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """As `wrap_tool_call`."""
        call, request = self._begun(request)
        if not isinstance(call, GuardedCall):
            return await handler(request) if call is None else call
        try:
            return _judged(call, await handler(request))
        except Exception as error:
            call.raised(error)
            raise

    def _begun(self, request: ToolCallRequest) -> tuple[GuardedCall | ToolMessage | None, ToolCallRequest]:
        wanted = request.tool_call
        if request.tool is None:
            return None, request
        found = self._guard.call(_conversation(request), request.tool, wanted["args"])
        if isinstance(found, RefusedCall):
            return ToolMessage(found.text, name=wanted["name"], tool_call_id=wanted["id"], status="error"), request
        return found, request.override(tool_call={**wanted, "args": dict(found.arguments)})


def _conversation(request: ToolCallRequest) -> str:
    """The id of the first message, which stays the same over a run."""
    messages = request.state.get("messages") if isinstance(request.state, dict) else None
    return str(getattr(messages[0], "id", "")) if messages else ""


def _judged(call: GuardedCall, message: Any) -> Any:
    # A `Command` changes the state of the graph, and holds no result.
    if not isinstance(message, ToolMessage):
        return message
    text = call.returned(message.content, failed=message.status == "error")
    return message if text is None else message.model_copy(update={"content": text, "status": "error"})
