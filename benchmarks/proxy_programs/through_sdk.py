"""A peer: the official SDK's streams back to back, as one would write a transparent proxy with them."""

import sys

import anyio
from mcp.client.stdio import stdio_client
from mcp.server.stdio import stdio_server

from mcp import StdioServerParameters


async def main() -> None:
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    async with stdio_client(server) as (from_server, to_server), stdio_server() as (from_client, to_client):

        async def pump(source: object, sink: object) -> None:
            async for message in source:  # type: ignore[attr-defined]
                if not isinstance(message, Exception):
                    await sink.send(message)  # type: ignore[attr-defined]

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pump, from_server, to_client)
            await pump(from_client, to_server)
            tasks.cancel_scope.cancel()


anyio.run(main)
