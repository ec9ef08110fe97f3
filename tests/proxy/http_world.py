"""A server written request by request, the proxy before it, and a client that sees every byte: all on real sockets."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from toolvet.proxy.http.front import FrontEnd
from toolvet.proxy.http.open_connections import Limits
from toolvet.proxy.http.proxied_server import Address, ProxiedServer
from toolvet.proxy.http.request_filter import Listen, RequestFilter
from toolvet.proxy.http.serve import listening
from toolvet.proxy.http.upstream import HttpUpstream
from toolvet.proxy.record.recorder import Recorder, StampedNote
from toolvet.proxy.session import Policies, ProxySettings

TOOL = {
    "name": "find_book",
    "inputSchema": {
        "type": "object",
        "properties": {"title": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["title"],
    },
}
JSON = "application/json"
EVENTS = "text/event-stream"


class Asked:
    """A request as the server got it."""

    def __init__(self, head: bytes, body: bytes) -> None:
        self.head = head
        self.body = body
        lines = head.decode("latin-1").split("\r\n")
        self.method, self.target, _ = lines[0].split(" ")
        self.fields = {line.partition(":")[0].lower(): line.partition(":")[2].strip() for line in lines[1:] if line}

    @property
    def message(self) -> dict[str, Any]:
        found = json.loads(self.body)
        assert isinstance(found, dict)
        return found


Writer = asyncio.StreamWriter
Answering = Callable[[Asked, Writer], Awaitable[None]]


def reply(body: bytes, kind: str = JSON, status: str = "200 OK", *fields: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *fields]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def result(id_: object, value: object) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id_, "result": value}).encode()


def call(id_: object, arguments: object, **meta: object) -> bytes:
    params: dict[str, object] = {"name": "find_book", "arguments": arguments}
    if meta:
        params["_meta"] = meta
    return json.dumps({"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}).encode()


class Server:
    """Answers tools/list by itself, and all else by `answering`. `asked` is what it got, in order."""

    def __init__(self, answering: Answering) -> None:
        self.asked: list[Asked] = []
        self.connections = 0
        # Set when the other side closed a connection.
        self.left = asyncio.Event()
        self._answering = answering

    async def serve(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        self.connections += 1
        try:
            while True:
                asked = await read_request(reader)
                self.asked.append(asked)
                if b'"tools/list"' in asked.body:
                    writer.write(reply(result(asked.message["id"], {"tools": [TOOL]})))
                else:
                    await self._answering(asked, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.left.set()
            writer.close()

    def methods(self) -> list[object]:
        return [asked.message.get("method") for asked in self.asked if asked.method == "POST"]


async def read_request(reader: asyncio.StreamReader) -> Asked:
    head = await reader.readuntil(b"\r\n\r\n")
    fields = Asked(head, b"").fields
    if fields.get("transfer-encoding") == "chunked":
        body = await read_chunks(reader)
    else:
        body = await reader.readexactly(int(fields.get("content-length", "0")))
    return Asked(head, body)


async def read_chunks(reader: asyncio.StreamReader) -> bytes:
    parts: list[bytes] = []
    while size := int(await reader.readline(), 16):
        parts.append(await reader.readexactly(size))
        await reader.readexactly(2)
    await reader.readexactly(2)
    return b"".join(parts)


class Exporter:
    """Keeps the notes."""

    def __init__(self) -> None:
        self.notes: list[dict[str, Any]] = []

    def write(self, seen: Sequence[StampedNote]) -> None:
        self.notes += [item.note.to_dict() for item in seen]  # type: ignore[attr-defined]

    def close(self) -> None:
        pass


class Proxy:
    def __init__(self, port: int, recorder: Recorder, sink: Exporter, server: Server, upstream_port: int = 0) -> None:
        self.port = port
        self.upstream_port = upstream_port
        self.server = server
        self._recorder = recorder
        self._sink = sink

    def notes(self, event: str) -> list[dict[str, Any]]:
        assert self._recorder.flush()
        return [note for note in self._sink.notes if note["event"] == event]

    async def connect(self) -> "Client":
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 24)
        return Client(reader, writer, self.port)

    async def post(self, body: bytes, *fields: str) -> "Answer":
        client = await self.connect()
        try:
            client.send(body, *fields)
            return await client.answer()
        finally:
            client.close()


class Answer:
    def __init__(self, head: bytes, body: bytes) -> None:
        self.head = head.decode("latin-1")
        self.status = int(self.head.split(" ")[1])
        self.body = body

    @property
    def message(self) -> dict[str, Any]:
        found = json.loads(self.body)
        assert isinstance(found, dict)
        return found


class Client:
    def __init__(self, reader: asyncio.StreamReader, writer: Writer, port: int) -> None:
        self.reader = reader
        self.writer = writer
        self._port = port

    def send(self, body: bytes, *fields: str, method: str = "POST", target: str = "/mcp") -> None:
        lines = [f"{method} {target} HTTP/1.1"]
        if not any(field.lower().startswith("host:") for field in fields):
            lines.append(f"Host: 127.0.0.1:{self._port}")
        if method == "POST":
            lines += [f"Content-Type: {JSON}", f"Content-Length: {len(body)}"]
        self.writer.write("\r\n".join([*lines, *fields]).encode() + b"\r\n\r\n" + body)

    async def head(self) -> Answer:
        return Answer(await self.reader.readuntil(b"\r\n\r\n"), b"")

    async def answer(self) -> Answer:
        head = await self.reader.readuntil(b"\r\n\r\n")
        fields = dict(line.lower().split(": ", 1) for line in head.decode("latin-1").split("\r\n")[1:] if line)
        if fields.get("transfer-encoding") == "chunked":
            return Answer(head, await read_chunks(self.reader))
        return Answer(head, await self.reader.readexactly(int(fields.get("content-length", "0"))))

    def close(self) -> None:
        self.writer.close()


@asynccontextmanager
async def world(
    answering: Answering,
    settings: ProxySettings | None = None,
    *,
    limits: Limits | None = None,
    token: str | None = None,
    path: str = "/mcp",
) -> AsyncGenerator[Proxy]:
    """A server, and the proxy before it."""
    server = Server(answering)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=1 << 24)
    port = listener.sockets[0].getsockname()[1]
    upstream = HttpUpstream(f"http://127.0.0.1:{port}{path}")
    address = Address(upstream.path, upstream.target, upstream.origin)
    where = Listen("127.0.0.1", 0)
    sink = Exporter()
    with Recorder([sink]) as recorder:
        service = ProxiedServer(upstream, address, Policies(settings), recorder)
        front = FrontEnd(service, RequestFilter(where, token), recorder.render_metrics)
        try:
            async with listening(front, where, limits) as (_, ours):
                yield Proxy(ours, recorder, sink, server, port)
        finally:
            listener.close()
