"""The server of the soak, without any library and quick: raw JSON lines, or raw HTTP with `--http PORT`.

`late` is answered after the calls that follow it, `fail` fails, `big` sends much. `notifications/noise` makes it write
what no client waits for.
"""

import asyncio
import json
import os
import select
import sys
from typing import Any, Final

BIG: Final = 64 * 1024
_LATE_SECONDS: Final = 0.02
_INTEGERS: Final = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
_TOOLS: Final = [
    {"name": name, "inputSchema": _INTEGERS, "annotations": {"readOnlyHint": True}}
    for name in ("add", "fail", "big", "late")
]
NOISE: Final = (
    b"this is not JSON",
    b'{"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "noise"}}',
    b'{"jsonrpc": "2.0", "id": "unknown", "result": {}}',
    b"",
)


def reply(message: dict[str, Any]) -> bytes:
    """The answer to a request, as bytes."""
    method, params = message["method"], message.get("params", {})
    modern = "_meta" in params
    if method == "tools/call":
        result = _call(params["name"], params["arguments"])
    elif method == "tools/list":
        result = {"tools": _TOOLS, **({"ttlMs": 3_600_000, "cacheScope": "private"} if modern else {})}
    elif method == "initialize":
        result = {
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "soak", "version": str(os.getpid())},
        }
    else:
        result = {}
    if modern:
        result = {"resultType": "complete", **result}
    return json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}).encode()


def _call(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    a = arguments["a"]
    if tool == "fail":
        return {"content": [{"type": "text", "text": f"There is no record {a}"}], "isError": True}
    text = str(a).ljust(BIG, "x") if tool == "big" else str(a + arguments["b"])
    return {"content": [{"type": "text", "text": text}]}


def _serve_lines() -> None:
    rest = b""
    late: list[bytes] = []
    while True:
        if late and not select.select([0], [], [], _LATE_SECONDS)[0]:
            # No call follows them.
            _write_lines(late)
            late = []
        chunk = os.read(0, 1 << 16)
        if not chunk:
            break
        *lines, rest = (rest + chunk).split(b"\n")
        out: list[bytes] = []
        kept, late = late, []
        for line in lines:
            message = json.loads(line)
            if "id" in message:
                is_late = message["method"] == "tools/call" and message["params"]["name"] == "late"
                (late if is_late else out).append(reply(message))
            elif message["method"] == "notifications/noise":
                out += NOISE
        _write_lines([*out, *kept])
    _write_lines(late)


def _write_lines(lines: list[bytes]) -> None:
    _write(b"".join(line + b"\n" for line in lines))


def _write(data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(1, view) :]


class _Connection(asyncio.Protocol):
    """HTTP/1.1 with lengths, as the proxy writes it."""

    def __init__(self) -> None:
        self._data = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._data += data
        while b"\r\n\r\n" in self._data:
            head, _, rest = self._data.partition(b"\r\n\r\n")
            lines = head.decode("latin-1").lower().split("\r\n")
            length = next((int(line[15:]) for line in lines if line.startswith("content-length:")), 0)
            if len(rest) < length:
                return
            body, self._data = rest[:length], rest[length:]
            self._transport.write(self._answer(lines[0], body))

    @staticmethod
    def _answer(first: str, body: bytes) -> bytes:
        if not first.startswith("post"):
            return b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"
        message = json.loads(body)
        if "id" not in message:
            return b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"
        said = reply(message)
        return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%b" % (len(said), said)


async def _serve_http(port: int) -> None:
    server = await asyncio.get_running_loop().create_server(_Connection, "127.0.0.1", port)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--http"]:
        asyncio.run(_serve_http(int(sys.argv[2])))
    else:
        _serve_lines()
