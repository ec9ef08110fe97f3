"""`ToolvetGuardrail` for LiteLLM (read from 1.106), its SDK and its gateway: `pip install 'litellm[proxy]'`.

litellm.callbacks = [ToolvetGuardrail()]
litellm.acompletion(..., tools=tools, guardrails=["toolvet"])
"""

# pyright: basic, reportMissingImports=false
# Installed by `make frameworks` only, so the type checkers of `make lint` do not see it.

import json
from typing import Any

from litellm.exceptions import GuardrailRaisedException
from litellm.integrations.custom_guardrail import CustomGuardrail

from toolvet.agents.frameworks.guard import AgentGuard, GuardedCall, RefusedCall

_MODES = ["pre_call", "post_call", "pre_mcp_call", "post_mcp_call"]


class ToolvetGuardrail(CustomGuardrail):
    """Checks the calls that a model answers with and those that go to MCP servers, and judges their results."""

    def __init__(self, guard: AgentGuard | None = None, **settings: Any) -> None:
        super().__init__(**{"guardrail_name": "toolvet", "event_hook": _MODES, "default_on": True, **settings})
        self._guard = guard if guard is not None else AgentGuard()

    async def apply_guardrail(self, inputs: Any, request_data: Any, input_type: str, logging_obj: Any = None) -> Any:
        """Raise GuardrailRaisedException with what is wrong with a call, or let it go on, perhaps repaired."""
        texts: list[str] = list(inputs.get("texts") or ())
        at_mcp = str(getattr(logging_obj, "litellm_call_id", ""))
        if name := request_data.get("mcp_tool_name"):
            tool = {"name": name, "inputSchema": request_data.get("mcp_input_schema") or {}}
            found = self._asked(request_data, tool, request_data.get("mcp_arguments") or {}, at_mcp)
            if found.arguments != request_data.get("mcp_arguments"):
                request_data["modified_arguments"] = dict(found.arguments)
            return {}
        if input_type == "request":
            for message in inputs.get("structured_messages") or ():
                self._judged(str(message.get("tool_call_id", "")), message.get("content"), texts)
        elif "tool_calls" not in inputs:
            self._judged(at_mcp, "\n\n".join(texts), texts)
            answer = {"role": "assistant", "content": "\n\n".join(texts)}
            messages = [*(request_data.get("messages") or ()), answer]
            # Without an id of the session each request has its own, so what was sent back could not be counted.
            session = str(request_data.get("litellm_session_id") or "")
            if len(messages) > 1 and (again := self._guard.finished(session, messages)) is not None:
                raise GuardrailRaisedException(self.guardrail_name, again, False, 400, blocked_content=True)  # noqa: FBT003
        tools = {tool["function"]["name"]: tool for tool in request_data.get("tools") or () if "function" in tool}
        for call in (inputs.get("tool_calls") or ()) if input_type == "response" else ():
            if declared := tools.get(call["function"]["name"]):
                found = self._asked(request_data, declared, call["function"]["arguments"], call["id"])
                call["function"]["arguments"] = json.dumps(found.arguments)
        return {**inputs, "texts": texts}

    def _asked(self, request_data: Any, tool: Any, arguments: Any, call_id: str) -> GuardedCall:
        found = self._guard.call(
            str(request_data.get("litellm_session_id") or request_data.get("litellm_call_id") or "") or call_id,
            tool,
            arguments,
        )
        if isinstance(found, RefusedCall):
            raise GuardrailRaisedException(self.guardrail_name, found.text, False, 400, blocked_content=True)  # noqa: FBT003
        self._guard.keep(call_id, found)
        return found

    def _judged(self, call_id: str, content: Any, texts: list[str]) -> None:
        call = self._guard.kept(call_id)
        text = call.returned(content) if call is not None else None
        if text is not None:
            texts[:] = [text if each == content else each for each in texts]
