"""A hostile but legal server over HTTP: what a client gets through the proxy is what the server sent, byte for byte."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest
from tests.proxy.hostile_legal_server import DEEPER, PAGES, Hostile
from tests.proxy.http_world import EVENTS, Client, Writer, read_request, reply
from tests.proxy.stdio_client import HERE
from tests.proxy.test_differential import LEGAL, OFF, OPENING, SILENT, call, is_question, lists

from toolvet.mcp.wire import SseFramer
from toolvet.proxy.bridge.bridge import Bridge
from toolvet.proxy.http.front import FrontEnd
from toolvet.proxy.http.proxied_server import Address, ProxiedServer
from toolvet.proxy.http.request_filter import Listen, RequestFilter
from toolvet.proxy.http.serve import listening
from toolvet.proxy.http.upstream import HttpUpstream
from toolvet.proxy.record.recorder import Recorder
from toolvet.proxy.session import Policies, ProxySettings

# Their answers come with another message, or never: over HTTP that is another exchange.
ELSEWHERE = (b'"waits"', b'"asks"', b"subscriptions/listen", b'"result"', b'"error"', b"cancelled")
LINES = [
    line
    for turn in (*OPENING, *lists(), *LEGAL)
    for line in turn
    if not any(word in line for word in ELSEWHERE) and not line.lstrip().startswith(b"[")
]


class HostileServer:
    """Answers with JSON for one message, with events for more, and keeps the requests."""

    def __init__(self) -> None:
        self.hostile = Hostile()
        self.heard: list[bytes] = []

    async def serve(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        try:
            while True:
                asked = await read_request(reader)
                self.heard.append(asked.body)
                writer.write(answer(self.hostile.hears(asked.body)))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


def answer(lines: list[bytes]) -> bytes:
    if not lines:
        return reply(b"", status="202 Accepted")
    if len(lines) == 1:
        return reply(lines[0], "Application/JSON ; charset=utf-8", "200 Fine", "X-Future: 1", "x-future:  2")
    return reply(b"".join(map(event, enumerate(lines))), EVENTS)


def event(numbered: tuple[int, bytes]) -> bytes:
    """Spelled as the format allows: comments, fields in any order, any line end, unknown fields, two data lines."""
    number, line = numbered
    at = line.index(b",") + 1
    if number % 2:
        return b":\xf0\x9f\x98\x80\r\ndata:" + line.rstrip(b"\r") + b"\r\nid: \xc3\xa9\r\nfuture: x\r\n\r\n"
    return b"retry:5\nevent: message\ndata: " + line[:at] + b"\ndata:" + line[at:].rstrip(b"\r") + b"\n: bye\n\n"


async def asked(port: int, lines: list[bytes]) -> list[tuple[int, bytes]]:
    """Status and body of each answer, asked for one after another on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
    client = Client(reader, writer, port)
    found: list[tuple[int, bytes]] = []
    try:
        for line in lines:
            client.send(line, "Accept: application/json, text/event-stream")
            got = await client.answer()
            found.append((got.status, got.body))
    finally:
        client.close()
    return found


def run(settings: Mapping[str, object], test: Callable[[HostileServer, int, int], Awaitable[None]]) -> None:
    """`test` gets the server, its port, and that of the proxy before it."""

    async def going() -> None:
        server = HostileServer()
        listener = await asyncio.start_server(server.serve, "127.0.0.1", 0, limit=1 << 24)
        port = listener.sockets[0].getsockname()[1]
        upstream = HttpUpstream(f"http://127.0.0.1:{port}/mcp")
        address = Address(upstream.path, upstream.target, upstream.origin)
        where = Listen("127.0.0.1", 0)
        with Recorder([]) as recorder:
            policies = Policies(ProxySettings(**settings))  # type: ignore[arg-type]
            front = FrontEnd(
                ProxiedServer(upstream, address, policies, recorder),
                RequestFilter(where, None),
                recorder.render_metrics,
            )
            try:
                async with listening(front, where, None) as (_, ours):
                    await test(server, port, ours)
            finally:
                listener.close()

    asyncio.run(asyncio.wait_for(going(), 120))


@pytest.mark.parametrize("settings", [OFF, SILENT], ids=["all policies off", "default policies"])
def test_a_legal_conversation_is_the_same_byte_for_byte_in_both_directions(settings: Mapping[str, object]) -> None:
    async def test(server: HostileServer, port: int, ours: int) -> None:
        wanted = await asked(port, LINES)
        heard, server.heard = server.heard, []
        found = await asked(ours, LINES)
        for line, one, other in zip(LINES, wanted, found, strict=True):
            assert (line[:500], one[0], one[1][:2000]) == (line[:500], other[0], other[1][:2000])
        assert found == wanted
        assert heard == LINES
        assert [line for line in server.heard if not is_question(line)] == LINES

    run(settings, test)


def test_a_bad_call_before_any_list_is_answered_after_all_pages_were_read() -> None:
    async def test(server: HostileServer, port: int, ours: int) -> None:
        del port
        ((status, body),) = await asked(ours, [call(b"1", b"echo", b'{"text":1}')])
        assert status == 200
        assert json.loads(body)["result"]["isError"] is True
        cursors = [json.loads(question).get("params", {}).get("cursor") for question in server.heard]
        assert cursors == [cursor for cursor, _ in PAGES]

    run(SILENT, test)


OPEN = b'{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}'


def exact(data: bytes) -> object:
    """Decoded, with numbers as they are spelled; the bytes, where no decoder goes so deep."""
    if DEEPER in data:
        return data
    return json.loads(data, parse_int=lambda spelled: (spelled,), parse_float=lambda spelled: (spelled,))


def said(body: bytes) -> list[bytes]:
    """The messages of an answer, be it JSON or events."""
    if not body.startswith((b"event:", b"data:", b"id:", b":", b"retry:")):
        return [body]
    return [event.data for event in SseFramer().feed(body) if event.data]


def test_before_a_command_each_answer_says_what_the_server_said(tmp_path: Path) -> None:
    # Modern requests need headers.
    alone = [line for line in LINES if b"tools" in line and b"2026-07-28" not in line]

    async def going() -> None:
        environment = {**os.environ, "HEARD": str(tmp_path / "heard")}
        bridge = Bridge([sys.executable, str(HERE / "hostile_legal_server.py")], environment, None)
        where = Listen("127.0.0.1", 0)
        with Recorder([]) as recorder:
            service = ProxiedServer(bridge, Address(), Policies(ProxySettings(announce="off")), recorder)
            front = FrontEnd(service, RequestFilter(where), recorder.render_metrics)
            async with listening(front, where) as (_, port):
                reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
                client = Client(reader, writer, port)
                client.send(OPEN)
                opened = await client.answer()
                fields = opened.head.split("\r\n")
                session = next(field for field in fields if field.lower().startswith("mcp-session-id"))
                for line in alone:
                    client.send(line, session, "Accept: application/json, text/event-stream")
                    answer = await client.answer()
                    wanted = [each for each in Hostile().hears(line) if b'"id"' in each or b"u0069d" in each]
                    got = said(answer.body)
                    assert exact(got[-1]) == exact(wanted[-1]), line
                client.close()

    asyncio.run(asyncio.wait_for(going(), 120))
