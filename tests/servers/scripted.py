"""A real stdio MCP server that does what the JSON file it is given says. Standard library only.

    {"tools": [...],                      the entries of tools/list
     "answers": {"tool": ANSWER},        what a call of that tool brings; "*" for any other
     "marker": "path"}                    touched when a call without an answer arrives, so that a test can wait for it

ANSWER is a tool result, or {"hang": true}, {"die": 3}, {"error": {...}}, {"echo": true}, {"validate": true} (refuses
what misses a required argument).
"""

import json
import os
import sys
from pathlib import Path

script = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
by_name = {tool["name"]: tool for tool in script["tools"] if isinstance(tool, dict) and "name" in tool}


def text(words: str, *, is_error: bool = False) -> dict[str, object]:
    return {"content": [{"type": "text", "text": words}], "isError": is_error}


def called(name: str, arguments: dict[str, object]) -> dict[str, object] | None:
    answer = script["answers"].get(name, script["answers"].get("*"))
    if name not in by_name or answer is None:
        return {"error": {"code": -32602, "message": f"Unknown tool: {name}"}}
    if "die" in answer:
        sys.stderr.write("going down\n")
        sys.stderr.flush()
        os._exit(answer["die"])
    if "hang" in answer:
        Path(script["marker"]).touch()
        return None
    if "echo" in answer:
        return {"result": text(json.dumps(arguments))}
    if "validate" in answer:
        missing = [key for key in by_name[name]["inputSchema"].get("required", []) if key not in arguments]
        return {"result": text(f"'{missing[0]}' is required", is_error=True) if missing else text("fine")}
    return {"error": answer["error"]} if "error" in answer else {"result": answer}


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    parameters = message.get("params", {})
    match message["method"]:
        case "initialize":
            body: dict[str, object] | None = {
                "result": {
                    "protocolVersion": parameters["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "scripted", "version": "1"},
                }
            }
        case "tools/list":
            body = {"result": {"tools": script["tools"]}}
        case "tools/call":
            body = called(parameters["name"], parameters.get("arguments", {}))
        case "ping":
            body = {"result": {}}
        case _:
            body = {"error": {"code": -32601, "message": "Method not found"}}
    if body is not None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}) + "\n")
        sys.stdout.flush()
