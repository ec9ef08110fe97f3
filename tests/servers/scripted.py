"""A real stdio MCP server that does what the JSON file it is given says. Standard library only.

    {"tools": [...],                      the entries of tools/list
     "answers": {"tool": ANSWER},        what a call of that tool brings; "*" for any other
     "capabilities": {...},               what it announces; without it {"tools": {}}
     "era": "modern",                     speaks 2026-07-28 only; without it, only what has a handshake
     "odd": ANSWER,                        to arguments that are not an object; without it, a refusal
     "notices": true,                     refuses notifications, with an error that has no id
     "marker": "path"}                    touched when a call without an answer arrives, so that a test can wait for it

ANSWER is a tool result, or {"hang": true}, {"die": 3}, {"error": {...}}, {"echo": true}, {"validate": true} (refuses
what misses a required argument, with the words of "refusal" if it has any), {"validator": true} (says the same
beforehand, of the call that its arguments describe), {"after": "tool", "refusal": "words"} (refuses until that tool was
called), {"knows": value, "refusal": "words"} (refuses, without isError, unless that value was sent). A tool that is not
listed can be called if it has an answer of its own.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

script = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
capabilities = script.get("capabilities", {"tools": {}})
modern = script.get("era") == "modern"
# Required by the modern revision in every such result, unknown to older ones.
UNCACHED: dict[str, object] = {"ttlMs": 0, "cacheScope": "private"} if modern else {}
by_name = {tool["name"]: tool for tool in script["tools"] if isinstance(tool, dict) and "name" in tool}


def text(words: str, *, is_error: bool = False) -> dict[str, object]:
    return {"content": [{"type": "text", "text": words}], "isError": is_error}


def lacking(name: str, arguments: dict[str, Any]) -> list[str]:
    return [key for key in by_name[name]["inputSchema"].get("required", []) if key not in arguments]


before: set[str] = set()


def called(name: str, arguments: dict[str, Any]) -> dict[str, object] | None:
    answer = script["answers"].get(name, script["answers"].get("*") if name in by_name else None)
    if answer is None:
        return {"error": {"code": -32602, "message": f"Unknown tool: {name}"}}
    if "validator" in answer:
        missing = lacking(arguments["tool"], arguments["arguments"])
        reply = {"valid": not missing, "errors": [f"'{key}' is required" for key in missing]}
        return {"result": text(json.dumps(reply))}
    if "die" in answer:
        sys.stderr.write("going down\n")
        sys.stderr.flush()
        os._exit(answer["die"])
    if "hang" in answer:
        Path(script["marker"]).touch()
        return None
    if "after" in answer:
        done = answer["after"] in before
        return {"result": text("fine" if done else answer["refusal"], is_error=not done)}
    if "knows" in answer:
        return {"result": text("fine" if answer["knows"] in arguments.values() else answer["refusal"])}
    if "echo" in answer:
        return {"result": text(json.dumps(arguments))}
    if "validate" in answer:
        missing = lacking(name, arguments)
        refusal = answer.get("refusal", f"'{missing[0]}' is required" if missing else "")
        return {"result": text(refusal, is_error=True) if missing else text("fine")}
    return {"error": answer["error"]} if "error" in answer else {"result": answer}


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        if script.get("notices"):
            refusal = {"code": -32601, "message": f"Method not found: {message['method']}"}
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": None, "error": refusal}) + "\n")
            sys.stdout.flush()
        continue
    parameters = message.get("params", {})
    match message["method"]:
        case "server/discover" if modern:
            body: dict[str, Any] | None = {
                "result": {"supportedVersions": ["2026-07-28"], "capabilities": capabilities, **UNCACHED}
            }
        case "initialize" if not modern:
            body = {
                "result": {
                    "protocolVersion": parameters["protocolVersion"],
                    "capabilities": capabilities,
                    "serverInfo": {"name": "scripted", "version": "1"},
                }
            }
        case "tools/list":
            body = {"result": {"tools": script["tools"], **UNCACHED}}
        case "tools/call":
            arguments = parameters.get("arguments", {})
            if isinstance(arguments, dict):
                body = called(parameters["name"], arguments)
                before.add(parameters["name"])
            else:
                odd = script.get("odd", {"error": {"code": -32602, "message": "arguments must be an object"}})
                body = odd if "error" in odd else {"result": odd}
        case "ping":
            body = {"result": {}}
        case _:
            body = {"error": {"code": -32601, "message": "Method not found"}}
    if body is not None and modern and "result" in body:
        body["result"] = {"resultType": "complete", **body["result"]}
    if body is not None:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}) + "\n")
        sys.stdout.flush()
