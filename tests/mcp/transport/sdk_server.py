"""A server written with the official SDK, over Streamable HTTP in both eras: `python sdk_server.py`, port on stdout."""

import socket
from typing import Any

import mcp.types as t
import uvicorn
from mcp.server import Server

HEADED = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "n": {"type": "integer"}},
    "required": ["region"],
}
TOOLS = [
    t.Tool(name="echo", description="Echo the arguments.", input_schema={"type": "object"}),
    t.Tool(name="headed", description="Has a mirrored parameter.", input_schema=HEADED),
    t.Tool(name="größe", description="A name that no header can carry verbatim.", input_schema={"type": "object"}),
]


async def list_tools(_ctx: Any, params: Any) -> t.ListToolsResult:
    """Two pages."""
    if params is not None and params.cursor == "rest":
        return t.ListToolsResult(tools=TOOLS[1:])
    return t.ListToolsResult(tools=TOOLS[:1], next_cursor="rest")


async def call_tool(_ctx: Any, params: Any) -> t.CallToolResult:
    """Say what was received; `large` characters of padding if asked."""
    arguments = params.arguments or {}
    text = "x" * int(arguments.get("large", 0)) or f"{params.name} {arguments!r}"
    return t.CallToolResult(content=[t.TextContent(type="text", text=text)])


def main() -> None:
    """Listen on a free port of loopback and print it."""
    server: Server[Any] = Server("sdk", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    # Without the protocol number asyncio leaves Nagle on, and every answer takes 40 ms.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(listener.getsockname()[1], flush=True)  # noqa: T201 - the test waits for it.
    config = uvicorn.Config(server.streamable_http_app(), log_level="error")
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
