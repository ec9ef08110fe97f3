"""A faultless server with one tool, in FastMCP or the official Python SDK, whichever of them is installed."""

import sys
from typing import Annotated, Literal, Optional, Union

from pydantic import AfterValidator, BaseModel, Field


def is_odd(value: int) -> int:
    if value % 2 == 0:
        raise ValueError("must be odd, not even")
    return value


class Place(BaseModel):
    x: int
    y: int


def add(
    name: Annotated[str, Field(min_length=1, max_length=20)],
    count: Annotated[int, Field(ge=0, le=100)],
    color: Literal["red", "blue"] = "red",
    loud: bool = False,
    tags: list[str] = [],
    place: Optional[Place] = None,
    when: Union[int, str] = 0,
    code: Annotated[str, Field(pattern="^[a-z]+$")] = "a",
    email: str = "",
    even: Annotated[int, Field(multiple_of=2)] = 2,
    odd: Annotated[int, AfterValidator(is_odd)] = 1,
) -> str:
    """Add something."""
    return "added"


def main() -> None:
    if "low" in sys.argv:
        run_low_level()
        return
    try:
        from fastmcp import FastMCP as Server
    except ImportError:
        try:
            from mcp.server.fastmcp import FastMCP as Server
        except ImportError:
            from mcp.server.mcpserver import MCPServer as Server
    server = Server("adder")
    server.tool()(add)
    server.run()


def run_low_level() -> None:
    import asyncio
    import json
    from pathlib import Path

    from mcp import types
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    server = Server("adder")
    schema = json.loads(Path(__file__).with_name("schema.json").read_text())

    @server.list_tools()
    async def list_tools():
        return [types.Tool(name="add", inputSchema=schema)]

    @server.call_tool()
    async def call_tool(name, arguments):
        return [types.TextContent(type="text", text="added")]

    async def run():
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    asyncio.run(run())


if __name__ == "__main__":
    main()
