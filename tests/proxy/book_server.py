"""A program: an MCP server of one tool, which answers with the arguments that it got. `fail` says that it failed."""

import json
import sys

TOOL = {
    "name": "get_book",
    "description": "Returns a book.",
    "inputSchema": {
        "type": "object",
        "properties": {"id": {"type": "integer"}, "note": {"type": "string"}},
        "required": ["id"],
    },
}

for line in sys.stdin:
    asked = json.loads(line)
    for each in asked if isinstance(asked, list) else [asked]:
        if "id" not in each or "method" not in each:
            continue
        results: dict[str, dict[str, object]] = {
            "initialize": {
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "books", "version": "1"},
            },
            "tools/list": {"tools": [TOOL]},
            "tools/call": {"content": [{"type": "text", "text": json.dumps(each.get("params", {}).get("arguments"))}]},
            "resources/read": {"contents": [{"uri": "book:1", "text": "once"}]},
        }
        answer = (
            {"result": results[each["method"]]}
            if each["method"] in results
            else {"error": {"code": -32601, "message": "no"}}
        )
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": each["id"], **answer}) + "\n")
        sys.stdout.flush()
