"""A server on pipes, of the legacy era or the modern one, that reports its process. `bridged_server.py ERA`.

It writes its process id into the file STARTED, where that is in the environment. `say` of its tool may be `die`, `ask`,
`log`, `big`, or `until:PATH`: the answer comes when there is a file PATH.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path

MODERN = sys.argv[1:] == ["modern"]
MIRRORED = {"type": "integer", "x-mcp-header": "Level"}
PROPERTIES = {"say": {"type": "string"}, "level": MIRRORED}
TOOL = {"name": "whoami", "inputSchema": {"type": "object", "properties": PROPERTIES}}
COMPLETE = {"resultType": "complete"} if MODERN else {}
CACHED: dict[str, object] = {**COMPLETE, "ttlMs": 0, "cacheScope": "private"} if MODERN else {}
WRITING = threading.Lock()

if "STARTED" in os.environ:
    with Path(os.environ["STARTED"]).open("a", encoding="utf-8") as started:
        started.write(f"{os.getpid()}\n")


def write(message: dict[str, object]) -> None:
    with WRITING:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def answer(id_: object) -> None:
    seen = {"pid": os.getpid(), "id": id_}
    write({"id": id_, "result": {"content": [{"type": "text", "text": json.dumps(seen)}], **COMPLETE}})


def answer_when_there_is(path: Path, id_: object) -> None:
    while not path.exists():
        time.sleep(0.01)
    answer(id_)


for line in sys.stdin:
    message = json.loads(line)
    method, params = message.get("method"), message.get("params", {})
    meta = params.get("_meta", {})
    if method is None:
        write({"method": "notifications/message", "params": {"level": "info", "data": message.get("result")}})
    elif method == "server/discover" and not MODERN:
        write({"id": message["id"], "error": {"code": -32601, "message": "Method not found"}})
    elif method == "server/discover":
        found = {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}}
        write({"id": message["id"], "result": {**found, **CACHED}})
    elif method == "tools/list":
        write({"id": message["id"], "result": {"tools": [TOOL], **CACHED}})
    elif method == "tools/call":
        say = params["arguments"].get("say")
        if say == "die":
            os._exit(3)
        if say == "ask":
            write({"id": "s-1", "method": "sampling/createMessage", "params": {}})
        if "progressToken" in meta:
            told = {"progressToken": meta["progressToken"], "progress": 1}
            write({"method": "notifications/progress", "params": told})
        if say and say.startswith("until:"):
            waiting = (Path(say.removeprefix("until:")), message["id"])
            threading.Thread(target=answer_when_there_is, args=waiting, daemon=True).start()
            continue
        if say == "log":
            write({"method": "notifications/message", "params": {"level": "info", "data": "called"}})
        answer(message["id"])
    elif method == "initialize" and params.get("protocolVersion") == "refuse":
        write({"id": message["id"], "error": {"code": -32602, "message": "no"}})
    elif "id" in message:
        info = {"name": "bridged", "version": "1"}
        told = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": info}
        write({"id": message["id"], "result": told})
