"""A server that misbehaves in one way: `python hostile_server.py MODE`. Standard library only.

It speaks the legacy era, refuses `server/discover` with -32601, and lists one tool, `echo`, unless MODE says otherwise.
"""

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, TypeAlias

Message: TypeAlias = dict[str, Any]

MODE = sys.argv[1] if len(sys.argv) > 1 else "plain"
TOOL = {"name": "echo", "description": "Echo.", "inputSchema": {"type": "object"}}
ILLEGAL_TOOLS = [{**TOOL, "name": "first"}, {"name": 7, "inputSchema": None}, None, "tool", {**TOOL, "name": "last"}]


def write(data: bytes) -> None:
    """Write bytes and a line end."""
    sys.stdout.buffer.write(data + b"\n")
    sys.stdout.buffer.flush()


def send(message: Message) -> None:
    """Write one message."""
    write(json.dumps({"jsonrpc": "2.0", **message}).encode())


def answer(request: Message, result: object) -> None:
    """Answer a request."""
    send({"id": request["id"], "result": result})


def refuse(request: Message, code: int, message: str) -> None:
    """Refuse a request."""
    send({"id": request["id"], "error": {"code": code, "message": message}})


def text(value: str) -> Message:
    """A tool result."""
    return {"content": [{"type": "text", "text": value}]}


