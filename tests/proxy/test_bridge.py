"""A server on pipes behind Streamable HTTP: whose process answers, whose ids they are, and what ends with what."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest
from tests.proxy.http_world import Answer, Client

from toolvet.proxy.bridge.bridge import Bridge
from toolvet.proxy.http.front import Front
from toolvet.proxy.http.guard import Guard, Listen
from toolvet.proxy.http.proxied_server import Address, ProxiedServer
from toolvet.proxy.http.serve import listening
from toolvet.proxy.record.recorder import Recorder
from toolvet.session import Policies

SERVER = str(Path(__file__).with_name("bridged_server.py"))
VERSION = "2026-07-28"
INITIALIZE = {"id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}}}


class Bridged:
    def __init__(self, port: int) -> None:
        self._port = port

    async def connect(self) -> Client:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        return Client(reader, writer, self._port)

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

    async def modern(self, id_: object, say: str = "", **meta: object) -> Answer:
        params = {"name": "whoami", "arguments": {"say": say}, "_meta": {**META, **meta}}
        return await self.ask({"id": id_, "method": "tools/call", "params": params}, *MODERN_CALL)


META = {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
MODERN_CALL = (f"MCP-Protocol-Version: {VERSION}", "Mcp-Method: tools/call", "Mcp-Name: whoami")


@asynccontextmanager
async def bridged(era: str) -> AsyncGenerator[Bridged]:
    bridge = Bridge([sys.executable, SERVER, era], None, None)
    where = Listen("127.0.0.1", 0)
    with Recorder([]) as recorder:
        front = Front(ProxiedServer(bridge, Address(), Policies(), recorder), Guard(where), recorder.render_metrics)
        async with listening(front, where) as (_, port):
            yield Bridged(port)


def run(era: str, test: Callable[[Bridged], Awaitable[None]]) -> None:
    async def going() -> None:
        async with bridged(era) as bridge:
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


def test_each_legacy_session_has_a_process_of_its_own() -> None:
    async def test(bridge: Bridged) -> None:
        first, second = await bridge.opened(), await bridge.opened()
        answers = [await bridge.call(session, 1) for session in (first, second, first)]
        pids = [seen(told(answer))["pid"] for answer in answers]
        assert pids[0] == pids[2] != pids[1]

    run("legacy", test)


def test_a_bad_call_is_answered_by_the_proxy() -> None:
    async def test(bridge: Bridged) -> None:
        session = await bridge.opened()
        params = {"name": "whoami", "arguments": {"say": 5}}
        answer = await bridge.ask({"id": 4, "method": "tools/call", "params": params}, session)
        assert answer.message["result"]["isError"] is True
        assert "say" in answer.message["result"]["content"][0]["text"]

    run("legacy", test)


def test_a_session_that_was_ended_is_unknown_and_its_process_gone() -> None:
    pids: list[object] = []

    async def test(bridge: Bridged) -> None:
        session = await bridge.opened()
        pids.append(seen(told(await bridge.call(session, 1)))["pid"])
        assert (await bridge.ask({}, session, method="DELETE")).status == 200
        assert (await bridge.call(session, 2)).status == 404
        assert (await bridge.ask({"id": 1, "method": "ping"})).status == 400

    run("legacy", test)
    assert not is_alive(pids[0])


def test_no_process_is_left_when_the_proxy_ends() -> None:
    pids: list[object] = []

    async def test(bridge: Bridged) -> None:
        pids.extend([seen(told(await bridge.call(await bridge.opened(), 1)))["pid"] for _ in range(3)])

    run("legacy", test)
    assert [is_alive(pid) for pid in pids] == [False, False, False]


def test_what_comes_before_the_answer_comes_on_its_stream() -> None:
    async def test(bridge: Bridged) -> None:
        session = await bridge.opened()
        answer = await bridge.call(session, "a", "ask")
        assert "text/event-stream" in answer.head
        asked, answered = events(answer)
        assert asked["method"] == "sampling/createMessage"
        assert answered["id"] == "a"
        taken = await bridge.ask({"id": "s-1", "result": {"text": "yes"}}, session)
        assert taken.status == 202
        client = await bridge.connect()
        client.send(b"", session, "Accept: text/event-stream", method="GET")
        await client.head()
        heard = b""
        while b"yes" not in heard:
            heard += await client.reader.readline()
        client.close()

    run("legacy", test)


def test_modern_clients_share_a_process_and_keep_their_ids_and_tokens() -> None:
    async def test(bridge: Bridged) -> None:
        answers = await asyncio.gather(*(bridge.modern(1, progressToken="mine") for _ in range(20)))
        pids, ids = set(), set()
        for answer in answers:
            progress, answered = events(answer)
            assert progress["params"] == {"progressToken": "mine", "progress": 1}
            assert answered["id"] == 1
            pids.add(seen(answered)["pid"])
            ids.add(seen(answered)["id"])
        assert len(pids) == 1
        assert len(ids) == 20

    run("modern", test)


def test_a_server_that_dies_is_told_and_started_again() -> None:
    async def test(bridge: Bridged) -> None:
        before = seen((await bridge.modern(1)).message)["pid"]
        died = await bridge.modern(2, "die")
        assert died.status == 502
        assert died.message["id"] == 2
        assert "ended" in died.message["error"]["message"]
        assert seen((await bridge.modern(3)).message)["pid"] != before

    run("modern", test)


def test_a_legacy_server_refuses_the_modern_era_in_its_own_words() -> None:
    async def test(bridge: Bridged) -> None:
        fields = (f"MCP-Protocol-Version: {VERSION}", "Mcp-Method: server/discover")
        answer = await bridge.ask({"id": 1, "method": "server/discover", "params": {"_meta": META}}, *fields)
        assert answer.status == 404
        assert answer.message == {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "Method not found"}}

    run("legacy", test)


@pytest.mark.parametrize("wrong", ["Mcp-Name: other", "Mcp-Method: tools/list", "MCP-Protocol-Version: 2025-11-25"])
def test_headers_that_contradict_the_message_are_refused(wrong: str) -> None:
    async def test(bridge: Bridged) -> None:
        fields = [field for field in MODERN_CALL if field.partition(":")[0] != wrong.partition(":")[0]]
        params = {"name": "whoami", "arguments": {}, "_meta": META}
        answer = await bridge.ask({"id": 1, "method": "tools/call", "params": params}, *fields, wrong)
        assert answer.status == 400
        assert answer.message["error"]["code"] == -32020

    run("modern", test)
