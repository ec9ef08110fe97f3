"""An MCP server of one tool, as small as one can be; it says in a file that it was started."""

import json
import sys
from pathlib import Path

SCHEMA = {
    "type": "object",
    "properties": {"zone": {"type": "string"}, "style": {"enum": ["short", "long"]}, "days": {"type": "integer"}},
    "required": ["zone"],
    "additionalProperties": False,
}

if len(sys.argv) > 1:
    with Path(sys.argv[1]).open("a", encoding="utf-8") as file:
        file.write("started\n")
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if number is None:
        continue
    if method == "initialize":
        result: object = {
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "clock", "version": "1"},
        }
    elif method == "tools/list":
        result = {"tools": [{"name": "now", "description": "The time in a zone.", "inputSchema": SCHEMA}]}
    else:
        sys.stdout.write(
            json.dumps({"jsonrpc": "2.0", "id": number, "error": {"code": -32601, "message": "no"}}) + "\n"
        )
        sys.stdout.flush()
        continue
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}) + "\n")
    sys.stdout.flush()
