"""A server on pipes behind Streamable HTTP: whose process answers, whose ids they are, and what ends with what."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.proxy.bridge.world import (
    EVENTS,
    INITIALIZE,
    META,
    MODERN_CALL,
    VERSION,
    Bridged,
    events,
    is_alive,
    run,
    seen,
    told,
)
from tests.proxy.session.test_check_faults import EVERY, SETTINGS, broken


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


INITIALIZED = {"method": "notifications/initialized"}
PING = {"id": 7, "method": "ping"}
NEW = "MCP-Protocol-Version: 2026-07-28"


@pytest.mark.parametrize(
    ("method", "message", "fields", "status"),
    [
        ("POST", INITIALIZED, ["SESSION"], 202),
        ("POST", INITIALIZED, [NEW], 202),
        ("POST", {"id": 1, "result": {}}, [NEW], 400),
        ("POST", PING, [], 400),
        ("POST", PING, ["Mcp-Session-Id: unknown"], 404),
        ("POST", PING, ["SESSION", "Accept: application/json"], 406),
        ("POST", PING, ["SESSION", "Accept: text/event-stream"], 406),
        ("POST", PING, ["SESSION", "Accept: application/*;q=0.5, text/*"], 200),
        ("POST", {"params": {}}, ["SESSION"], 400),
        ("GET", {}, ["SESSION", "Accept: application/json"], 406),
        ("GET", {}, [EVENTS], 400),
        ("GET", {}, [EVENTS, NEW], 405),
        ("GET", {}, [EVENTS, "Mcp-Session-Id: unknown"], 404),
        ("GET", {}, [EVENTS, "SESSION", "Last-Event-ID: 9-9"], 400),
        ("GET", {}, [EVENTS, "SESSION", "Last-Event-ID: what"], 400),
        ("DELETE", {}, [], 400),
        ("DELETE", {}, [NEW], 405),
        ("DELETE", {}, ["Mcp-Session-Id: unknown"], 404),
        ("PATCH", {}, ["SESSION"], 405),
    ],
)
def test_the_status_is_that_of_the_transport(
    method: str, message: dict[str, object], fields: list[str], status: int
) -> None:
    async def test(bridge: Bridged) -> None:
        session = await bridge.opened()
        sent = [session if field == "SESSION" else field for field in fields]
        assert (await bridge.ask(message, *sent, method=method)).status == status

    run("legacy", test)


def test_a_legacy_handshake_with_a_method_header_opens_a_session() -> None:
    async def test(bridge: Bridged) -> None:
        answer = await bridge.ask(INITIALIZE, "Mcp-Method: initialize", "MCP-Protocol-Version: 2025-11-25")
        assert answer.status == 200
        assert "mcp-session-id" in answer.head.lower()

    run("legacy", test)


@pytest.mark.parametrize(
    ("method", "meta", "status", "code"),
    [
        ("initialize", META, 404, -32601),
        ("tools/list", {}, 400, -32602),
        ("tools/list", {"io.modelcontextprotocol/protocolVersion": VERSION}, 400, -32602),
        ("tools/list", {**META, "io.modelcontextprotocol/protocolVersion": "2099-01-01"}, 400, -32022),
    ],
)
def test_what_no_modern_server_serves_is_refused(method: str, meta: dict[str, object], status: int, code: int) -> None:
    async def test(bridge: Bridged) -> None:
        version = meta.get("io.modelcontextprotocol/protocolVersion", VERSION)
        fields = (f"MCP-Protocol-Version: {version}", f"Mcp-Method: {method}")
        answer = await bridge.ask({"id": 1, "method": method, "params": {"_meta": meta}}, *fields)
        assert (answer.status, answer.message["error"]["code"]) == (status, code)

    run("modern", test)


@pytest.mark.parametrize(
    ("arguments", "header", "status"),
    [
        ({"level": 42}, "Mcp-Param-Level: 42", 200),
        ({"level": 42}, "Mcp-Param-Level:   42.0  ", 200),
        ({"level": 42}, "Mcp-Param-Level: =?base64?NDI=?=", 200),
        ({}, "Mcp-Param-Other: 1", 200),
        ({"level": 42}, "X-Nothing: 1", 400),
        ({"level": 42}, "Mcp-Param-Level: 43", 400),
        ({"level": 42}, "Mcp-Param-Level: =?base64?!?=", 400),
        ({}, "Mcp-Param-Level: 42", 400),
        ({"say": "x"}, "X-Nothing: 1", 200),
    ],
)
def test_headers_that_repeat_arguments_must_agree_with_them(
    arguments: dict[str, object], header: str, status: int
) -> None:
    async def test(bridge: Bridged) -> None:
        params = {"name": "whoami", "arguments": arguments, "_meta": META}
        answer = await bridge.ask({"id": 1, "method": "tools/call", "params": params}, *MODERN_CALL, header)
        assert answer.status == status
        if status == 400:
            assert answer.message["error"]["code"] == -32020

    run("modern", test)


def test_sessions_one_after_another_get_processes_that_were_started_ahead(tmp_path: Path) -> None:
    started = tmp_path / "started"

    async def test(bridge: Bridged) -> None:
        for _ in range(3):
            await bridge.ask({}, await bridge.opened(), method="DELETE")
        while len(started.read_text().split()) < 5:  # noqa: ASYNC110 - it waits for other processes
            await asyncio.sleep(0.01)
        before = started.read_text().split()
        assert str(seen(told(await bridge.call(await bridge.opened(), 1)))["pid"]) in before

    run("legacy", test, STARTED=str(started))
    assert [is_alive(int(pid)) for pid in started.read_text().split()].count(True) == 0


def test_one_session_starts_one_process(tmp_path: Path) -> None:
    started = tmp_path / "started"

    async def test(bridge: Bridged) -> None:
        session = await bridge.opened()
        for number in range(5):
            await bridge.call(session, number)

    run("legacy", test, STARTED=str(started))
    assert len(started.read_text().split()) == 1


def test_a_handshake_that_the_server_refuses_opens_no_session() -> None:
    async def test(bridge: Bridged) -> None:
        answer = await bridge.ask({"id": 1, "method": "initialize", "params": {"protocolVersion": "refuse"}})
        assert json.loads(answer.body)["error"]["code"] == -32602
        assert "mcp-session-id" not in answer.head.lower()

    run("legacy", test)


@EVERY
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_a_check_that_raises_lets_the_call_pass_and_is_said_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], era: str, room: Any, name: str
) -> None:
    met: list[str] = []

    def noted(*_: object, **__: object) -> Any:
        met.append(name)
        broken()

    monkeypatch.setattr(room, name, property(noted) if name == "schema" else noted)

    async def test(bridge: Bridged) -> None:
        session = await bridge.opened() if era == "legacy" else ""
        for id_ in (1, 2):
            if era == "legacy":
                assert seen(told(await bridge.call(session, id_)))["pid"]
                await bridge.ask({"id": 9, "method": "tools/list"}, session)
            else:
                assert seen((await bridge.modern(id_)).message)["pid"]

    run(era, test, SETTINGS)
    said = [line for line in capsys.readouterr().err.splitlines() if "because of a bug in toolvet" in line]
    assert len(said) == bool(met)
    assert "secret" not in "".join(said)
