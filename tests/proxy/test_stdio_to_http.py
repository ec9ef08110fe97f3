"""A server at a URL on stdin and stdout: what HTTP adds stays on the side of HTTP, and its losses are reported."""

import asyncio
import json
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.proxy.http_world import EVENTS, JSON, Answering, Asked, Server, Writer, call, read_request, reply, result
from tests.proxy.url_world import (
    GOOD,
    META,
    OPENED,
    OPENING,
    SAID,
    VERSION,
    FrontEnd,
    events,
    fronted,
    request,
    run,
    stream,
)


class Legacy:
    """A server with sessions: opens them, takes notifications, has no GET stream, and leaves calls to `calls`."""

    def __init__(self, calls: Answering) -> None:
        self.sessions = 0
        self._calls = calls

    async def __call__(self, asked: Asked, writer: Writer) -> None:
        if asked.method == "GET":
            writer.write(reply(b"", JSON, "405 Method Not Allowed"))
        elif asked.method == "DELETE":
            writer.write(reply(b"", JSON, "200 OK"))
        elif asked.message.get("method") == "initialize":
            self.sessions += 1
            field = f"Mcp-Session-Id: s{self.sessions}"
            writer.write(reply(result(asked.message["id"], OPENED), JSON, "200 OK", field))
        elif "id" not in asked.message:
            writer.write(reply(b"", JSON, "202 Accepted"))
        else:
            await self._calls(asked, writer)


async def says(asked: Asked, writer: Writer) -> None:
    writer.write(reply(result(asked.message["id"], SAID)))


# ── the legacy era ──


def test_a_session_is_opened_used_and_deleted() -> None:
    async def test(front: FrontEnd) -> None:
        await front.open()
        front.write(call(1, GOOD))
        assert (await front.read())["result"] == SAID
        assert await front.end() == 0
        first, *rest = [asked for asked in front.server.asked if asked.method != "GET"]
        assert "mcp-session-id" not in first.fields
        assert "mcp-protocol-version" not in first.fields
        assert {asked.fields["mcp-session-id"] for asked in rest} == {"s1"}
        assert {asked.fields["mcp-protocol-version"] for asked in rest} == {"2025-11-25"}
        assert rest[-1].method == "DELETE"

    run(Legacy(says), test)


def test_a_bad_call_is_answered_without_the_server() -> None:
    async def test(front: FrontEnd) -> None:
        await front.open()
        front.write(call(1, {"title": 5}))
        answer = await front.read()
        assert answer["result"]["isError"] is True
        assert "title" in answer["result"]["content"][0]["text"]
        assert "tools/call" not in front.server.methods()

    run(Legacy(says), test)


def test_the_bytes_of_messages_that_need_no_decision_are_those_of_the_bodies() -> None:
    answers = {
        1: b'{ "jsonrpc":"2.0", "id" : 1, "result":{"future":[1.50, 1e400], "\xc3\xa9":"\\u00e9"} }',
        2: b'{"jsonrpc": "2.0", "id": 2,\r\n  "result": {\n    "a": 1\n  }\n}\n',
    }

    async def answer(asked: Asked, writer: Writer) -> None:
        writer.write(reply(answers[asked.message["id"]]))

    async def test(front: FrontEnd) -> None:
        await front.open()
        odd = b'{ "id" :1,"jsonrpc":"2.0", "method" : "x/y", "params":{"n":1.50,"n":2}}'
        front.write(odd)
        assert await front.line() == answers[1]
        assert front.server.asked[-1].body == odd
        # A pipe has one line for each message.
        front.write(request(2, "x/y"))
        assert await front.line() == answers[2].replace(b"\n", b" ")

    run(Legacy(answer), test)


def test_each_event_of_a_stream_is_a_message_and_their_order_stays() -> None:
    async def answer(asked: Asked, writer: Writer) -> None:
        told = [request(f"s-{number}", "sampling/createMessage", number=number) for number in range(3)]
        body = b": a comment\n\n" + events(*told, result(asked.message["id"], SAID))
        body += b"event: other\ndata: not for us\n\n"
        writer.write(reply(body, EVENTS))

    async def test(front: FrontEnd) -> None:
        await front.open()
        front.write(call("a", GOOD))
        heard = [await front.read() for _ in range(4)]
        assert [message.get("params", {}).get("number") for message in heard] == [0, 1, 2, None]
        assert heard[-1]["id"] == "a"
        front.write(b'{"jsonrpc":"2.0","id":"s-1","result":{}}')
        assert await front.end() == 0
        assert front.server.methods().count("tools/call") == 1

    run(Legacy(answer), test)


