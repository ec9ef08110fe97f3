"""An MCP server of one tool, as small as one can be; a file has its start and the arguments of its calls.

A second file, if named, must exist before it lists its tools.
"""

import json
import sys
import time
from pathlib import Path

SCHEMA = {
    "type": "object",
    "properties": {"zone": {"type": "string"}, "style": {"enum": ["short", "long"]}, "days": {"type": "integer"}},
    "required": ["zone"],
    "additionalProperties": False,
}


def say(line: str) -> None:
    """Write a line to the file that the command names."""
    if len(sys.argv) > 1:
        with Path(sys.argv[1]).open("a", encoding="utf-8") as file:
            file.write(f"{line}\n")


def answer(method: object, params: dict[str, object]) -> dict[str, object] | None:
    """Return the result of a request; None for what this server does not know."""
    if method == "initialize":
        info = {"name": "clock", "version": "1"}
        return {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        while len(sys.argv) > 2 and not Path(sys.argv[2]).exists():
            time.sleep(0.02)
        now = {"name": "now", "description": "The time in a zone.", "inputSchema": SCHEMA}
        # The same in an old dialect: a client that checks arguments itself may not know it.
        old = {"$schema": "http://json-schema.org/draft-04/schema#", **SCHEMA}
        return {"tools": [now, {**now, "name": "then", "inputSchema": old}]}
    if method == "tools/call":
        arguments = params.get("arguments")
        say(json.dumps(arguments, sort_keys=True))
        is_down = isinstance(arguments, dict) and arguments.get("zone") == "Mars/Phobos"
        # A failure that is not marked as one.
        text = "Error: connection refused by clock.example:443" if is_down else "It is 12:00."
        return {"content": [{"type": "text", "text": text}]}
    return None


say("started")
for line in sys.stdin:
    message = json.loads(line)
    if message.get("id") is None:
        continue
    result = answer(message.get("method"), message.get("params") or {})
    rest = {"error": {"code": -32601, "message": "no"}} if result is None else {"result": result}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **rest}) + "\n")
    sys.stdout.flush()
