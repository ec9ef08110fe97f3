"""The proxy over HTTP: bad calls are answered, everything else passes, and what one side breaks the other survives."""

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest
from tests.proxy.http_world import EVENTS, JSON, Asked, Proxy, Writer, call, read_chunks, reply, result, world

from toolvet.proxy.http.open_connections import Limits

TEXT = {"content": [{"type": "text", "text": "Dune, on the second shelf"}]}
SPELLED = b'{ "id" : 1 , "jsonrpc":"2.0","result":{"content":[ ],"future":1.0,"\\u0061":1e3}}'


async def found(asked: Asked, writer: Writer) -> None:
    writer.write(reply(result(asked.message.get("id"), TEXT)))


def raw(answer: bytes) -> Callable[[Asked, Writer], Awaitable[None]]:
    async def answering(_: Asked, writer: Writer) -> None:
        writer.write(answer)

    return answering


def run(
    test: Callable[[Proxy], Awaitable[None]],
    answering: Callable[[Asked, Writer], Awaitable[None]] = found,
    **how: object,
) -> None:
    async def going() -> None:
        async with world(answering, **how) as proxy:  # type: ignore[arg-type]
            await test(proxy)

    asyncio.run(asyncio.wait_for(going(), 60))


def test_a_bad_call_is_answered_and_never_reaches_the_server() -> None:
    async def test(proxy: Proxy) -> None:
        answer = await proxy.post(call(7, {"titel": "Dune"}))
        assert answer.status == 200
        assert answer.message["id"] == 7
        assert answer.message["result"]["isError"] is True
        assert "titel" in answer.message["result"]["content"][0]["text"]
        assert proxy.server.methods() == ["tools/list"]
        assert [note["blocked"] for note in proxy.notes("call_ended")] == ["arguments"]

    run(test)


BIG = result(2, {"content": [{"type": "text", "text": "Dune " * (1 << 22)}]})
BATCHED = {
    "array": (reply(b" [" + result(2, TEXT) + b"] "), 200, [1, 2]),
    "object": (reply(result(2, TEXT)), 200, [1, 2]),
    "two": (reply(b"[" + result(2, TEXT) + b"," + result(3, TEXT) + b"]"), 200, [1, 2, 3]),
    "none": (reply(b"[ ]"), 200, [1]),
    "events": (reply(b"data: " + result(2, TEXT) + b"\n\n", EVENTS), 200, [1, 2]),
    "accepted": (reply(b"", status="202 Accepted").replace(b"Content-Type: application/json\r\n", b""), 200, [1]),
    "large array": (reply(b"[" + BIG + b"]", JSON, "200 OK", "Digest: x"), 200, [1, 2]),
    "large object": (reply(BIG, JSON, "200 OK", "Digest: x"), 200, [1, 2]),
    "refused": (reply(b"no batches here", "text/plain", "400 Bad Request"), 400, None),
}


@pytest.mark.parametrize("name", BATCHED)
def test_a_refusal_in_a_batch_is_answered_beside_what_the_server_answers(name: str) -> None:
    answer, status, ids = BATCHED[name]

    async def test(proxy: Proxy) -> None:
        got = await proxy.post(b"[" + call(1, {"titel": "Dune"}) + b"," + call(2, {"title": "Dune"}) + b"]")
        assert got.status == status
        if ids is None:
            assert got.body == b"no batches here"
            return
        lines = got.body.decode().splitlines()
        events = [json.loads(line[6:]) for line in lines if line.startswith("data: ")]
        messages = events or json.loads(got.body)
        messages = messages if isinstance(messages, list) else [messages]
        assert [message["id"] for message in messages] == ids
        assert "titel" in messages[0]["result"]["content"][0]["text"]
        assert all(message["result"] == TEXT for message in messages[1:]) or name.startswith("large")
        assert "digest" not in got.head.lower()
        assert [asked.message["id"] for asked in proxy.server.asked if b'"tools/call"' in asked.body] == [2]

    run(test, raw(answer))


