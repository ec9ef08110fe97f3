"""A server on the SDK's low-level API for `make conformance`: `lowlevel.py stdio` or `lowlevel.py PORT`."""

import sys
from typing import Any

import anyio
import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings

from mcp import types

SIMPLE = types.Tool(name="test_simple_text", description="Returns a text", input_schema={"type": "object"})
PROGRESS = types.Tool(name="test_tool_with_progress", description="Reports progress", input_schema={"type": "object"})
FAILING = types.Tool(name="test_error_handling", description="Fails", input_schema={"type": "object"})
MIRRORED = types.Tool(
    name="test_x_mcp_header",
    description="Has an argument that clients repeat in a header",
    input_schema={
        "type": "object",
        "properties": {"region": {"type": "string", "x-mcp-header": "Region"}, "level": {"type": "integer"}},
    },
)
TOOLS = [SIMPLE, PROGRESS, FAILING, MIRRORED]


async def list_tools(ctx: Any, params: Any) -> types.ListToolsResult:
    """Return all tools."""
    del ctx, params
    return types.ListToolsResult(tools=TOOLS)


async def call_tool(ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
    """Call one of them."""
    if params.name == FAILING.name:
        return _result("This tool fails on purpose.", is_error=True)
    if params.name == PROGRESS.name:
        for done in (0, 50, 100):
            await ctx.session.report_progress(done, 100)
    if params.name == MIRRORED.name:
        return _result(f"region={(params.arguments or {}).get('region', '<none>')}")
    return _result("This is a simple text response for testing.")


def _result(text: str, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=is_error)


def main() -> None:
    """Serve."""
    server: Server[Any] = Server("lowlevel", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    if sys.argv[1] != "stdio":
        port = int(sys.argv[1])
        security = TransportSecuritySettings(
            enable_dns_rebinding_protection=True,
            allowed_hosts=[f"127.0.0.1:{port}", f"localhost:{port}"],
            allowed_origins=[f"http://127.0.0.1:{port}", f"http://localhost:{port}"],
        )
        app = server.streamable_http_app(transport_security=security)
        uvicorn.run(app, host="127.0.0.1", port=port, log_level="error")
        return

    async def serve() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(serve)


if __name__ == "__main__":
    main()
