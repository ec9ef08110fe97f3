"""The bridge on a real socket before `bridged_server.py`, and a client that sees every byte."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from tests.proxy.http_world import Answer, Client

from toolvet.proxy.bridge.bridge import Bridge
from toolvet.proxy.http.front import FrontEnd
from toolvet.proxy.http.proxied_server import Address, ProxiedServer
from toolvet.proxy.http.request_filter import Listen, RequestFilter
from toolvet.proxy.http.serve import listening
from toolvet.proxy.record.recorder import Recorder
from toolvet.proxy.session import Policies, ProxySettings

SERVER = str(Path(__file__).with_name("bridged_server.py"))
VERSION = "2026-07-28"
EVENTS = "Accept: text/event-stream"
INITIALIZE = {"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}}}


class Bridged:
    def __init__(self, port: int) -> None:
        self.port = port

    async def connect(self) -> Client:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        return Client(reader, writer, self.port)

    async def ask(self, message: dict[str, object], *fields: str, method: str = "POST") -> Answer:
        client = await self.connect()
        body = json.dumps({"jsonrpc": "2.0", **message}).encode() if method == "POST" else b""
        client.send(body, *fields, method=method)
        answer = await client.answer()
        client.close()
        return answer

    async def opened(self) -> str:
        answer = await self.ask(INITIALIZE)
        return next(line for line in answer.head.split("\r\n") if line.lower().startswith("mcp-session-id:"))

    async def call(self, session: str, id_: object, say: str = "") -> Answer:
        return await self.ask(
            {"id": id_, "method": "tools/call", "params": {"name": "whoami", "arguments": {"say": say}}}, session
        )

    async def listening(self, session: str, *fields: str) -> Client:
        """A client whose stream by GET is open."""
        client = await self.connect()
        client.send(b"", session, EVENTS, *fields, method="GET")
        assert (await client.head()).status == 200
        return client

    async def calling(self, session: str, id_: object, say: str) -> tuple[Client, str]:
        """A client that has called the tool and read nothing but the event that opens the stream; that event's id."""
        client = await self.connect()
        params = {"name": "whoami", "arguments": {"say": say}}
        message = {"jsonrpc": "2.0", "id": id_, "method": "tools/call", "params": params}
        client.send(json.dumps(message).encode(), session)
        assert (await client.head()).status == 200
        opening = await heard(client, "data: ")
        assert "retry: 1000" in opening
        return client, opening.partition("id: ")[2].partition("\n")[0]

    async def resumed(self, session: str, last: str) -> Answer:
        """The rest of a stream, to its end."""
        return await self.ask({}, session, EVENTS, f"Last-Event-ID: {last}", method="GET")

    async def modern(self, id_: object, say: str = "", **meta: object) -> Answer:
        params = {"name": "whoami", "arguments": {"say": say}, "_meta": {**META, **meta}}
        return await self.ask({"id": id_, "method": "tools/call", "params": params}, *MODERN_CALL)


META = {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
MODERN_CALL = (f"MCP-Protocol-Version: {VERSION}", "Mcp-Method: tools/call", "Mcp-Name: whoami")


@asynccontextmanager
async def bridged(era: str, settings: ProxySettings | None = None, **environment: str) -> AsyncGenerator[Bridged]:
    bridge = Bridge([sys.executable, SERVER, era], {**os.environ, **environment}, None)
    where = Listen("127.0.0.1", 0)
    with Recorder([]) as recorder:
        front = FrontEnd(
            ProxiedServer(bridge, Address(), Policies(settings), recorder),
            RequestFilter(where),
            recorder.render_metrics,
        )
        async with listening(front, where) as (_, port):
            yield Bridged(port)


def run(
    era: str, test: Callable[[Bridged], Awaitable[None]], settings: ProxySettings | None = None, **environment: str
) -> None:
    async def going() -> None:
        async with bridged(era, settings, **environment) as bridge:
            await test(bridge)

    asyncio.run(asyncio.wait_for(going(), 60))


def seen(message: dict[str, object]) -> dict[str, object]:
    found = json.loads(message["result"]["content"][0]["text"])  # type: ignore[index]
    assert isinstance(found, dict)
    return found


def told(answer: Answer) -> dict[str, object]:
    """The answer of a session: the last event with a message."""
    return events(answer)[-1]


def events(answer: Answer) -> list[dict[str, object]]:
    lines = [line for line in answer.body.decode().split("\n") if line.startswith("data: ")]
    return [json.loads(line[6:]) for line in lines if line[6:]]


def is_alive(pid: object) -> bool:
    assert isinstance(pid, int)
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return True
    return False


async def heard(client: Client, text: str) -> str:
    """Read until `text` came; return everything read."""
    found = b""
    while text.encode() not in found:
        line = await client.reader.readline()
        assert line, found
        found += line
    return found.decode()