def test_the_trace_id_is_that_of_the_request_else_that_of_the_session_and_the_id_in_it() -> None:
    parent = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    other = {"traceparent": "00-11111111111111111111111111111111-2222222222222222-00"}

    async def test(proxy: Proxy) -> None:
        await proxy.post(call(1, {"title": "Dune"}), parent)
        await proxy.post(call(1, {"title": "Dune"}, **other), parent)
        for session in ("Mcp-Session-Id: a", "Mcp-Session-Id: a", "Mcp-Session-Id: b", "X-None: 1", "X-None: 1"):
            await proxy.post(call(1, {"title": "Dune"}), session)
        ids = [note["trace_id"] for note in proxy.notes("call_ended")]
        assert ids[:2] == ["0af7651916cd43dd8448eb211c80319c", "1" * 32]
        assert ids[2] == ids[3]
        # Clients without a session count their requests from 1, too.
        assert len(set(ids[3:])) == 4

    run(test)


def test_the_list_is_read_once_for_one_caller_and_again_for_another() -> None:
    async def test(proxy: Proxy) -> None:
        for _ in range(3):
            await proxy.post(call(1, {"title": "Dune"}), "Authorization: Bearer one")
        await proxy.post(call(1, {"title": "Dune"}), "Authorization: Bearer two")
        asked = [one.fields["authorization"] for one in proxy.server.asked if b"tools/list" in one.body]
        assert asked == ["Bearer one", "Bearer two"]

    run(test)


def test_bytes_that_need_no_decision_pass_both_ways() -> None:
    async def test(proxy: Proxy) -> None:
        for sent in (
            b'{"jsonrpc" : "2.0","id":1.0e0,"method":"x"}',
            b"\xff\xfe",
            b"{",
            b'["a"]',
            call(1, {"title": "\u00e9"}),
        ):
            answer = await proxy.post(sent)
            assert proxy.server.asked[-1].body == sent
            assert answer.body == SPELLED

    run(test, raw(reply(SPELLED)))


def test_status_and_headers_pass_but_not_those_of_one_connection() -> None:
    async def test(proxy: Proxy) -> None:
        answer = await proxy.post(b"{}", "X-Mine: 1", "Connection: keep-alive, X-Hop", "X-Hop: 2", "TE: trailers")
        sent = proxy.server.asked[-1].fields
        assert sent["x-mine"] == "1"
        assert not {"x-hop", "te", "connection"} & set(sent)
        assert sent["host"].startswith("127.0.0.1:")
        assert answer.status == 418
        assert "X-Theirs: 3" in answer.head
        assert "X-Once" not in answer.head

    run(test, raw(reply(b"no", "text/plain", "418 I'm a teapot", "X-Theirs: 3", "X-Once: 4", "Connection: X-Once")))


def test_events_pass_as_they_come_and_bytes_between_them_are_kept() -> None:
    first = b": ping\r\n\r\nid: 1\nretry: 5\ndata:\n\n"
    note = b'event: message\r\ndata: {"jsonrpc":"2.0","method":"notifications/progress","params":{}}\r\n\r\n'
    last = b"id:2\ndata: " + result(1, TEXT) + b"\n\n"
    go = asyncio.Event()

    async def answering(_: Asked, writer: Writer) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n" + first + note[:20])
        await go.wait()
        writer.write(note[20:] + last)
        writer.close()

    async def test(proxy: Proxy) -> None:
        client = await proxy.connect()
        client.send(call(1, {"title": "Dune"}))
        head = await client.head()
        assert "chunked" in head.head
        size = int(await client.reader.readline(), 16)
        assert await client.reader.readexactly(size) == first
        await client.reader.readexactly(2)
        go.set()
        assert await read_chunks(client.reader) == note + last
        client.close()
        assert [note["outcome"] for note in proxy.notes("call_ended")] == ["success"]

    run(test, answering)


def test_an_answer_that_is_changed_in_a_stream_keeps_its_event() -> None:
    body = b": hello\n\nid: 9\nevent: message\ndata: " + result(1, TEXT) + b"\n\n"

    async def test(proxy: Proxy) -> None:
        answer = await proxy.post(call(1, {"title": "Dune"}, **{"dev.toolvet/verdict": True}))
        comment, event = answer.body.split(b"\n\n", 1)
        assert comment == b": hello"
        assert event.startswith(b"id: 9\nevent: message\ndata: ")
        message = json.loads(event.partition(b"data: ")[2])
        assert message["result"]["content"] == TEXT["content"]
        assert "dev.toolvet/verdict" in message["result"]["_meta"]

    run(test, raw(reply(body, EVENTS)))


