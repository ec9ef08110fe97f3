"""Guardrails for the OpenAI Agents SDK (read from 0.24): `pip install openai-agents`.

before, after = tool_guardrails()
function_tool(weather, tool_input_guardrails=[before], tool_output_guardrails=[after])
MCPServerStdio(..., tool_input_guardrails=[before], tool_output_guardrails=[after])  # for all tools of a server
"""

from typing import Any

from agents import FunctionTool, ToolGuardrailFunctionOutput, ToolInputGuardrail, ToolOutputGuardrail

from toolvet.integrations.agents.guard import AgentGuard, RefusedCall


def tool_guardrails(guard: AgentGuard | None = None) -> tuple[ToolInputGuardrail[Any], ToolOutputGuardrail[Any]]:
    """Return what checks calls before a tool runs, and what judges its output.

    A guardrail of this SDK cannot change arguments: a call that `repair = "apply"` would correct is made as it is.
    """
    asked = guard if guard is not None else AgentGuard()
    known: dict[tuple[int, str], FunctionTool] = {}

    async def definition(data: Any) -> FunctionTool | None:
        name, agent = data.context.tool_name, data.agent
        if (id(agent), name) not in known:
            found = [tool for tool in await agent.get_all_tools(data.context) if isinstance(tool, FunctionTool)]
            known.update({(id(agent), tool.name): tool for tool in found})
        return known.get((id(agent), name))

    async def before(data: Any) -> ToolGuardrailFunctionOutput:
        tool = await definition(data)
        if tool is None:
            return ToolGuardrailFunctionOutput.allow()
        shape = {"name": tool.name, "inputSchema": tool.params_json_schema}
        call = asked.call(str(id(data.context.usage)), shape, data.context.tool_arguments)
        if isinstance(call, RefusedCall):
            return ToolGuardrailFunctionOutput.reject_content(call.text)
        asked.keep(data.context.tool_call_id, call)
        return ToolGuardrailFunctionOutput.allow()

    async def after(data: Any) -> ToolGuardrailFunctionOutput:
        call = asked.kept(data.context.tool_call_id)
        text = call.returned(data.output) if call is not None else None
        return ToolGuardrailFunctionOutput.allow() if text is None else ToolGuardrailFunctionOutput.reject_content(text)

    return ToolInputGuardrail(before, name="toolvet"), ToolOutputGuardrail(after, name="toolvet")
