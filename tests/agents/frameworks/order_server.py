"""An MCP server that checks nothing itself: `order_server.py LOG` writes the arguments of each call into LOG.

Without an SDK, because the frameworks want different versions of it.
"""

import json
import sys
from pathlib import Path
from typing import Any

BOOK = json.loads((Path(__file__).parent / "book.json").read_text(encoding="utf-8"))


def answered(method: str, params: dict[str, Any]) -> dict[str, Any]:
    if method == "initialize":
        told = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}}
        return {**told, "serverInfo": {"name": "orders", "version": "1"}}
    if method == "tools/list":
        return {"tools": [{"name": "order_book", "description": "Order a book.", "inputSchema": BOOK}]}
    if method == "tools/call":
        with Path(sys.argv[1]).open("a", encoding="utf-8") as log:
            log.write(json.dumps(params["arguments"]) + "\n")
        return {"content": [{"type": "text", "text": f"ordered {params['arguments'].get('title')}"}], "isError": False}
    return {}


for line in sys.stdin:
    asked = json.loads(line)
    if "id" in asked:
        reply = {"jsonrpc": "2.0", "id": asked["id"], "result": answered(asked["method"], asked.get("params") or {})}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
