"""Streams of a session that lose their connections: nothing is lost or comes twice, all end with the session."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.proxy.bridge.world import META, MODERN_CALL, Bridged, events, heard, run, seen, told

from toolvet.proxy.bridge import responses as responses_module, shared as shared_module
from toolvet.proxy.bridge.session import EventId, EventLog, read_event_id

CANCELLED: dict[str, object] = {"method": "notifications/cancelled", "params": {"requestId": 1}}


def test_an_answer_whose_connection_broke_comes_after_the_last_event(tmp_path: Path) -> None:
    go = tmp_path / "go"

    async def test(bridge: Bridged) -> None:
        session = await bridge.opened()
        client, opening = await bridge.calling(session, 1, f"until:{go}")
        client.close()
        go.touch()
        for _ in range(2):
            resumed = await bridge.resumed(session, opening)
            assert seen(told(resumed))["id"] == 1
        (last,) = (line[4:] for line in resumed.body.decode().split("\n") if line.startswith("id: "))
        assert events(await bridge.resumed(session, last)) == []

    run("legacy", test)


def test_a_stream_can_be_resumed_while_the_old_connection_still_seems_open(tmp_path: Path) -> None:
    go = tmp_path / "go"

    async def test(bridge: Bridged) -> None:
        session = await bridge.opened()
        old, opening = await bridge.calling(session, 1, f"until:{go}")
        new = await bridge.listening(session, f"Last-Event-ID: {opening}")
        go.touch()
        assert '"id": 1' in await heard(new, '"result"')
        assert '"result"' not in await heard(old, "\r\n0\r\n")
        old.close()
        new.close()

    run("legacy", test)


def test_messages_without_a_request_wait_for_a_stream_and_come_once() -> None:
    async def test(bridge: Bridged) -> None:
        session = await bridge.opened()
        for data in ("one", "two"):
            assert (await bridge.ask({"id": "s-1", "result": {"text": data}}, session)).status == 202
        first = await bridge.listening(session)
        text = await heard(first, "two")
        assert text.index("one") < text.index("two")
        first.close()
        await first.writer.wait_closed()
        assert (await bridge.ask({"id": "s-1", "result": {"text": "three"}}, session)).status == 202
        again = await bridge.listening(session, "Last-Event-ID: 0-1")
        text = await heard(again, "three")
        assert "one" not in text
        assert text.index("two") < text.index("three")
        again.close()

    run("legacy", test)


def test_a_session_has_one_stream_by_get() -> None:
    async def test(bridge: Bridged) -> None:
        session = await bridge.opened()
        first = await bridge.listening(session)
        assert (await bridge.ask({}, session, "Accept: text/event-stream", method="GET")).status == 409
        first.close()

    run("legacy", test)


def test_cancelling_ends_the_stream_of_the_request(tmp_path: Path) -> None:
    async def test(bridge: Bridged) -> None:
        session = await bridge.opened()
        client, _ = await bridge.calling(session, 1, f"until:{tmp_path / 'never'}")
        assert (await bridge.ask(CANCELLED, session)).status == 202
        assert '"code":-32800' in (await client.reader.read(1 << 16)).decode() + (await heard(client, "0\r\n"))
        client.close()

    run("legacy", test)


def test_the_end_of_a_session_ends_its_streams(tmp_path: Path) -> None:
    async def test(bridge: Bridged) -> None:
        session, other = await bridge.opened(), await bridge.opened()
        stream = await bridge.listening(session)
        client, _ = await bridge.calling(session, 1, f"until:{tmp_path / 'never'}")
        untouched = await bridge.listening(other)
        assert (await bridge.ask({}, session, method="DELETE")).status == 200
        assert "ended before it answered" in await heard(client, "\r\n0\r\n")
        await heard(stream, "\r\n0\r\n")
        assert (await bridge.call(other, 1)).status == 200
        for each in (stream, client, untouched):
            each.close()

    run("legacy", test)


def test_the_streams_of_two_sessions_never_meet(tmp_path: Path) -> None:
    go = tmp_path / "go"

    async def test(bridge: Bridged) -> None:
        sessions = [await bridge.opened() for _ in range(4)]
        calls = [await bridge.calling(session, 1, f"until:{go}") for session in sessions]
        for client, _ in calls:
            client.close()
        go.touch()
        asked = (bridge.resumed(session, opening) for session, (_, opening) in zip(sessions, calls, strict=True))
        pids = [seen(told(answer))["pid"] for answer in await asyncio.gather(*asked)]
        own = [seen(told(await bridge.call(session, 2)))["pid"] for session in sessions]
        assert pids == own
        assert len(set(pids)) == 4

    run("legacy", test)


def test_a_silent_stream_gets_a_comment_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(responses_module, "PING_SECONDS", 0.01)

    async def test(bridge: Bridged) -> None:
        client, _ = await bridge.calling(await bridge.opened(), 1, f"until:{tmp_path / 'never'}")
        await heard(client, ": ping")
        await heard(client, ": ping")
        client.close()

    run("legacy", test)


def test_a_silent_modern_request_gets_a_stream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_module, "PING_SECONDS", 0.01)
    go = tmp_path / "go"

    async def test(bridge: Bridged) -> None:
        client = await bridge.connect()
        params = {"name": "whoami", "arguments": {"say": f"until:{go}"}, "_meta": META}
        message = {"jsonrpc": "2.0", "id": "mine", "method": "tools/call", "params": params}
        client.send(json.dumps(message).encode(), *MODERN_CALL)
        await heard(client, ": waiting")
        go.touch()
        assert '"id":"mine"' in (await heard(client, '"result"')).replace(" ", "")
        client.close()

    run("modern", test)


def test_the_oldest_events_are_forgotten_and_that_is_known() -> None:
    log = EventLog()
    stream, other = log.open_stream(), log.open_stream()
    log.add(other, b"{}")
    for number in range(9):
        log.add(stream, b'"%d%s"' % (number, b"x" * 10**6))
    assert log.after(EventId(stream, 0)) is None
    kept = log.after(EventId(stream, 6))
    assert kept is not None
    assert len(kept) == 3
    assert log.after(EventId(other, 0)) is None
    assert log.after(EventId(other, 1)) == []


def test_the_last_event_is_kept_however_large() -> None:
    log = EventLog()
    stream = log.open_stream()
    event = log.add(stream, b"x" * 10**7)
    assert log.after(EventId(stream, 0)) == [event]


def test_event_ids_are_read_as_they_are_written() -> None:
    id_ = EventId(12, 345)
    assert read_event_id(id_.encode()) == id_
    for odd in (b"", b"-", b"1", b"1-", b"-1", b"1-2-3", b"a-1", b"1-b", b"9" * 20 + b"-1", "\u0661-1".encode()):
        assert read_event_id(odd) is None
