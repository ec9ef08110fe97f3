"""A server of the official SDK with results that are long: JSON, a table, a log, prose."""

import json

from mcp.server import MCPServer

server = MCPServer("long")


@server.tool(structured_output=False)
def orders(count: int = 3000) -> str:
    """Lists all orders."""
    return json.dumps([{"id": number, "total": number * 7, "buyer": f"buyer-{number:05}"} for number in range(count)])


@server.tool(structured_output=False)
def log() -> str:
    """Returns the log."""
    levels = {2_000: "ERROR the disk of node-7 is full"}
    return "\n".join(f"12:00:{number % 60:02} {levels.get(number, 'INFO written')} {number}" for number in range(4_000))


server.run("stdio")
