"""A real stdio MCP server of which something has two megabytes. Standard library only.

large.py answers        the answers to its calls
large.py definitions    the description of one tool, and the schema of another
large.py resources      a resource, and the entry of another
"""

import json
import sys
from typing import Any

kind = sys.argv[1]
LARGE = "Not found. " * (2 * 2**20 // 11 + 1)
PAGE = {"name": "get_page", "description": "Gets a page.", "annotations": {"readOnlyHint": True}}
SCHEMA: dict[str, Any] = {"type": "object"}
tools = [{**PAGE, "inputSchema": SCHEMA}]
resources: list[dict[str, str]] = []
if kind == "definitions":
    properties = {f"p{number}": {"type": "string", "description": "A name."} for number in range(50_000)}
    tools += [
        {**PAGE, "name": "described", "description": LARGE, "inputSchema": SCHEMA},
        {**PAGE, "name": "declared", "inputSchema": {**SCHEMA, "properties": properties}},
    ]
if kind == "resources":
    resources = [
        {"uri": "shop://large", "name": "large", "description": "All pages.", "mimeType": "text/plain"},
        {"uri": "shop://listed", "name": "listed", "description": LARGE},
    ]
announced: dict[str, object] = {"tools": {}, **({"resources": {}} if resources else {})}
answered: dict[str, object] = {
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": announced,
        "serverInfo": {"name": "large", "version": "1"},
    },
    "tools/list": {"tools": tools},
    "tools/call": {"content": [{"type": "text", "text": LARGE if kind == "answers" else "A page."}]},
    "resources/list": {"resources": resources},
    "resources/templates/list": {"resourceTemplates": []},
    "resources/read": {"contents": [{"uri": "shop://large", "mimeType": "text/plain", "text": LARGE}]},
    "ping": {},
}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    known = message["method"] in answered
    body = {"result": answered[message["method"]]} if known else {"error": {"code": -32601, "message": "Not known"}}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}) + "\n")
    sys.stdout.flush()