class Server:
    """One process."""

    def __init__(self) -> None:
        """Nothing was asked yet."""
        self.first: str | None = None
        self.held: list[Message] = []
        self.replies: list[Message] = []
        self.instructions = ""

    def handle(self, message: Message) -> None:
        """One message from the client."""
        method: str = message.get("method", "")
        if "method" not in message:
            self.replies.append(message)
            return
        if self.first is None:
            self.first = method
        if "id" not in message:
            self.notified(method, message)
        elif method == "server/discover":
            self.discover(message)
        elif method == "initialize":
            self.initialize(message)
        elif method == "tools/list":
            self.list(message)
        elif method == "tools/call":
            self.call(message)
        else:
            refuse(message, -32601, "Method not found")

    def notified(self, method: str, message: Message) -> None:
        """A notification: `late` answers what was cancelled, `notices` refuses all, `records` remembers."""
        self.held.append(message)
        if MODE == "notices":
            send({"id": None, "error": {"code": -32601, "message": f"Method not found: {method}"}})
        if MODE == "late" and method == "notifications/cancelled":
            send({"id": message["params"]["requestId"], "result": text("late")})

    def discover(self, message: Message) -> None:
        """Refuse, hang, die, or answer."""
        if MODE in ("hangs_on_discover", "hangs_after_discover", "slow_modern"):
            self.held.append(message)
            return
        if MODE == "dies_on_discover":
            sys.stderr.write("panic: unknown method server/discover" + "\n")
            os._exit(3)
        if MODE == "answers_anything":
            answer(message, {})
        elif MODE == "modern_but_strict":
            send({"id": message["id"], "error": {"code": -32021, "message": "Missing", "data": {}}})
        elif MODE == "other_modern":
            data = {"supported": ["2025-11-25"], "requested": "2026-07-28"}
            send({"id": message["id"], "error": {"code": -32022, "message": "Unsupported", "data": data}})
        else:
            refuse(message, -32601, "Method not found")

    def initialize(self, message: Message) -> None:
        """Introduce ourselves."""
        spoiled = self.first == "server/discover"
        if MODE == "slow_modern":
            meta = {"io.modelcontextprotocol/serverInfo": {"name": "slow", "version": "2"}}
            answer(self.held[0], {"supportedVersions": ["2026-07-28"], "capabilities": {}, "_meta": meta})
            refuse(message, -32600, "this connection is modern")
            return
        if MODE == "hangs_after_discover" and spoiled:
            return
        if (MODE == "locks" and spoiled) or MODE == "refuses":
            refuse(message, -32600, "wrong era")
            return
        version = {"from_the_future": "2099-01-01"}.get(MODE, message["params"]["protocolVersion"])
        result = {
            "protocolVersion": version,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "hostile", "version": "1"},
            "instructions": self.instructions,
        }
        if MODE == "introduces_nothing":
            result = {"serverInfo": "me", "capabilities": []}
        answer(message, result)

    def list(self, message: Message) -> None:
        """One page, or as many as the mode makes of it."""
        cursor = message.get("params", {}).get("cursor")
        if MODE == "cycle":
            following = {None: "", "": "b", "b": ""}[cursor]
            answer(message, {"tools": [{**TOOL, "name": f"after {cursor}"}], "nextCursor": following})
        elif MODE == "endless":
            answer(message, {"tools": [TOOL], "nextCursor": f"{int(cursor or 0) + 1}"})
        elif MODE == "illegal_tools":
            answer(message, {"tools": ILLEGAL_TOOLS})
        elif MODE == "second_page_fails":
            if cursor is None:
                answer(message, {"tools": [TOOL], "nextCursor": "more"})
            else:
                refuse(message, -32603, "out of pages")
        elif MODE == "no_tools":
            answer(message, {"tool": []})
        elif MODE == "null_cursor":
            answer(message, {"tools": [TOOL], "nextCursor": None})
        elif MODE == "number_cursor":
            answer(message, {"tools": [TOOL], "nextCursor": 2})
        else:
            answer(message, {"tools": [TOOL]})

    def call(self, message: Message) -> None:
        """Call the tool, in the mode's manner."""
        special = getattr(self, f"call_{MODE}", None)
        if special is not None:
            special(message)
        else:
            answer(message, text(json.dumps(message["params"].get("arguments"))))

    def call_noise(self, message: Message) -> None:
        """Print text that is not a message, before and after."""
        write(b"Debug: calling \xff\x1b[31mecho\x1b[0m")
        write(b"")
        answer(message, text("ok"))
        write(b'{"jsonrpc": "2.0", "method": 7}')
        write(b"[1, 2, 3]")

    def call_out_of_order(self, message: Message) -> None:
        """Hold calls until three are there, then answer them last first."""
        self.held.append(message)
        calls = [held for held in self.held if held.get("method") == "tools/call"]
        if len(calls) == 3:
            for call in reversed(calls):
                answer(call, text(str(call["params"]["arguments"]["n"])))

    def call_twice(self, message: Message) -> None:
        """Answer twice, and answer a request that was never sent."""
        answer(message, text("first"))
        answer(message, text("second"))
        answer({"id": 99_999}, text("unasked"))
        answer({"id": "mine"}, text("unasked"))

    def call_never(self, message: Message) -> None:
        """Do not answer `never`; answer all other requests with what was received."""
        if message["params"]["name"] != "never":
            answer(message, text(json.dumps(self.held)))

    def call_late(self, message: Message) -> None:
        """Answer only once cancelled (see notified); other names at once."""
        if message["params"]["name"] != "never":
            answer(message, text("ok"))

    def call_dies(self, _message: Message) -> None:
        """Die in the middle of an answer."""
        sys.stderr.write("Traceback: it hurts" + "\n")
        sys.stdout.buffer.write(b'{"jsonrpc":"2.0","id":')
        sys.stdout.buffer.flush()
        os._exit(7)

    def call_killed(self, _message: Message) -> None:
        """Die of a signal."""
        os.kill(os.getpid(), signal.SIGKILL)

    def call_closes_stdout(self, _message: Message) -> None:
        """Stay alive, but mute."""
        os.close(1)

    def call_big(self, message: Message) -> None:
        """Answer with as many bytes as asked."""
        answer(message, text("x" * message["params"]["arguments"]["bytes"]))

    def call_both_ways(self, message: Message) -> None:
        """Write a flood while the client writes one; stdin is not read meanwhile."""
        for _ in range(200):
            send({"method": "notifications/message", "params": {"level": "info", "data": "y" * 20_000}})
        answer(message, text(str(len(message["params"]["arguments"]["padding"]))))

    def call_stderr_flood(self, message: Message) -> None:
        """Write 4 MB to stderr first."""
        for index in range(40_000):
            sys.stderr.write(f"line {index} {'z' * 90}\n")
        sys.stderr.flush()
        answer(message, text("ok"))

    def call_null_id(self, message: Message) -> None:
        """Refuse without saying what."""
        send({"id": None, "error": {"code": -32700, "message": f"Parse error in {message['method']}"}})

    def call_string_id(self, message: Message) -> None:
        """Return the id as a string."""
        answer({"id": str(message["id"])}, text("ok"))

    def call_both(self, message: Message) -> None:
        """Result and error at once."""
        send({"id": message["id"], "result": {}, "error": {"code": 1, "message": "and yet"}})

    def call_nan(self, message: Message) -> None:
        """Python's NaN."""
        answer(message, {"content": [], "structuredContent": float("nan")})

    def call_not_utf8(self, message: Message) -> None:
        """Latin-1."""
        write(b'{"jsonrpc": "2.0", "id": %d, "result": {"content": [{"text": "caf\xe9"}]}}' % message["id"])

    def call_deep(self, message: Message) -> None:
        """A hundred thousand arrays in each other."""
        write(b'{"jsonrpc": "2.0", "id": %d, "result": %s}' % (message["id"], b"[" * 100_000 + b"]" * 100_000))

    def call_batch(self, message: Message) -> None:
        """Answer with a batch of one."""
        write(json.dumps([{"jsonrpc": "2.0", "id": message["id"], "result": {}}]).encode())

    def call_asks(self, message: Message) -> None:
        """Send the client four requests, and answer with its replies."""
        for number, method in enumerate(["ping", "roots/list", "sampling/createMessage", "no/such"]):
            send({"id": f"q{number}", "method": method, "params": {}})
        while len(self.replies) < 4:
            self.handle(json.loads(sys.stdin.readline()))
        answer(message, text(json.dumps(self.replies)))

    def call_progress(self, message: Message) -> None:
        """Report progress, and something odd, first."""
        for done in (1, 2):
            send({"method": "notifications/progress", "params": {"progressToken": "p", "progress": done}})
        answer(message, text("ok"))

    def call_environment(self, message: Message) -> None:
        """Answer with our environment and folder."""
        answer(message, text(json.dumps({"env": dict(os.environ), "cwd": str(Path.cwd())})))


def main() -> None:
    """Read until stdin ends."""
    server = Server()
    if MODE == "garbage":
        write(bytes(range(256)) * 4)
        write(b"Welcome to the shop! \x1b]0;title\x07Type help.")
    if MODE == "silent":
        threading.Event().wait()
    if MODE == "exits":
        sys.stderr.write("\x1b[1mError: cannot open config.yaml\x1b[0m\nhint: run setup first" + "\n")
        sys.exit(2)
    if MODE == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if MODE in ("spawns", "stubborn"):
        code = "import signal, threading; signal.signal(signal.SIGTERM, signal.SIG_IGN); threading.Event().wait()"
        child = subprocess.Popen([sys.executable, "-c", code])
        server.instructions = f"{os.getpid()} {child.pid}"
    if MODE == "leaves_child_and_exits":
        # The child keeps our stdout open: only the exit itself shows that no answer will come.
        child = subprocess.Popen([sys.executable, "-c", "import threading; threading.Event().wait()"])
        sys.stderr.write(f"{child.pid}\n")
        sys.exit(4)
    for line in sys.stdin.buffer:
        server.handle(json.loads(line))
    if MODE == "stubborn":
        threading.Event().wait()


if __name__ == "__main__":
    main()
