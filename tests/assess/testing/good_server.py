"""A server without a fault, of one tool, and without a library: it starts at once."""

import json
import sys
from typing import Any

TOOL = {
    "name": "search_books",
    "description": "Search the shelf for a title.",
    "inputSchema": {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "Words of the title, such as Emma."}},
        "required": ["query"],
        "additionalProperties": False,
    },
    "annotations": {"readOnlyHint": True},
}


def call(params: dict[str, Any]) -> dict[str, Any]:
    if params.get("name") != "search_books":
        return {"error": {"code": -32602, "message": f"Unknown tool: {params.get('name')}"}}
    arguments = params.get("arguments") or {}
    if set(arguments) != {"query"}:
        return failed("Give query, and nothing else: the words of the title, such as Emma.")
    if not isinstance(arguments["query"], str):
        return failed("query must be a string: the words of the title, such as Emma.")
    return {"result": {"content": [{"type": "text", "text": found(arguments["query"])}]}}


def found(query: str) -> str:
    return f"1 book: {query}"


def failed(text: str) -> dict[str, Any]:
    return {"result": {"content": [{"type": "text", "text": text}], "isError": True}}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        information = {"name": "shelf", "version": "1.0.0"}
        asked = params.get("protocolVersion", "2025-11-25")
        return {"result": {"protocolVersion": asked, "capabilities": {"tools": {}}, "serverInfo": information}}
    if method == "tools/list":
        return {"result": {"tools": [TOOL]}}
    if method == "tools/call":
        return call(params)
    return {"result": {}} if method == "ping" else {"error": {"code": -32601, "message": "Method not found"}}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        reply = answer(message["method"], message.get("params") or {})
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}) + "\n")
        sys.stdout.flush()
