"""A real stdio MCP server with one tool that leaves a daemon behind: `daemon.py FOLDER [deaf]`. Standard library only.

The daemon is double-forked, has a session of its own and closed pipes. It writes its process id into FOLDER and sleeps;
with `deaf` it ignores SIGTERM. The server starts it before it answers anything, and once more at each call.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

folder = Path(sys.argv[1])
deaf = "deaf" in sys.argv


def leave_daemon() -> None:
    """The classic double fork; returns once the daemon has written its id."""
    reader, writer = os.pipe()
    middle = os.fork()
    if middle:
        os.waitpid(middle, 0)
        os.close(writer)
        os.read(reader, 1)
        os.close(reader)
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    os.setsid()
    if deaf:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    (folder / str(os.getpid())).touch()
    os.write(writer, b".")
    os.closerange(0, 100)
    time.sleep(600)
    os._exit(0)


leave_daemon()
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    match message.get("method"):
        case "initialize":
            body: dict[str, object] = {
                "result": {
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "daemon", "version": "1"},
                }
            }
        case "tools/list":
            tool = {"name": "get_time", "description": "The time.", "inputSchema": {"type": "object"}}
            body = {"result": {"tools": [tool]}}
        case "tools/call":
            leave_daemon()
            body = {"result": {"content": [{"type": "text", "text": "noon"}]}}
        case "ping":
            body = {"result": {}}
        case _:
            body = {"error": {"code": -32601, "message": "Method not found"}}
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}) + "\n")
    sys.stdout.flush()
