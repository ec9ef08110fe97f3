"""A clinic over stdio, with validation or without: `python clinic_server.py fastmcp|sdk|mcpserver [plain]`.

Validation knows what no schema can say: Mondays are full. The SDK's list has two pages.
"""

import asyncio
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import mcp.types as t
from fastmcp import FastMCP
from mcp.server import MCPServer, Server
from mcp.server.stdio import stdio_server
from pydantic import Field

from toolvet.agents.integrations import ToolValidation, fastmcp, sdk

BOOK = {
    "type": "object",
    "properties": {"day": {"type": "string"}, "patients": {"type": "integer", "minimum": 1, "maximum": 3}},
    "required": ["day"],
}
Patients = Annotated[int, Field(ge=1, le=3)]


def validation() -> ToolValidation:
    found = ToolValidation(method="check_call", max_batch_size=2, ttl=60, invalidate_on=["calendar"])

    @found.validator("book", level="runtime")
    async def beds_are_free(arguments: Mapping[str, Any]) -> str | None:
        await asyncio.sleep(0)
        return "No bed is free on a monday." if arguments["day"] == "monday" else None

    return found


def book(day: str, patients: Patients = 1) -> str:
    """Book a day."""
    return f"{day} for {patients}"


def rooms() -> str:
    """List the rooms."""
    return "1, 2"


def fastmcp_server(plain: list[str]) -> FastMCP[Any]:
    server: FastMCP[Any] = FastMCP("clinic")
    server.tool(book)
    server.tool(rooms)
    if not plain:
        fastmcp.enable_validation(server, validation())
    return server


def mcp_server(plain: list[str]) -> MCPServer[Any]:
    server: MCPServer[Any] = MCPServer("clinic")
    server.tool()(book)
    server.tool()(rooms)
    if not plain:
        sdk.enable_validation(server, validation())
    return server


def low_level_server(plain: list[str]) -> Server[Any]:
    async def list_tools(_ctx: Any, params: Any) -> t.ListToolsResult:
        if params is None or params.cursor is None:
            rooms_tool = t.Tool(name="rooms", input_schema={"type": "object"})
            return t.ListToolsResult(tools=[rooms_tool], next_cursor="rest")
        return t.ListToolsResult(tools=[t.Tool(name="book", input_schema=BOOK)])

    async def call_tool(_ctx: Any, params: Any) -> t.CallToolResult:
        return t.CallToolResult(content=[t.TextContent(type="text", text=params.name)])

    server: Server[Any] = Server("clinic", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    if not plain:
        sdk.enable_validation(server, validation())
    return server


async def serve_low_level(server: Server[Any]) -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def main() -> None:
    framework, plain = sys.argv[1], sys.argv[2:]
    match framework:
        case "fastmcp":
            fastmcp_server(plain).run(show_banner=False)
        case "mcpserver":
            mcp_server(plain).run()
        case _:
            asyncio.run(serve_low_level(low_level_server(plain)))


if __name__ == "__main__":
    main()
