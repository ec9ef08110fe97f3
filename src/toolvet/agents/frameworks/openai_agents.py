"""`ToolvetHooks` for the OpenAI Agents SDK (read from 0.24): `pip install openai-agents`.

toolvet = ToolvetHooks()
function_tool(weather, tool_input_guardrails=[toolvet.before], tool_output_guardrails=[toolvet.after])
MCPServerStdio(..., tool_input_guardrails=[toolvet.before], tool_output_guardrails=[toolvet.after])  # all its tools
Runner.run(agent, "How warm is it?", hooks=toolvet)
"""

from typing import Any

from agents import FunctionTool, RunHooks, ToolGuardrailFunctionOutput, ToolInputGuardrail, ToolOutputGuardrail
from toolvet.agents.frameworks.guard import AgentGuard, ObjectMemory, RefusedCall


class ToolvetHooks(RunHooks[Any]):
    """Checks calls (`before`) and judges their outputs (`after`); as the hooks of a run, it judges the last answer.

    A guardrail of this SDK cannot change arguments: a call that `repair = "apply"` would correct is made as it is.
    """

    def __init__(self, guard: AgentGuard | None = None) -> None:
        self.before: ToolInputGuardrail[Any] = ToolInputGuardrail(self._before, name="toolvet")
        self.after: ToolOutputGuardrail[Any] = ToolOutputGuardrail(self._after, name="toolvet")
        self._guard = guard if guard is not None else AgentGuard()
        self._tools: ObjectMemory[dict[str, FunctionTool]] = ObjectMemory()
        # By the object that a run counts its tokens in, which all its contexts share.
        self._names: ObjectMemory[str] = ObjectMemory()
        self._messages: ObjectMemory[list[Any]] = ObjectMemory()

    async def _before(self, data: Any) -> ToolGuardrailFunctionOutput:
        context, config = data.context, data.context.run_config
        tools = self._tools.get(data.agent) or {}
        if context.tool_name not in tools:
            tools = {
                each.name: each for each in await data.agent.get_all_tools(context) if isinstance(each, FunctionTool)
            }
            self._tools.put(data.agent, tools)
        if (tool := tools.get(context.tool_name)) is None:
            return ToolGuardrailFunctionOutput.allow()
        name = str((config and (config.group_id or config.trace_id)) or id(context.usage))
        self._names.put(context.usage, name)
        call = self._guard.call(name, tool, context.tool_arguments)
        if isinstance(call, RefusedCall):
            return ToolGuardrailFunctionOutput.reject_content(call.text)
        self._guard.keep(context.tool_call_id, call)
        return ToolGuardrailFunctionOutput.allow()

    async def _after(self, data: Any) -> ToolGuardrailFunctionOutput:
        call = self._guard.kept(data.context.tool_call_id)
        text = call.returned(data.output) if call is not None else None
        return ToolGuardrailFunctionOutput.allow() if text is None else ToolGuardrailFunctionOutput.reject_content(text)

    async def on_llm_start(self, context: Any, agent: Any, system_prompt: Any, input_items: Any) -> None:
        """Keep what the model reads."""
        self._messages.put(context.usage, list(input_items))

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        """Keep what it says."""
        self._messages.put(context.usage, [*(self._messages.get(context.usage) or ()), *response.to_input_items()])

    async def on_agent_end(self, context: Any, agent: Any, output: Any) -> None:
        """Judge the last answer."""
        name = self._names.pop(context.usage) or str(id(context.usage))
        self._guard.finished(name, self._messages.pop(context.usage) or ())