def test_what_the_server_says_of_its_own_accord_comes_from_its_stream_which_is_taken_up_again() -> None:
    streams: list[str | None] = []
    legacy = Legacy(says)

    async def answering(asked: Asked, writer: Writer) -> None:
        if asked.method != "GET":
            await legacy(asked, writer)
            return
        streams.append(asked.fields.get("last-event-id"))
        number = len(streams)
        told = b'{"jsonrpc":"2.0","method":"notifications/message","params":{"data":%d}}' % number
        writer.write(stream() + b"retry: 1\n" + events(told, first_id=number))
        await writer.drain()
        if number < 3:
            writer.close()

    async def test(front: FrontEnd) -> None:
        await front.open()
        assert [(await front.read())["params"]["data"] for _ in range(3)] == [1, 2, 3]
        assert streams == [None, "1", "2"]
        assert await front.end() == 0

    run(answering, test)


def test_a_stream_that_ends_before_the_answer_is_taken_up_where_it_ended() -> None:
    places: list[str | None] = []
    progress = b'{"jsonrpc":"2.0","method":"notifications/progress","params":{}}'

    async def call_answered(asked: Asked, writer: Writer) -> None:
        del asked
        writer.write(stream() + b"retry: 1\n" + events(progress, first_id=7))
        await writer.drain()
        writer.close()

    legacy = Legacy(call_answered)

    async def answering(asked: Asked, writer: Writer) -> None:
        if asked.method == "GET" and "last-event-id" in asked.fields:
            places.append(asked.fields["last-event-id"])
            writer.write(reply(events(result(1, SAID), first_id=8), EVENTS))
        else:
            await legacy(asked, writer)

    async def test(front: FrontEnd) -> None:
        await front.open()
        front.write(call(1, GOOD))
        assert (await front.read())["method"] == "notifications/progress"
        assert (await front.read())["result"] == SAID
        assert places == ["7"]

    run(answering, test)


def test_a_session_that_the_server_forgot_is_opened_anew_and_the_call_is_made_once() -> None:
    made: list[object] = []

    async def answer(asked: Asked, writer: Writer) -> None:
        if asked.fields["mcp-session-id"] == "s1" and made:
            refused = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Session not found"}}
            writer.write(reply(json.dumps(refused).encode(), JSON, "404 Not Found"))
            return
        made.append(asked.message["id"])
        await says(asked, writer)

    legacy = Legacy(answer)

    async def test(front: FrontEnd) -> None:
        await front.open()
        for id_ in (1, 2, 3):
            front.write(call(id_, GOOD))
            answered = await front.read()
            assert (answered["id"], answered["result"]) == (id_, SAID)
        assert made == [1, 2, 3]
        assert legacy.sessions == 2
        assert front.server.methods().count("notifications/initialized") == 2
        assert await front.end() == 0
        assert front.server.asked[-1].fields["mcp-session-id"] == "s2"
        assert b"a new one is open" in await front.stderr.read()

    run(legacy, test)


def test_a_session_that_cannot_be_opened_anew_is_told_under_the_id_of_the_call() -> None:
    async def answer(asked: Asked, writer: Writer) -> None:
        del asked
        writer.write(reply(b"", JSON, "404 Not Found"))

    async def test(front: FrontEnd) -> None:
        await front.open()
        front.write(request(5, "x/y"))
        answered = await front.read()
        assert answered["id"] == 5
        assert "404" in answered["error"]["message"]

    run(Legacy(answer), test)


# ── the modern era ──


