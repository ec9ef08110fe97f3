"""A harbour office as an MCP server whose tools all answer with the same envelope, failures included.

    python examples/enveloped_server.py fastmcp|mcpserver|lowlevel [--http]

Lists that are too long for a model are shortened, and what is left out can be had from the tool `retrieve_content`.
Arguments are checked before the tools see them.
"""

import asyncio
import functools
import socket
import sys
from typing import Annotated, Any

import uvicorn
from mcp.server import MCPServer, Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, Tool, ToolAnnotations
from pydantic import BaseModel, Field

from mcp import MCPError
from toolvet import ContentArchive, Envelope, fit_response, not_found_error, success_response
from toolvet.agents.integrations import sdk
from toolvet.agents.integrations.enveloped import enveloped
from toolvet.agents.integrations.enveloped.retrieval import enable_retrieval
from toolvet.core.envelope import ResponseError, output_schema

SHIPS = {f"ship-{number}": {"id": f"ship-{number}", "name": f"Ship {number}", "draught": 3.5} for number in range(400)}
ARCHIVE = ContentArchive()
FITTING = functools.partial(fit_response, budget=8_000, archive=ARCHIVE)
READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)

ShipId = Annotated[str, Field(description="As list_ships gives it, such as ship-7.", examples=["ship-7"])]
Least = Annotated[float, Field(ge=0, le=30, description="The least draught in metres.", examples=[3])]


class Ship(BaseModel):
    """One ship of the register."""

    id: str
    name: str
    draught: float


@enveloped
def get_ship(ship_id: ShipId) -> Ship:
    """Look up one ship of the register by its id."""
    if ship_id not in SHIPS:
        raise ResponseError(not_found_error("Ship", ship_id))
    return Ship.model_validate(SHIPS[ship_id])


@enveloped(fit=FITTING)
async def list_ships(least_draught: Least = 0) -> Envelope:
    """List the ships of the register that need at least so much water."""
    found = [ship for ship in SHIPS.values() if float(str(ship["draught"])) >= least_draught]
    return success_response({"ships": found, "count": len(found)})


@enveloped
def berth_fee(ship_id: ShipId, days: Annotated[int, Field(ge=1, le=365, description="Days at the berth.")]) -> float:
    """Calculate what a berth costs for a ship, in euros."""
    if ship_id not in SHIPS:
        raise ResponseError(not_found_error("Ship", ship_id))
    if days > 300:
        raise ValueError("A berth is let for at most 300 days; ask for fewer days.")
    return round(12.5 * days, 2)


TOOLS = (get_ship, list_ships, berth_fee)


def with_fastmcp() -> Any:
    """As FastMCP's users write it."""
    from fastmcp import FastMCP  # noqa: PLC0415 - the other two servers do without it.

    from toolvet.agents.integrations import fastmcp  # noqa: PLC0415 - as above.

    server: FastMCP[Any] = FastMCP("harbour")
    for tool in TOOLS:
        server.tool(tool, annotations=READS)
    fastmcp.enable_validation(server)
    enable_retrieval(server, ARCHIVE)
    return server


def with_mcpserver() -> MCPServer[Any]:
    """As the SDK's decorators have it."""
    server: MCPServer[Any] = MCPServer("harbour")
    for tool in TOOLS:
        server.tool(annotations=READS)(tool)
    sdk.enable_validation(server)
    enable_retrieval(server, ARCHIVE)
    return server


def with_lowlevel() -> Server[Any]:
    """By hand: an enveloped function is called with the arguments, and gives the result."""
    text = {"type": "string", "description": "As list_ships gives it, such as ship-7.", "examples": ["ship-7"]}
    schema = {"type": "object", "properties": {"ship_id": text}, "required": ["ship_id"], "additionalProperties": False}
    listed = Tool(
        name="get_ship",
        description="Look up one ship of the register by its id.",
        input_schema=schema,
        output_schema=output_schema(),
        annotations=READS,
    )

    async def list_tools(_ctx: Any, _params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[listed])

    async def call_tool(_ctx: Any, params: CallToolRequestParams) -> CallToolResult:
        if params.name != listed.name:
            raise MCPError(code=-32602, message=f"Unknown tool: {params.name}")
        return await asyncio.to_thread(lambda: get_ship(**(params.arguments or {})))

    server: Server[Any] = Server("harbour", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    sdk.enable_validation(server)
    enable_retrieval(server, ARCHIVE)
    return server


def serve(app: Any) -> None:
    """Listen on a free port of loopback and print it."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])


async def over_stdio(server: Server[Any]) -> None:
    """Serve one client."""
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def main(kind: str, *rest: str) -> None:
    """Run one of them."""
    http = "--http" in rest
    if kind == "fastmcp":
        server = with_fastmcp()
        serve(server.http_app()) if http else server.run(show_banner=False)
    elif kind == "mcpserver":
        other = with_mcpserver()
        serve(other.streamable_http_app()) if http else other.run()
    else:
        low = with_lowlevel()
        serve(low.streamable_http_app()) if http else asyncio.run(over_stdio(low))


if __name__ == "__main__":
    main(*sys.argv[1:])
