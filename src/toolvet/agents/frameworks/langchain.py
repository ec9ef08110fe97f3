"""`ToolvetMiddleware` for agents of LangChain (read from 1.4; LangGraph 1.2): `pip install langchain`.

create_agent(model, tools=[weather], middleware=[ToolvetMiddleware()])
"""

# pyright: basic, reportMissingImports=false
# Installed by `make frameworks` only, so the type checkers of `make lint` do not see it.

from collections.abc import Awaitable, Callable
from typing import Any

from langchain.agents.middleware import AgentMiddleware, hook_config
from langchain.messages import HumanMessage, ToolMessage
from langgraph.prebuilt.tool_node import ToolCallRequest

from toolvet.agents.frameworks.guard import AgentGuard, GuardedCall, RefusedCall


class ToolvetMiddleware(AgentMiddleware[Any, Any]):
    """Checks every call of an agent, and judges every result and the last answer. A refused call is an error."""

    def __init__(self, guard: AgentGuard | None = None) -> None:
        super().__init__()
        self._guard = guard if guard is not None else AgentGuard()

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Any]) -> Any:
        """Refuse a call, or make it, perhaps repaired, and judge its result."""
        found, request = self._begun(request)
        if isinstance(found, RefusedCall):
            return _message(request, found.text)
        with found:
            return _judged(found, request, handler(request))

    async def awrap_tool_call(self, request: ToolCallRequest, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """As `wrap_tool_call`."""
        found, request = self._begun(request)
        if isinstance(found, RefusedCall):
            return _message(request, found.text)
        with found:
            return _judged(found, request, await handler(request))

    @hook_config(can_jump_to=["model"])
    def after_agent(self, state: Any, runtime: Any) -> dict[str, Any] | None:
        """Judge the last answer, and ask the model again where the guard says so."""
        again = self._guard.finished(_conversation(state, runtime), state["messages"])
        return None if again is None else {"messages": [HumanMessage(again)], "jump_to": "model"}

    def _begun(self, request: ToolCallRequest) -> tuple[RefusedCall | GuardedCall, ToolCallRequest]:
        wanted, run = request.tool_call, _conversation(request.state, request.runtime)
        found = self._guard.call(run, request.tool, wanted["args"], name=wanted["name"])
        if isinstance(found, RefusedCall):
            return found, request
        return found, request.override(tool_call={**wanted, "args": dict(found.arguments)})


def _conversation(state: Any, runtime: Any) -> str:
    """The thread, or the id of the first message, which stays the same over a run."""
    thread = getattr(getattr(runtime, "execution_info", None), "thread_id", None)
    return str(thread or getattr(state["messages"][0], "id", ""))


def _message(request: ToolCallRequest, text: str) -> ToolMessage:
    wanted = request.tool_call
    return ToolMessage(text, name=wanted["name"], tool_call_id=wanted["id"], status="error")


def _judged(call: GuardedCall, request: ToolCallRequest, message: Any) -> Any:
    # A `Command` changes the state of the graph, and holds no result.
    if not isinstance(message, ToolMessage):
        return message
    text = call.returned(message.content, failed=message.status == "error")
    return message if text is None else _message(request, text)
