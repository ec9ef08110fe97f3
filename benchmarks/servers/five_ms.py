"""A stdio MCP server of eight tools that takes 5 ms for every answer: what benchmarks/assess.py measures against."""

import json
import sys
import time

SCHEMA = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 1, "maxLength": 100},
        "limit": {"type": "integer", "minimum": 1, "maximum": 50},
        "sort": {"enum": ["title", "price"]},
    },
    "required": ["query"],
    "additionalProperties": False,
}
TOOLS = [{"name": f"search_shelf_{n}", "description": "Searches one shelf.", "inputSchema": SCHEMA} for n in range(8)]
BODY = json.dumps(
    {"books": [{"isbn": f"978-{n:010}", "title": "A title of some length", "price": 9.5} for n in range(20)]}
)


def result(method: str, params: dict[str, object]) -> dict[str, object] | None:
    """The answer, or None for what this server does not know."""
    if method == "initialize":
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "five-ms", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": TOOLS}
    return {"content": [{"type": "text", "text": BODY}]} if method == "tools/call" else None


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    time.sleep(0.005)
    found = result(message["method"], message.get("params", {}))
    answer = {"result": found} if found is not None else {"error": {"code": -32601, "message": "Method not found"}}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **answer}) + "\n")
    sys.stdout.flush()