def test_an_answer_on_a_resumed_stream_is_judged() -> None:
    async def answering(asked: Asked, writer: Writer) -> None:
        if asked.method == "GET":
            assert asked.fields["last-event-id"] == "1"
            writer.write(reply(b"id: 2\ndata: " + result(1, TEXT) + b"\n\n", EVENTS))
        else:
            writer.write(reply(b"id: 1\ndata:\n\n", EVENTS))

    async def test(proxy: Proxy) -> None:
        first = await proxy.post(call(1, {"title": "Dune"}), "Mcp-Session-Id: s")
        assert first.body == b"id: 1\ndata:\n\n"
        assert proxy.notes("call_ended") == []
        client = await proxy.connect()
        client.send(b"", "Mcp-Session-Id: s", "Last-Event-ID: 1", "Accept: text/event-stream", method="GET")
        assert b"Dune" in (await client.answer()).body
        client.close()
        assert [note["outcome"] for note in proxy.notes("call_ended")] == ["success"]

    run(test, answering)


def test_a_changed_tool_list_is_heard_on_the_clients_own_stream() -> None:
    changed = b'data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n'

    async def answering(asked: Asked, writer: Writer) -> None:
        if asked.method == "GET":
            writer.write(reply(changed, EVENTS))
        else:
            await found(asked, writer)

    async def test(proxy: Proxy) -> None:
        await proxy.post(call(1, {"title": "Dune"}), "Mcp-Session-Id: s")
        client = await proxy.connect()
        client.send(b"", "Mcp-Session-Id: s", method="GET")
        assert (await client.answer()).body == changed
        client.close()
        await proxy.post(call(2, {"title": "Dune"}), "Mcp-Session-Id: s")
        assert proxy.server.methods() == ["tools/list", "tools/call", "tools/list", "tools/call"]

    run(test, answering)


def test_a_server_that_is_not_there_is_told_as_an_answer() -> None:
    async def gone(_: Asked, writer: Writer) -> None:
        writer.close()

    async def test(proxy: Proxy) -> None:
        answer = await proxy.post(call(3, {"title": "Dune"}))
        assert answer.status == 502
        assert answer.message["id"] == 3
        error = answer.message["error"]
        assert "before it answered" in error["message"]
        (note,) = proxy.notes("call_ended")
        assert (note["outcome"], note["verdict"]["error_kind"]) == ("protocol_error", "tool_failure")
        assert (note["verdict"]["state"], note["verdict"]["retry"]) == ("unavailable", "backoff")
        assert error["data"] == {"dev.toolvet/trace": note["trace_id"]}

    run(test, gone)


def test_an_answer_that_breaks_off_is_not_taken_for_a_whole_one() -> None:
    async def answering(asked: Asked, writer: Writer) -> None:
        head = reply(b"", EVENTS).replace(b"Content-Length: 0\r\n", b"Transfer-Encoding: chunked\r\n")
        writer.write(head + b"7\r\n: ping\n\r\n2\r\n\n\n\r\n")
        await writer.drain()
        if asked.method == "POST":
            writer.transport.abort()

    async def test(proxy: Proxy) -> None:
        client = await proxy.connect()
        client.send(call(1, {"title": "Dune"}))
        await client.head()
        with pytest.raises((asyncio.IncompleteReadError, ConnectionError, ValueError)):
            await read_chunks(client.reader)
        client.close()

    run(test, answering)


def test_a_client_that_leaves_takes_its_request_with_it() -> None:
    began = asyncio.Event()

    async def silent(_: Asked, __: Writer) -> None:
        began.set()

    async def test(proxy: Proxy) -> None:
        client = await proxy.connect()
        client.send(call(1, {"title": "Dune"}))
        await began.wait()
        client.writer.transport.abort()
        await proxy.server.left.wait()
        assert [note["outcome"] for note in proxy.notes("call_ended")] == ["lost"]

    run(test, silent)


def test_requests_that_come_at_once_are_answered_in_their_order() -> None:
    async def test(proxy: Proxy) -> None:
        client = await proxy.connect()
        for number in range(50):
            client.send(call(number, {"title": str(number)}))
        assert [(await client.answer()).message["id"] for _ in range(50)] == list(range(50))
        client.close()
        assert proxy.server.connections <= 2

    run(test)


