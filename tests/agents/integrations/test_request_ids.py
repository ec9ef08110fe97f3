"""Envelopes have the id of the turn that the call brings, under FastMCP, MCPServer and the low-level Server alike."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from fastmcp import FastMCP
from mcp.server import MCPServer, Server
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, Tool

import mcp
from toolvet import success_response
from toolvet.agents.integrations.enveloped import enveloped
from toolvet.agents.integrations.enveloped.request_ids import enable_request_ids
from toolvet.core.envelope import request_id

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"


@enveloped
def count_ships(port: str) -> int:
    """How many ships are in a port."""
    return len(port)


@enveloped
def own_id(port: str) -> Any:
    """A response that has an id of its own."""
    with request_id("mine"):
        return success_response({"port": port})


def fastmcp() -> Any:
    server: FastMCP[Any] = FastMCP("harbour")
    for tool in (count_ships, own_id):
        server.tool(tool)
    return server


def mcpserver() -> Any:
    server: MCPServer[Any] = MCPServer("harbour")
    for tool in (count_ships, own_id):
        server.tool()(tool)
    return server


def lowlevel() -> Any:
    tools = {tool.__name__: tool for tool in (count_ships, own_id)}

    async def list_tools(_ctx: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[Tool(name=name, input_schema={"type": "object"}) for name in tools])

    async def call_tool(_ctx: Any, params: CallToolRequestParams) -> CallToolResult:
        found: CallToolResult = tools[params.name](**(params.arguments or {}))
        return found

    return Server("harbour", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


def ids_of(server: Any, mode: Any, calls: list[tuple[str, dict[str, Any]]]) -> list[str | None]:
    async def run() -> list[str | None]:
        async with mcp.Client(getattr(server, "_mcp_server", server), mode=mode, cache=None) as client:
            found = []
            for tool, meta in calls:
                given: Any = meta
                result: Any = await client.call_tool(tool, {"port": "Oslo"}, meta=given)
                found.append(json.loads(result.content[0].text)["meta"].get("request_id"))
            return found

    return asyncio.run(run())


@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.parametrize("make", [fastmcp, mcpserver, lowlevel])
def test_the_id_that_a_call_brings_is_in_its_envelope_and_in_no_other(make: Callable[[], Any], mode: Any) -> None:
    server = make()
    enable_request_ids(server)
    calls: list[tuple[str, dict[str, Any]]] = [
        ("count_ships", {"traceparent": PARENT}),
        ("count_ships", {"dev.toolvet/trace": "turn-7"}),
        ("count_ships", {"traceparent": PARENT, "dev.toolvet/trace": "turn-7"}),
        ("count_ships", {}),
        ("count_ships", {"traceparent": "no id", "dev.toolvet/trace": True}),
        ("own_id", {"traceparent": PARENT}),
    ]
    assert ids_of(server, mode, calls) == [TRACE, "turn-7", TRACE, None, None, "mine"]


def test_without_it_envelopes_have_no_id() -> None:
    assert ids_of(mcpserver(), "auto", [("count_ships", {"traceparent": PARENT})]) == [None]


def test_any_other_server_is_refused() -> None:
    with pytest.raises(TypeError, match="must be a FastMCP, MCPServer or Server, not dict"):
        enable_request_ids({})