def test_a_modern_request_repeats_itself_in_headers_and_has_no_session() -> None:
    async def test(front: FrontEnd) -> None:
        front.write(call(1, {"title": "Emma"}, **META))
        assert (await front.read())["result"]["content"] == SAID["content"]
        listed, called = front.server.asked
        assert listed.fields["mcp-method"] == "tools/list"
        fields = {name: value for name, value in called.fields.items() if name.startswith("mcp-")}
        assert fields == {"mcp-protocol-version": VERSION, "mcp-method": "tools/call", "mcp-name": "find_book"}
        assert await front.end() == 0
        assert {asked.method for asked in front.server.asked} == {"POST"}

    run(says, test)


def test_a_modern_call_is_cancelled_by_closing_its_stream_and_not_answered() -> None:
    began = asyncio.Event()

    async def answer(asked: Asked, writer: Writer) -> None:
        if asked.message["id"] == 1:
            writer.write(stream())
            await writer.drain()
            began.set()
        else:
            await says(asked, writer)

    async def test(front: FrontEnd) -> None:
        front.write(call(1, GOOD, **META))
        await began.wait()
        front.server.left.clear()
        front.write(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}')
        await front.server.left.wait()
        front.write(call(2, GOOD, **META))
        assert (await front.read())["id"] == 2
        assert "notifications/cancelled" not in front.server.methods()

    run(answer, test)


def test_a_client_that_asks_in_the_modern_era_first_can_go_on_in_the_legacy_one() -> None:
    async def answer(asked: Asked, writer: Writer) -> None:
        if asked.message["method"] == "server/discover":
            refused = {"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32600, "message": "No session"}}
            writer.write(reply(json.dumps(refused).encode(), JSON, "400 Bad Request"))
        else:
            await says(asked, writer)

    async def test(front: FrontEnd) -> None:
        front.write(request("d", "server/discover", _meta=META))
        assert await front.read() == {"jsonrpc": "2.0", "id": "d", "error": {"code": -32600, "message": "No session"}}
        await front.open()
        front.write(call(1, GOOD))
        assert (await front.read())["result"] == SAID

    run(Legacy(answer), test)


# ── what goes wrong ──


class Listless(Server):
    """Leaves tools/list to `answering`, too."""

    async def serve(self, reader: asyncio.StreamReader, writer: Writer) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await self._answering(await read_request(reader), writer)
        writer.close()


def test_a_tool_list_that_cannot_be_read_keeps_no_call_waiting() -> None:
    async def answering(asked: Asked, writer: Writer) -> None:
        if asked.message["method"] == "tools/list":
            writer.write(reply(b"", "text/plain", "500 Internal Server Error"))
        else:
            await says(asked, writer)

    async def test(front: FrontEnd) -> None:
        front.write(call("x", {"title": 5}))
        assert (await front.read())["result"] == SAID

    run(answering, test, kind=Listless)


def test_credentials_that_are_missing_are_told_with_what_the_server_wants() -> None:
    async def answering(asked: Asked, writer: Writer) -> None:
        del asked
        writer.write(reply(b"go away", "text/plain", "401 Unauthorized", 'WWW-Authenticate: Bearer realm="books"'))

    async def test(front: FrontEnd) -> None:
        front.write(request(0, "initialize", **OPENING))
        answered = await front.read()
        assert answered["id"] == 0
        assert "401" in answered["error"]["message"]
        assert 'Bearer realm="books"' in answered["error"]["message"]
        assert "--header" in answered["error"]["message"]
        assert await front.end() == 0

    run(answering, test)


def test_a_server_that_breaks_off_is_told_and_asked_again_the_next_time() -> None:
    async def answer(asked: Asked, writer: Writer) -> None:
        if asked.message["id"] == 1:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
            await writer.drain()
            writer.close()
        elif asked.message["id"] == 2:
            writer.write(stream())
            await writer.drain()
            writer.close()
        else:
            await says(asked, writer)

    async def test(front: FrontEnd) -> None:
        await front.open()
        for id_ in (1, 2):
            front.write(call(id_, GOOD))
            broken = await front.read()
            assert broken["id"] == id_
            assert "did not answer" in broken["error"]["message"]
        front.write(call(3, GOOD))
        assert (await front.read())["result"] == SAID

    run(Legacy(answer), test)


def test_a_server_that_is_not_there_is_told_as_the_answer_to_each_request() -> None:
    async def test(front: FrontEnd) -> None:
        front.write(request(0, "initialize", **OPENING))
        answered = await front.read()
        assert "the connection was refused" in answered["error"]["message"]

    async def going() -> None:
        listener = await asyncio.start_server(lambda _r, _w: None, "127.0.0.1", 0)
        port = listener.sockets[0].getsockname()[1]
        listener.close()
        await listener.wait_closed()
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "toolvet", "proxy", f"http://127.0.0.1:{port}/"),
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
        )
        await test(FrontEnd(process, Server(says), port))
        assert await FrontEnd(process, Server(says), port).end() == 0

    asyncio.run(asyncio.wait_for(going(), 60))


