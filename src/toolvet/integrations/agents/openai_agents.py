"""`ToolvetHooks` for the OpenAI Agents SDK (read from 0.24): `pip install openai-agents`.

toolvet = ToolvetHooks()
function_tool(weather, tool_input_guardrails=[toolvet.before], tool_output_guardrails=[toolvet.after])
MCPServerStdio(..., tool_input_guardrails=[toolvet.before], tool_output_guardrails=[toolvet.after])  # all its tools
Runner.run(agent, "How warm is it?", hooks=toolvet)
"""

from typing import Any

from agents import FunctionTool, RunHooks, ToolGuardrailFunctionOutput, ToolInputGuardrail, ToolOutputGuardrail

from toolvet.integrations.agents.guard import AgentGuard, RefusedCall


class ToolvetHooks(RunHooks[Any]):
    """Checks calls (`before`) and judges their outputs (`after`); as the hooks of a run, it judges the last answer.

    A guardrail of this SDK cannot change arguments: a call that `repair = "apply"` would correct is made as it is.
    """

    def __init__(self, guard: AgentGuard | None = None) -> None:
        self.before: ToolInputGuardrail[Any] = ToolInputGuardrail(self._before, name="toolvet")
        self.after: ToolOutputGuardrail[Any] = ToolOutputGuardrail(self._after, name="toolvet")
        self._guard = guard if guard is not None else AgentGuard()
        self._tools: dict[tuple[int, str], FunctionTool] = {}
        # By the object that a run counts its tokens in, which all its contexts share.
        self._runs: dict[int, str] = {}
        self._messages: dict[int, list[Any]] = {}

    async def _before(self, data: Any) -> ToolGuardrailFunctionOutput:
        config, run, key = data.context.run_config, id(data.context.usage), (id(data.agent), data.context.tool_name)
        if key not in self._tools:
            found = [tool for tool in await data.agent.get_all_tools(data.context) if isinstance(tool, FunctionTool)]
            self._tools.update({(id(data.agent), tool.name): tool for tool in found})
        if (tool := self._tools.get(key)) is None:
            return ToolGuardrailFunctionOutput.allow()
        name = self._runs[run] = str((config and (config.group_id or config.trace_id)) or run)
        call = self._guard.call(name, tool, data.context.tool_arguments)
        if isinstance(call, RefusedCall):
            return ToolGuardrailFunctionOutput.reject_content(call.text)
        self._guard.keep(data.context.tool_call_id, call)
        return ToolGuardrailFunctionOutput.allow()

    async def _after(self, data: Any) -> ToolGuardrailFunctionOutput:
        call = self._guard.kept(data.context.tool_call_id)
        text = call.returned(data.output) if call is not None else None
        return ToolGuardrailFunctionOutput.allow() if text is None else ToolGuardrailFunctionOutput.reject_content(text)

    async def on_llm_start(self, context: Any, agent: Any, system_prompt: Any, input_items: Any) -> None:
        """Keep what the model reads."""
        self._messages[id(context.usage)] = list(input_items)

    async def on_llm_end(self, context: Any, agent: Any, response: Any) -> None:
        """Keep what it says."""
        self._messages[id(context.usage)] += response.to_input_items()

    async def on_agent_end(self, context: Any, agent: Any, output: Any) -> None:
        """Judge the last answer."""
        run = id(context.usage)
        self._guard.finished(self._runs.pop(run, str(run)), self._messages.pop(run, []))
