"""The proxy as a program before a scripted server at a URL, and what both say."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from tests.proxy.http_world import EVENTS, Answering, Server

VERSION = "2026-07-28"
META = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "a client", "version": "1"},
}
GOOD = {"title": "Emma"}
SAID = {"content": [{"type": "text", "text": "Emma, 1815"}]}
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a client", "version": "1"}}
OPENED = {"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "books", "version": "1"}}


class FrontEnd:
    """The proxy as a program, and a client that sees every byte of its lines."""

    def __init__(self, process: asyncio.subprocess.Process, server: Server, port: int) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.process = process
        self.server = server
        self.port = port
        self._stdin, self._stdout, self.stderr = process.stdin, process.stdout, process.stderr

    def write(self, line: bytes) -> None:
        self._stdin.write(line + b"\n")

    async def line(self) -> bytes:
        line = await self._stdout.readline()
        assert line.endswith(b"\n"), (line, await self.stderr.read())
        return line[:-1]

    async def read(self) -> Any:
        return json.loads(await self.line())

    async def open(self) -> None:
        self.write(request(0, "initialize", **OPENING))
        assert (await self.read())["result"] == OPENED
        self.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')

    async def end(self) -> int:
        self._stdin.close()
        return await self.process.wait()


@asynccontextmanager
async def fronted(
    answering: Answering, *words: str, kind: type[Server] = Server, **env: str
) -> AsyncGenerator[FrontEnd]:
    server = kind(answering)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=1 << 24)
    port = listener.sockets[0].getsockname()[1]
    command = (sys.executable, "-m", "toolvet", "proxy", *words, f"http://127.0.0.1:{port}/mcp")
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command, stdin=pipe, stdout=pipe, stderr=pipe, limit=1 << 24, env={**os.environ, **env}
    )
    try:
        yield FrontEnd(process, server, port)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
        listener.close()


def run(
    answering: Answering,
    test: Callable[[FrontEnd], Awaitable[None]],
    *words: str,
    kind: type[Server] = Server,
    **env: str,
) -> None:
    async def going() -> None:
        async with fronted(answering, *words, kind=kind, **env) as front:
            await test(front)

    asyncio.run(asyncio.wait_for(going(), 60))


def request(id_: object, method: str, **params: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id_, "method": method, "params": params}).encode()


def events(*messages: bytes, first_id: int | None = None) -> bytes:
    blocks = []
    for number, message in enumerate(messages):
        id_ = b"" if first_id is None else b"id: %d\n" % (first_id + number)
        blocks.append(b"event: message\n" + id_ + b"data: " + message + b"\n\n")
    return b"".join(blocks)


def stream(*fields: str) -> bytes:
    """The head of a stream that ends when the connection does."""
    lines = ["HTTP/1.1 200 OK", f"Content-Type: {EVENTS}", "Connection: close", *fields]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"
