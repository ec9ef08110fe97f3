"""The same server of a travel agency, written three ways: `python flights.py fastmcp|mcpserver|lowlevel stdio|http`.

Over HTTP the port is printed. Its validators misbehave for some cities, so that every way of failing can be seen.
"""

import socket
import sys
import threading
from collections.abc import Mapping
from typing import Annotated, Any

import anyio
import fastmcp
import mcp.types as t
import uvicorn
from mcp.server import MCPServer, Server
from mcp.server.stdio import stdio_server
from pydantic import Field

from toolvet.agents.integrations import Problem, ToolValidation, fastmcp as for_fastmcp, sdk

Seats = Annotated[int, Field(ge=1, le=9)]
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "seats": {"type": "integer", "minimum": 1, "maximum": 9, "default": 1}},
    "required": ["city"],
}


def validation() -> ToolValidation:
    """Validators of every temper."""
    found = ToolValidation(timeout=0.2, max_batch_size=3, ttl=60, invalidate_on=("timetable_change",))

    @found.validator("book_flight", level="runtime")
    def city_is_served(arguments: Mapping[str, Any]) -> object:
        match arguments["city"]:
            case "Atlantis":
                return Problem("No airline flies to Atlantis.", "/city", correction="Athens")
            case "Hang":
                threading.Event().wait()
        return None

    @found.validator("book_flight", level="semantic")
    async def temper(arguments: Mapping[str, Any], context: Mapping[str, object]) -> object:
        match arguments["city"]:
            case "Raise":
                raise RuntimeError("password=hunter2")
            case "Exit":
                sys.exit(3)
            case "Nonsense":
                return {"ok": True}
            case "Rome" if context.get("user") == "banned":
                return "This user may not fly to Rome."
        return None

    @found.validator("book_flight", level="security", on_failure="warn")
    def audited(arguments: Mapping[str, Any]) -> None:
        if arguments["city"] == "Warn":
            raise OSError("audit log unreachable")

    return found


def with_fastmcp() -> "fastmcp.FastMCP[Any]":
    """As FastMCP's users write it."""
    server: fastmcp.FastMCP[Any] = fastmcp.FastMCP("flights")

    @server.tool
    def book_flight(city: str, seats: Seats = 1) -> str:
        """Book seats."""
        return f"{seats} to {city}"

    for_fastmcp.enable_validation(server, validation())
    return server


def with_mcpserver() -> MCPServer[Any]:
    """As the SDK's decorators have it."""
    server: MCPServer[Any] = MCPServer("flights")

    @server.tool()
    def book_flight(city: str, seats: Seats = 1) -> str:
        """Book seats."""
        return f"{seats} to {city}"

    sdk.enable_validation(server, validation())
    return server


def with_lowlevel() -> Server[Any]:
    """By hand, with a tool on each of two pages."""
    tools = [
        t.Tool(name="book_flight", description="Book seats.", input_schema=SCHEMA),
        t.Tool(name="ping_me", description="Say pong.", input_schema={"type": "object"}),
    ]

    async def list_tools(_ctx: Any, params: t.PaginatedRequestParams | None) -> t.ListToolsResult:
        if params is not None and params.cursor == "rest":
            return t.ListToolsResult(tools=tools[:1])
        return t.ListToolsResult(tools=tools[1:], next_cursor="rest")

    async def call_tool(_ctx: Any, params: t.CallToolRequestParams) -> t.CallToolResult:
        arguments = params.arguments or {}
        text = f"{arguments.get('seats', 1)} to {arguments.get('city')}"
        return t.CallToolResult(content=[t.TextContent(type="text", text=text)])

    server: Server[Any] = Server("flights", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    sdk.enable_validation(server, validation())
    return server


def serve(app: Any) -> None:
    """Listen on a free port of loopback and print it."""
    # Without the protocol number asyncio leaves Nagle on, and every answer takes 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(listener.getsockname()[1], flush=True)  # noqa: T201 - the test waits for it.
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])


async def over_stdio(server: Server[Any]) -> None:
    """Serve one client."""
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def main(kind: str, transport: str) -> None:
    """Run one of them."""
    if kind == "fastmcp":
        server = with_fastmcp()
        serve(server.http_app()) if transport == "http" else server.run(show_banner=False)
    elif kind == "mcpserver":
        other = with_mcpserver()
        serve(other.streamable_http_app()) if transport == "http" else other.run()
    else:
        low = with_lowlevel()
        serve(low.streamable_http_app()) if transport == "http" else anyio.run(over_stdio, low)


if __name__ == "__main__":
    main(*sys.argv[1:])
