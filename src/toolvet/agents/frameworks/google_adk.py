"""`ToolvetPlugin` for Google's Agent Development Kit (read from 2.13): `pip install google-adk`.

Runner(agent=agent, app_name="clerk", session_service=sessions, plugins=[ToolvetPlugin()])
"""

# pyright: basic, reportMissingImports=false
# Installed by `make frameworks` only, so the type checkers of `make lint` do not see it.

from typing import Any

from google.adk.plugins.base_plugin import BasePlugin
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.tool_context import ToolContext

from toolvet.agents.frameworks.guard import AgentGuard, RefusedCall


class ToolvetPlugin(BasePlugin):
    """Checks every call of all agents of a runner, and judges every result and the last answer."""

    def __init__(self, guard: AgentGuard | None = None) -> None:
        super().__init__(name="toolvet")
        self._guard = guard if guard is not None else AgentGuard()

    async def before_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext
    ) -> dict[str, Any] | None:
        """Answer a call with what is wrong, or let it be made, perhaps repaired."""
        if (definition := tool._get_declaration()) is None:  # noqa: SLF001 - the kit has no public name for it
            return None
        found = self._guard.call(tool_context.session.id, definition, tool_args)
        if isinstance(found, RefusedCall):
            return {"error": found.text}
        self._guard.keep(str(tool_context.function_call_id), found)
        # The kit calls the tool with this very object.
        repaired = dict(found.arguments)
        tool_args.clear()
        tool_args.update(repaired)
        return None

    async def after_tool_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, result: dict[str, Any]
    ) -> dict[str, Any] | None:
        """Judge what the tool returned."""
        call = self._guard.kept(str(tool_context.function_call_id))
        text = call.returned(result) if call is not None else None
        return None if text is None else {"error": text}

    async def on_tool_error_callback(
        self, *, tool: BaseTool, tool_args: dict[str, Any], tool_context: ToolContext, error: Exception
    ) -> dict[str, Any] | None:
        """Judge what the tool raised, and let it go on."""
        if (call := self._guard.kept(str(tool_context.function_call_id))) is not None:
            call.raised(error)
        return None

    async def after_run_callback(self, *, invocation_context: Any) -> None:
        """Judge the last answer."""
        session = invocation_context.session
        self._guard.finished(session.id, [event.content for event in session.events if event.content])
