"""`ToolvetGatewayPlugin` for ContextForge and other hosts of its plugins (read from cpex 0.1.4): `pip install cpex`.

plugins:
  - name: toolvet
    kind: toolvet.agents.frameworks.contextforge.ToolvetGatewayPlugin
    hooks: [tool_pre_invoke, tool_post_invoke]
    mode: sequential
    config: {repair: apply}  # policies, as under [proxy]
"""

# pyright: basic, reportMissingImports=false
# Installed by `make frameworks` only, so the type checkers of `make lint` do not see it.

from typing import Any

from cpex.framework import (
    Plugin,
    PluginConfig,
    PluginContext,
    PluginViolation,
    ToolPostInvokePayload,
    ToolPostInvokeResult,
    ToolPreInvokePayload,
    ToolPreInvokeResult,
)
from cpex.framework.constants import TOOL_METADATA

from toolvet.agents.frameworks.guard import AgentGuard, RefusedCall
from toolvet.proxy.session import Policies, ProxySettings


class ToolvetGatewayPlugin(Plugin):
    """Checks every call that passes the gateway, and judges every result. A refused call is a violation."""

    def __init__(self, config: PluginConfig, guard: AgentGuard | None = None) -> None:
        super().__init__(config)
        self._guard = guard if guard is not None else AgentGuard(Policies(ProxySettings(**(config.config or {}))))

    async def tool_pre_invoke(self, payload: ToolPreInvokePayload, context: PluginContext) -> ToolPreInvokeResult:
        """Stop a call with what is wrong with it, or let it be made, perhaps repaired."""
        host = context.global_context
        tool: Any = host.metadata.get(TOOL_METADATA)
        if tool is None:
            return ToolPreInvokeResult()
        # The host's definition of the tool: a model of the gateway's, or an object of MCP.
        held = tool if isinstance(tool, dict) else tool.model_dump(by_alias=True)
        schema = held.get("inputSchema") or held.get("input_schema") or {}
        run = "/".join(str(each) for each in (host.server_id, host.user) if each)
        found = self._guard.call(run, {"name": payload.name, "inputSchema": schema}, payload.args or {})
        if isinstance(found, RefusedCall):
            wrong = PluginViolation(reason="Invalid arguments", description=found.text, code="TOOLVET_REFUSED")
            return ToolPreInvokeResult(continue_processing=False, violation=wrong)
        self._guard.keep(f"{host.request_id}/{payload.name}", found)
        if found.arguments == payload.args:
            return ToolPreInvokeResult()
        return ToolPreInvokeResult(modified_payload=payload.model_copy(update={"args": dict(found.arguments)}))

    async def tool_post_invoke(self, payload: ToolPostInvokePayload, context: PluginContext) -> ToolPostInvokeResult:
        """Judge what the tool returned."""
        call = self._guard.kept(f"{context.global_context.request_id}/{payload.name}")
        text = call.returned(payload.result) if call is not None else None
        if text is None:
            return ToolPostInvokeResult()
        refused = {"content": [{"type": "text", "text": text}], "isError": True}
        return ToolPostInvokeResult(modified_payload=payload.model_copy(update={"result": refused}))