def test_a_thousand_calls_at_once_are_answered_each_to_its_own() -> None:
    async def one(proxy: Proxy, number: int) -> tuple[int, object]:
        answer = await proxy.post(call(1, {"title": "x", "limit": number}))
        return number, answer.message["result"]["content"][0]["text"]

    async def answering(asked: Asked, writer: Writer) -> None:
        text = str(asked.message["params"]["arguments"]["limit"])
        writer.write(reply(result(1, {"content": [{"type": "text", "text": text}]})))

    async def test(proxy: Proxy) -> None:
        await proxy.post(call(1, {"title": "x", "limit": 0}))
        for begin in range(0, 1000, 250):
            answers = await asyncio.gather(*(one(proxy, number) for number in range(begin, begin + 250)))
            assert all(text == str(number) for number, text in answers)

    run(test, answering)


@pytest.mark.parametrize("chunked", [True, False])
def test_a_large_body_without_a_call_streams_through(chunked: bool) -> None:  # noqa: FBT001 - two ways to frame it
    size = 40 << 20
    head, tail = b'{"jsonrpc":"2.0","id":1,"result":{"data":"', b'"}}'

    async def answering(asked: Asked, writer: Writer) -> None:
        length = len(asked.body)
        writer.write(reply(str(length).encode(), "text/plain"))

    async def test(proxy: Proxy) -> None:
        client = await proxy.connect()
        length = len(head) + size + len(tail)
        framing = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {length}"
        lines = ["POST /mcp HTTP/1.1", f"Host: localhost:{proxy.port}", "Content-Type: application/json", framing]
        client.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")
        for part in (head, *[b"x" * (1 << 20)] * 40, tail):
            client.writer.write(b"%x\r\n%b\r\n" % (len(part), part) if chunked else part)
            await client.writer.drain()
        if chunked:
            client.writer.write(b"0\r\n\r\n")
        assert int((await client.answer()).body) == length
        client.close()

    run(test, answering)


@pytest.mark.parametrize("spelled", [b"tools/call", b"tools\\/call", b"tools/c\\u0061ll", b"\\u0074ools\\u002fcall"])
def test_a_call_larger_than_its_policy_is_refused_and_no_server_gets_half_of_it(spelled: bytes) -> None:
    async def test(proxy: Proxy) -> None:
        client = await proxy.connect()
        client.send(call(1, {"title": "x" * (20 << 20)}).replace(b"tools/call", spelled))
        answer = await client.answer()
        assert answer.status == 413
        client.close()
        assert "tools/call" not in proxy.server.methods()

    run(test)


def test_a_large_answer_passes_whole() -> None:
    answer = result(1, {"content": [{"type": "text", "text": "x" * (30 << 20)}]})

    async def test(proxy: Proxy) -> None:
        client = await proxy.connect()
        client.send(call(1, {"title": "Dune"}))
        assert (await client.answer()).body == answer
        client.close()

    run(test, raw(reply(answer)))


def test_a_pooled_connection_that_the_server_closed_is_not_used() -> None:
    async def once(asked: Asked, writer: Writer) -> None:
        await found(asked, writer)
        await writer.drain()
        writer.close()

    async def test(proxy: Proxy) -> None:
        for number in range(5):
            assert (await proxy.post(call(number, {"title": "Dune"}))).message["id"] == number

    run(test, once)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        (["Host: evil.example"], 421),
        (["Host: 127.0.0.1.evil.example:80"], 421),
        (["Host: localhost@evil.example"], 421),
        (["Host: a", "Host: localhost"], 400),
        (["Host: 127.0.0.1:1", "Origin: https://evil.example"], 403),
        (["Host: 127.0.0.1:1", "Origin: null"], 403),
        (["Host: [::1]:1", "Origin: http://localhost:6274"], 200),
        (["Host: localhost"], 200),
    ],
)
def test_only_this_machines_names_and_pages_are_served(fields: list[str], status: int) -> None:
    async def test(proxy: Proxy) -> None:
        assert (await proxy.post(b"{}", *fields)).status == status

    run(test)


