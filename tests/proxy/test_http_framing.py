"""Where a request ends: the proxy over HTTP never takes a body for a request, and refuses what it cannot frame."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
from tests.proxy.http_world import Asked, Client, Proxy, Writer, call, reply, result, world

from toolvet.proxy.http.open_connections import Limits

TEXT = {"content": [{"type": "text", "text": "Dune, on the second shelf"}]}
SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
H2C = ("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__")


async def found(asked: Asked, writer: Writer) -> None:
    id_ = asked.message.get("id") if asked.body.startswith(b"{") else None
    writer.write(reply(result(id_, TEXT)))


def run(test: Callable[[Proxy, Client], Awaitable[None]], limits: Limits | None = None) -> None:
    async def going() -> None:
        async with world(found, limits=limits) as proxy:
            client = await proxy.connect()
            try:
                await test(proxy, client)
            finally:
                client.close()
                with suppress(ConnectionError):
                    await client.writer.wait_closed()

    asyncio.run(asyncio.wait_for(going(), 60))


async def pause(client: Client) -> None:
    await client.writer.drain()
    await asyncio.sleep(0.1)


def post(proxy: Proxy, *fields: str) -> bytes:
    lines = ["POST /mcp HTTP/1.1", f"Host: 127.0.0.1:{proxy.port}", "Content-Type: application/json", *fields]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


@pytest.mark.parametrize("segments", [1, 2])
@pytest.mark.parametrize("framing", ["length", "chunked"])
@pytest.mark.parametrize("body", [call(1, {"title": "Dune"}), SMUGGLED], ids=["call", "request"])
def test_an_upgrade_is_not_made_and_the_request_keeps_its_body(segments: int, framing: str, body: bytes) -> None:
    async def test(proxy: Proxy, client: Client) -> None:
        chunked = framing == "chunked"
        length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {len(body)}"
        client.writer.write(post(proxy, *H2C, length))
        if segments == 2:
            await pause(client)
        client.writer.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if chunked else body)
        assert (await client.answer()).status == 200
        # The next request of the connection is read right, with another offer to upgrade.
        client.send(call(2, {"title": "Emma"}), *H2C)
        assert (await client.answer()).message["id"] == 2
        asked = [one for one in proxy.server.asked if b"tools/list" not in one.body]
        assert [one.body for one in asked] == [body, call(2, {"title": "Emma"})]
        assert {one.target for one in asked} == {"/mcp"}
        assert not {"upgrade", "http2-settings", "connection"} & set(asked[0].fields)

    run(test)


def test_an_upgrade_without_a_body_is_not_made_and_pipelined_requests_are_kept_apart() -> None:
    async def test(proxy: Proxy, client: Client) -> None:
        client.send(b"", *H2C, method="GET", target="/one")
        client.send(call(1, {"title": "Dune"}), "Connection: upgrade", "Upgrade: websocket")
        client.send(call(2, {"title": "Emma"}))
        assert [(await client.answer()).status for _ in range(3)] == [200] * 3
        targets = [one.target for one in proxy.server.asked if b"tools/list" not in one.body]
        assert targets == ["/one", "/mcp", "/mcp"]

    run(test)


@pytest.mark.parametrize("target", ["127.0.0.1:80", "/mcp"])
def test_a_tunnel_is_refused_and_what_follows_is_no_request(target: str) -> None:
    async def test(proxy: Proxy, client: Client) -> None:
        head = f"CONNECT {target} HTTP/1.1\r\nHost: 127.0.0.1:{proxy.port}\r\n\r\n".encode()
        client.writer.write(head + SMUGGLED)
        assert (await client.answer()).status == 405
        assert await client.reader.read() == b""
        assert proxy.server.asked == []

    run(test)


@pytest.mark.parametrize("segments", [1, 7])
@pytest.mark.parametrize(
    ("line", "status"),
    [
        ("GET /" + "a" * 70_000 + " HTTP/1.1\r\nHost: 127.0.0.1", 414),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: " + "a" * 70_000, 431),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + "a" * 70_000 + ": 1", 431),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: " + " " * 70_000 + "1", 431),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + "X-A: 1\r\n" * 300 + "X-A: 1", 431),
        ("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + ("X-A: " + "a" * 7000 + "\r\n") * 11 + "X-A: 1", 431),
    ],
    ids=["target", "value", "name", "spaces", "many", "sum"],
)
def test_a_head_over_the_limit_is_refused_however_it_comes(line: str, status: int, segments: int) -> None:
    async def test(proxy: Proxy, client: Client) -> None:
        head = line.replace("127.0.0.1", f"127.0.0.1:{proxy.port}").encode() + b"\r\n\r\n"
        step = -(-len(head) // segments)
        for start in range(0, len(head), step):
            client.writer.write(head[start : start + step])
            if segments > 1:
                await client.writer.drain()
                await asyncio.sleep(0.01)
        assert (await client.answer()).status == status
        assert await client.reader.read() == b""
        assert proxy.server.asked == []

    run(test)


def test_a_second_head_over_the_limit_is_refused_after_the_answer_to_the_first() -> None:
    async def test(proxy: Proxy, client: Client) -> None:
        client.send(call(1, {"title": "Dune"}))
        client.send(call(2, {"title": "Emma"}), "X-A: " + "a" * 70_000)
        assert (await client.answer()).message["id"] == 1
        assert (await client.answer()).status == 431
        assert await client.reader.read() == b""
        assert proxy.server.methods() == ["tools/list", "tools/call"]

    run(test)


@pytest.mark.parametrize("segments", [1, 2])
@pytest.mark.parametrize(
    "body",
    [
        b"zz\r\n{}\r\n0\r\n\r\n",
        b"-2\r\n{}\r\n0\r\n\r\n",
        b"2 \n{}\r\n0\r\n\r\n",
        b"2\r\n{}x\r\n0\r\n\r\n",
        b"2\r\n{}",
        b"fffffffffffffffff\r\n{}\r\n0\r\n\r\n",
        b"2\r\n{}\r\n0\r\nX A: 1\r\n\r\n",
    ],
)
def test_a_malformed_chunk_is_answered_400_and_nothing_is_sent_on(body: bytes, segments: int) -> None:
    if body == b"2\r\n{}":
        body += b"\n\n"

    async def test(proxy: Proxy, client: Client) -> None:
        client.writer.write(post(proxy, "Transfer-Encoding: chunked"))
        if segments == 2:
            await pause(client)
        client.writer.write(body)
        assert (await client.answer()).status == 400
        assert await client.reader.read() == b""
        assert proxy.server.asked == []

    run(test)


def test_a_malformed_second_request_leaves_the_answer_to_the_first() -> None:
    async def test(proxy: Proxy, client: Client) -> None:
        client.send(call(1, {"title": "Dune"}))
        # In one piece, the parser would not hand out the first either.
        await pause(client)
        client.writer.write(post(proxy, "Transfer-Encoding: chunked") + b"zz\r\n")
        assert (await client.answer()).message["id"] == 1
        assert (await client.answer()).status == 400
        assert await client.reader.read() == b""
        assert proxy.server.methods() == ["tools/list", "tools/call"]

    run(test)


def test_continue_comes_after_the_answer_to_the_request_before() -> None:
    async def test(proxy: Proxy, client: Client) -> None:
        head = post(proxy, "Expect: 100-continue", f"Content-Length: {len(call(2, {'title': 'Emma'}))}")
        client.send(call(1, {"title": "Dune"}))
        client.writer.write(head)
        assert (await client.answer()).message["id"] == 1
        assert await client.reader.readuntil(b"\r\n\r\n") == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.writer.write(call(2, {"title": "Emma"}))
        assert (await client.answer()).message["id"] == 2

    run(test)


def test_trailers_without_end_are_refused() -> None:
    async def test(proxy: Proxy, client: Client) -> None:
        client.writer.write(post(proxy, "Transfer-Encoding: chunked") + b"2\r\n{}\r\n0\r\nX-A: ")
        for _ in range(20):
            client.writer.write(b"a" * 8000)
            await client.writer.drain()
            await asyncio.sleep(0.01)
        assert (await client.answer()).status == 431

    run(test)


def test_a_request_in_one_piece_with_a_malformed_one_is_refused_with_it() -> None:
    async def test(proxy: Proxy, client: Client) -> None:
        body = call(1, {"title": "Dune"})
        client.writer.write(post(proxy, f"Content-Length: {len(body)}") + body + b"POST /mcp\r\n\r\n\0")
        assert (await client.answer()).status == 400
        assert await client.reader.read() == b""
        assert proxy.server.asked == []

    run(test)


@pytest.mark.parametrize("coding", ["\tchunked", "chunked\t", "gzip, chunked"])
def test_a_coding_behind_an_offer_is_looked_at_too(coding: str) -> None:
    async def test(proxy: Proxy, client: Client) -> None:
        offer = post(proxy, "Connection: upgrade", "Upgrade: websocket", "Content-Length: 2") + b"{}"
        client.writer.write(offer + post(proxy, f"Transfer-Encoding:{coding}") + b"2\r\n{}\r\n0\r\n\r\n")
        assert (await client.answer()).status == 200
        assert (await client.answer()).status in {400, 501}
        assert len(proxy.server.asked) == 1

    run(test)


def test_nothing_is_read_after_a_tunnel_was_refused() -> None:
    async def test(proxy: Proxy, client: Client) -> None:
        client.send(b"", method="CONNECT", target="127.0.0.1:80")
        client.send(b"", method="GET", target="/smuggled")
        assert (await client.answer()).status == 405
        assert await client.reader.read() == b""
        assert proxy.server.asked == []

    run(test)
