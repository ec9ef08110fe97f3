"""A server without any library that answers as fast as it can, for bursts: the sum of two numbers."""

import json
import sys

LIST = {
    "tools": [
        {
            "name": "add",
            "inputSchema": {
                "type": "object",
                "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                "required": ["a", "b"],
            },
        }
    ]
}

for line in sys.stdin.buffer:
    message = json.loads(line)
    if "id" not in message:
        continue
    result: object = {"method": message["method"]}
    if message["method"] == "tools/list":
        result = LIST
    elif message["method"] == "tools/call":
        arguments = message["params"]["arguments"]
        result = {"content": [{"type": "text", "text": str(arguments["a"] + arguments["b"])}]}
    sys.stdout.buffer.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode() + b"\n")
    sys.stdout.buffer.flush()