def test_what_the_client_still_waits_for_when_it_stops_writing_is_served() -> None:
    wait = asyncio.Event()

    async def answer(asked: Asked, writer: Writer) -> None:
        began.set()
        await wait.wait()
        await says(asked, writer)

    began = asyncio.Event()

    async def test(front: FrontEnd) -> None:
        await front.open()
        front.write(call(1, GOOD))
        await began.wait()
        front._stdin.close()
        wait.set()
        assert (await front.read())["result"] == SAID
        assert await front.process.wait() == 0

    run(Legacy(answer), test)


def test_a_signal_in_the_middle_of_a_call_answers_it_and_deletes_the_session() -> None:
    began = asyncio.Event()

    async def answer(asked: Asked, writer: Writer) -> None:
        del asked
        writer.write(stream())
        await writer.drain()
        began.set()

    async def test(front: FrontEnd) -> None:
        await front.open()
        front.write(call(1, GOOD))
        await began.wait()
        front.process.send_signal(signal.SIGTERM)
        answered = await front.read()
        assert answered["id"] == 1
        assert "may have acted" in answered["error"]["message"]
        assert await front.process.wait() == 128 + signal.SIGTERM
        assert front.server.asked[-1].method == "DELETE"

    run(Legacy(answer), test)


def test_a_client_that_reads_no_more_ends_the_proxy() -> None:
    async def test(front: FrontEnd) -> None:
        await front.open()
        front._stdout._transport.close()  # type: ignore[attr-defined]
        await front.process.wait()
        assert front.server.asked[-1].method == "DELETE"

    run(Legacy(says), test)


# ── words ──


def test_credentials_come_from_variables_and_go_with_every_request() -> None:
    async def test(front: FrontEnd) -> None:
        await front.open()
        assert await front.end() == 0
        assert {asked.fields["authorization"] for asked in front.server.asked} == {"Bearer abc"}
        assert {asked.fields["x-key"] for asked in front.server.asked} == {"plain ${T}"}

    words = ("--header", "Authorization: Bearer ${BOOKS_LOGIN}", "--header-env", "X-Key=BOOKS_KEY")
    run(Legacy(says), test, *words, BOOKS_LOGIN="abc", BOOKS_KEY="plain ${T}")


@pytest.mark.parametrize(
    "words", [("--header", "A: ${NO_SUCH_VARIABLE}"), ("--header-env", "A=NO_SUCH_VARIABLE")], ids=["header", "env"]
)
def test_a_variable_that_is_not_set_is_named(words: tuple[str, str]) -> None:
    async def test(front: FrontEnd) -> None:
        assert await front.process.wait() == 2
        assert b"NO_SUCH_VARIABLE is not set" in await front.stderr.read()

    run(says, test, *words)


def test_a_file_can_be_stdin(tmp_path: Path) -> None:
    file = tmp_path / "asked.jsonl"
    file.write_bytes(request(0, "initialize", **OPENING) + b"\n" + call(1, GOOD) + b"\n")

    async def going() -> None:
        async with fronted(Legacy(says)) as front:
            with file.open("rb") as stdin:
                process = await asyncio.create_subprocess_exec(
                    *(sys.executable, "-m", "toolvet", "proxy", f"http://127.0.0.1:{front.port}/mcp"),
                    stdin=stdin,
                    stdout=asyncio.subprocess.PIPE,
                )
                out, _ = await process.communicate()
            assert [json.loads(line)["id"] for line in out.splitlines()] == [0, 1]
            assert process.returncode == 0

    asyncio.run(asyncio.wait_for(going(), 60))