def test_a_token_opens_the_door_and_stays_there() -> None:
    token = "a-token-of-some-length"

    async def test(proxy: Proxy) -> None:
        assert (await proxy.post(b"{}")).status == 401
        assert (await proxy.post(b"{}", "Authorization: Bearer a-token-of-some-lengtH")).status == 401
        assert (await proxy.post(b"{}", f"Authorization: Bearer {token}")).status == 200
        assert "authorization" not in proxy.server.asked[-1].fields
        own = await proxy.post(b"{}", f"X-Toolvet-Token: {token}", "Authorization: Bearer for-the-server")
        assert own.status == 200
        assert proxy.server.asked[-1].fields["authorization"] == "Bearer for-the-server"
        assert "x-toolvet-token" not in proxy.server.asked[-1].fields
        client = await proxy.connect()
        client.send(b"", method="GET", target="/healthz")
        assert (await client.answer()).body == b"ok\n"
        client.send(b"", method="GET", target="/metrics")
        assert (await client.answer()).status == 401
        client.close()

    run(test, token=token)


@pytest.mark.parametrize(
    "sent",
    [
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\x00: c\r\n\r\n",
        b"\x16\x03\x01\x02\x00",
        b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 70_000,
        b"GET /mcp HTTP/1.1\r\n" + b"A: b\r\n" * 300 + b"\r\n",
    ],
)
def test_what_two_readers_could_read_in_two_ways_is_refused(sent: bytes) -> None:
    async def test(proxy: Proxy) -> None:
        client = await proxy.connect()
        client.writer.write(sent)
        assert (await client.answer()).status in {400, 431}
        assert await client.reader.read() == b""
        assert proxy.server.asked == []
        client.close()

    run(test)


def test_a_head_that_never_ends_is_cut() -> None:
    async def test(proxy: Proxy) -> None:
        client = await proxy.connect()
        client.writer.write(b"POST /mcp HTTP/1.1\r\nHost:")
        assert (await client.answer()).status == 408
        client.close()

    run(test, limits=Limits(head_seconds=0.2))


def test_redirects_lead_through_the_proxy() -> None:
    async def answering(asked: Asked, writer: Writer) -> None:
        location = f"Location: http://{asked.fields['host']}/mcp/"
        writer.write(reply(b"", "text/plain", "307 Temporary Redirect", location))

    async def test(proxy: Proxy) -> None:
        assert "\r\nLocation: /mcp/\r\n" in (await proxy.post(b"{}")).head

    run(test, answering)


def test_a_tool_that_no_list_has_is_the_servers_to_refuse() -> None:
    async def test(proxy: Proxy) -> None:
        answer = await proxy.post(call(1, {"anything": 1}).replace(b"find_book", b"other_tool"))
        assert answer.message["result"] == TEXT

    run(test)


def test_an_answer_before_a_cut_is_passed_on() -> None:
    event = b"data: " + result(1, TEXT) + b"\n\n"

    async def answering(_: Asked, writer: Writer) -> None:
        head = reply(b"", EVENTS).replace(b"Content-Length: 0\r\n", b"Transfer-Encoding: chunked\r\n")
        writer.write(head + b"%x\r\n%b\r\n" % (len(event), event))
        await writer.drain()
        writer.close()

    async def test(proxy: Proxy) -> None:
        client = await proxy.connect()
        client.send(call(1, {"title": "Dune"}))
        await client.head()
        assert event in await client.reader.read()
        client.close()
        assert [note["outcome"] for note in proxy.notes("call_ended")] == ["success"]

    run(test, answering)


def test_fields_of_the_server_are_its_own() -> None:
    fields = ("X-Bad: a\x01b", "X-Text: caf\u00e9", "Set-Cookie: a=1", "Set-Cookie: b=2")

    async def test(proxy: Proxy) -> None:
        for _ in range(2):
            answer = await proxy.post(b"{}")
            names = [line.partition(":")[0] for line in answer.head.split("\r\n")[1:] if line]
            assert names == ["Content-Type", "X-Text", "Set-Cookie", "Set-Cookie", "Content-Length", "Date"]
        # A cookie of one client is not sent for another.
        assert "cookie" not in proxy.server.asked[-1].fields

    run(test, raw(reply(b"{}", "application/json", "200 OK", *fields)))


def test_a_control_character_in_a_field_is_refused() -> None:
    async def test(proxy: Proxy) -> None:
        assert (await proxy.post(b"{}", "X-A: a\x01b")).status == 400
        assert proxy.server.asked == []

    run(test)
