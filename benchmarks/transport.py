"""Measure a call in our transport beside a bare client and the official SDK's, on the same server in one run.

    python -m benchmarks.transport [--calls 400] [--rounds 5]

The server is trivial and its own process. "added" is what a client adds to the bare client's round trip (blocking
reads and writes, no JSON decoding): medians of rounds that take turns, so that other load affects all alike.
"""

import argparse
import asyncio
import http.client
import json
import statistics
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import perf_counter
from typing import Any
from urllib.parse import urlsplit

from benchmarks.harness import Report
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from mcp import ClientSession, StdioServerParameters
from toolvet.mcp.transport import Answer, HttpTarget, StdioTarget, Target, open_session

TARGET_MS = 0.15
CALL: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": {}}}
Call = Callable[[], Awaitable[object]]


def reply(message: dict[str, Any]) -> bytes | None:
    """The server, both times."""
    if "id" not in message:
        return None
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": message["id"]}
    if message["method"] == "initialize":
        answer["result"] = {
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "echo", "version": "1"},
        }
    elif message["method"] == "tools/list":
        answer["result"] = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
    elif message["method"] == "tools/call":
        answer["result"] = {"content": [{"type": "text", "text": "x" * 200}], "isError": False}
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    return json.dumps(answer).encode()


def serve_stdio() -> None:
    for line in sys.stdin.buffer:
        if (answer := reply(json.loads(line))) is not None:
            sys.stdout.buffer.write(answer + b"\n")
            sys.stdout.buffer.flush()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # Head and body in one packet.
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        answer = reply(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(202 if answer is None else 200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer or b"")))
        self.end_headers()
        self.wfile.write(answer or b"")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class says so.
        pass


def serve_http() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_port, flush=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sys.stdin.read()
    server.shutdown()


@asynccontextmanager
async def bare_stdio() -> AsyncIterator[Call]:
    """A pipe, and two blocking calls."""
    command = [sys.executable, "-m", "benchmarks.transport", "--serve-stdio"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: ASYNC220 - bare.
        assert process.stdin is not None
        assert process.stdout is not None
        request = json.dumps(CALL).encode() + b"\n"
        write, flush, read = process.stdin.write, process.stdin.flush, process.stdout.readline

        async def call() -> object:
            write(request)
            flush()
            return read()

        yield call
        process.stdin.close()


@asynccontextmanager
async def bare_http(url: str) -> AsyncIterator[Call]:
    """A kept connection of the standard library."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port)
    body = json.dumps(CALL).encode()

    async def call() -> object:
        connection.request("POST", parts.path, body, {"content-type": "application/json"})
        return connection.getresponse().read()

    yield call
    connection.close()


@asynccontextmanager
async def ours(target: Target) -> AsyncIterator[Call]:
    async with open_session(target, era="legacy", timeout=20) as session:

        async def call() -> object:
            answer = await session.call_tool("echo", {}, timeout=20)
            assert isinstance(answer, Answer)
            return answer

        yield call


@asynccontextmanager
async def sdk(transport: Any) -> AsyncIterator[Call]:
    async with transport as streams, ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        await session.list_tools()

        async def call() -> object:
            return await session.call_tool("echo", {})

        yield call


async def median_ms(call: Call, calls: int) -> float:
    times: list[float] = []
    for _ in range(calls):
        started = perf_counter()
        await call()
        times.append(perf_counter() - started)
    return statistics.median(times) * 1000


async def compare(clients: dict[str, Any], calls: int, rounds: int) -> dict[str, float]:
    """The best median of each client, in turns."""
    best: dict[str, float] = {}
    async with AsyncExitStack() as stack:
        ready = {name: await stack.enter_async_context(client) for name, client in clients.items()}
        for call in ready.values():
            await median_ms(call, 50)
        for _ in range(rounds):
            for name, call in ready.items():
                best[name] = min(best.get(name, 1e9), await median_ms(call, calls))
    return best


def show(report: Report, title: str, best: dict[str, float]) -> None:
    added = {name: value - best["bare"] for name, value in best.items()}
    lost = {"bare": "reads no JSON"}
    rows = [
        [name, f"{value:.3f} ms", f"{added[name]:.3f} ms", f"{added[name] / added['toolvet']:.1f}", lost.get(name, "")]
        for name, value in best.items()
    ]
    about = f"by the clock; the goal over stdio is {TARGET_MS} ms added"
    report.table(
        f"A client's `tools/call`, {title}", ["", "round trip", "added", "times ours", "lost"], rows, about=about
    )


async def run(report: Report, calls: int, rounds: int) -> None:
    stdio = [sys.executable, "-m", "benchmarks.transport", "--serve-stdio"]
    clients = {
        "bare": bare_stdio(),
        "toolvet": ours(StdioTarget(stdio[0], tuple(stdio[1:]))),
        "sdk": sdk(stdio_client(StdioServerParameters(command=stdio[0], args=stdio[1:]))),
    }
    show(report, "stdio", await compare(clients, calls, rounds))
    command = [sys.executable, "-m", "benchmarks.transport", "--serve-http"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:  # noqa: ASYNC220
        assert server.stdin is not None
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/mcp"
        clients = {
            "bare": bare_http(url),
            "toolvet": ours(HttpTarget(url)),
            "sdk": sdk(streamable_http_client(url)),
        }
        show(report, "HTTP", await compare(clients, calls, rounds))
        server.stdin.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--serve-stdio", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--serve-http", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve_stdio:
        serve_stdio()
    elif options.serve_http:
        serve_http()
    else:
        with Report("transport", peers=["mcp"]) as report:
            asyncio.run(run(report, options.calls, options.rounds))


if __name__ == "__main__":
    main()
