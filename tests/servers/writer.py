"""A server over stdio that writes wherever it can when it is called, and says what came of it."""

import json
import os
import socket
import sys
import tempfile
from pathlib import Path

TOOL = {"name": "get_places", "description": "Says where it writes.", "inputSchema": {"type": "object"}}


def attempt(path: Path) -> str:
    try:
        path.write_text("toolvet was here", encoding="utf-8")
    except OSError as error:
        return f"refused: {error.strerror}"
    return str(path.absolute())


def reaches_network(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=2).close()
    except OSError:
        return False
    return True


def answer(method: str) -> dict[str, object]:
    if method == "initialize":
        return {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "writer", "version": "1"},
        }
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method != "tools/call":
        return {}
    facts = {
        "home": attempt(Path.home() / "toolvet-home"),
        "temporary": attempt(Path(tempfile.gettempdir()) / "toolvet-temporary"),
        "folder": attempt(Path("toolvet-folder")),
        "elsewhere": attempt(Path(sys.argv[1])) if len(sys.argv) > 1 else "",
        "network": reaches_network(int(sys.argv[2])) if len(sys.argv) > 2 else False,
        "key": os.environ.get("SHOP_KEY", ""),
    }
    return {"content": [{"type": "text", "text": json.dumps(facts)}]}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        reply = {"jsonrpc": "2.0", "id": message["id"], "result": answer(message["method"])}
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
