"""A call that the proxy over HTTP cannot read is refused, or passes and is recorded: never unchecked and unsaid."""

import asyncio
import codecs
import json
from collections.abc import Awaitable, Callable

import pytest
from tests.proxy.http_world import Answer, Asked, Proxy, Writer, call, reply, result, world
from tests.proxy.session.test_unreadable_calls import UNREADABLE

from toolvet.proxy.session import ProxySettings, ToolSettings

TEXT = {"content": [{"type": "text", "text": "Dune, on the second shelf"}]}
BAD = call(1, {"titel": "Dune"})
JSON = "Content-Type: application/json"
ENFORCE, AUDIT, OFF = (ProxySettings(arguments=how) for how in ("enforce", "audit", "off"))
ONE_TOOL = ProxySettings(arguments="off", tools={"find_book": ToolSettings(arguments="enforce")})

# Method, fields, body, status of the refusal, and what the record calls it.
UNREAD = {
    "text": ("POST", ["Content-Type: text/plain"], BAD, 415, "a POST of text/plain"),
    "json-rpc": ("POST", ["Content-Type: application/json-rpc"], BAD, 415, "a POST of application/json-rpc"),
    "form": ("POST", ["Content-Type: application/x-www-form-urlencoded"], BAD, 415, "a POST of application/x-www"),
    "charset": ("POST", [JSON + "; charset=UTF-16"], BAD, 415, "a POST in utf-16"),
    "gzip": ("POST", [JSON, "Content-Encoding: gzip"], BAD, 415, "a POST with the encoding gzip"),
    "identity and gzip": (
        "POST",
        [JSON, "Content-Encoding: identity, gzip"],
        BAD,
        415,
        "the encoding identity, gz",
    ),
    "PUT": ("PUT", [JSON], BAD, 405, "a PUT with a body"),
    "PATCH": ("PATCH", [JSON], BAD, 405, "a PATCH with a body"),
    "GET": ("GET", [JSON], BAD, 400, "a GET with a body"),
    "DELETE": ("DELETE", [JSON], BAD, 400, "a DELETE with a body"),
}
# As they come, a bad call is refused by the session, and a right one passes as it is.
READ = {
    "no type": ([], b""),
    "utf-8": (['Content-Type: Application/JSON; charset="UTF-8"'], b""),
    "identity": ([JSON, "Content-Encoding: identity"], b""),
    "identity twice": ([JSON, "Content-Encoding: Identity", "Content-Encoding: identity"], b""),
    "mark": ([JSON], codecs.BOM_UTF8),
}


async def found(_: Asked, writer: Writer) -> None:
    writer.write(reply(result(1, TEXT)))


def run(test: Callable[[Proxy], Awaitable[None]], settings: ProxySettings | None = None) -> None:
    async def going() -> None:
        async with world(found, settings) as proxy:
            await test(proxy)

    asyncio.run(asyncio.wait_for(going(), 60))


async def ask(proxy: Proxy, method: str, fields: list[str], body: bytes, target: str = "/mcp") -> Answer:
    client = await proxy.connect()
    try:
        lines = [f"{method} {target} HTTP/1.1", f"Host: 127.0.0.1:{proxy.port}", *fields]
        client.writer.write("\r\n".join([*lines, f"Content-Length: {len(body)}"]).encode() + b"\r\n\r\n" + body)
        return await client.answer()
    finally:
        client.close()


@pytest.mark.parametrize("settings", [None, ENFORCE, ONE_TOOL], ids=["default", "enforce", "one tool"])
@pytest.mark.parametrize("name", UNREAD)
def test_what_cannot_be_read_is_refused_where_arguments_are_enforced(name: str, settings: ProxySettings | None) -> None:
    method, fields, body, status, what = UNREAD[name]

    async def test(proxy: Proxy) -> None:
        answer = await ask(proxy, method, fields, body)
        assert answer.status == status
        assert what in json.loads(answer.body)["error"]["message"]
        assert ("Allow: GET, POST, DELETE, OPTIONS" in answer.head) == (status == 405)
        assert proxy.server.asked == []

    run(test, settings)


@pytest.mark.parametrize("settings", [AUDIT, OFF], ids=["audit", "off"])
@pytest.mark.parametrize("name", UNREAD)
def test_what_cannot_be_read_passes_and_is_recorded_where_they_are_not(name: str, settings: ProxySettings) -> None:
    method, fields, body, _, what = UNREAD[name]

    async def test(proxy: Proxy) -> None:
        assert (await ask(proxy, method, fields, body)).status == 200
        assert [(one.method, one.body) for one in proxy.server.asked] == [(method, body)]
        (fault,) = proxy.notes("fault")
        assert fault["kind"] == "call_unreadable"
        assert what in str(fault["message"])

    run(test, settings)


@pytest.mark.parametrize("name", READ)
def test_a_call_in_another_spelling_is_read(name: str) -> None:
    fields, mark = READ[name]

    async def test(proxy: Proxy) -> None:
        answer = await ask(proxy, "POST", fields, mark + BAD)
        assert "titel" in answer.message["result"]["content"][0]["text"]
        good = mark + call(1, {"title": "Dune"})
        assert (await ask(proxy, "POST", fields, good)).message["result"] == TEXT
        assert [one.body for one in proxy.server.asked if b"tools/call" in one.body] == [good]
        assert [note["outcome"] for note in proxy.notes("call_ended")] == ["refused", "success"]
        assert proxy.notes("fault") == []

    run(test)


@pytest.mark.parametrize("target", ["/", "/mcp?a=1", "/mcp/", "//mcp", "/MCP", "/%6Dcp", "/x/../mcp", "/mcp;a"])
def test_another_spelling_of_the_endpoint_is_no_way_around(target: str) -> None:
    async def test(proxy: Proxy) -> None:
        assert (await ask(proxy, "POST", ["Content-Type: text/plain"], BAD, target)).status == 415
        assert proxy.server.asked == []

    run(test)


def test_a_form_for_another_page_of_the_server_passes_and_is_recorded() -> None:
    async def test(proxy: Proxy) -> None:
        form = ["Content-Type: application/x-www-form-urlencoded"]
        assert (await ask(proxy, "POST", form, b"grant_type=refresh_token", "/token")).status == 200
        assert proxy.server.asked[0].body == b"grant_type=refresh_token"
        (fault,) = proxy.notes("fault")
        assert fault["message"] == "A request passed unchecked: a POST of application/x-www-form-urlencoded."

    run(test)


@pytest.mark.parametrize("method", ["GET", "DELETE", "OPTIONS", "PUT"])
def test_a_request_without_a_body_passes_unrecorded(method: str) -> None:
    async def test(proxy: Proxy) -> None:
        assert (await ask(proxy, method, ["Content-Type: text/plain"], b"")).status == 200
        assert proxy.notes("fault") == []

    run(test)


# The heads of real clients beside host and session, as seen on 2026-11-22: the Python SDK 2.3.0 (and FastMCP 4.1.2) and
# the TypeScript SDK 1.32.2; the others as their HTTP libraries are known to write them.
PYTHON = [
    "Accept-Encoding: gzip, deflate",
    "accept: application/json, text/event-stream",
    "content-type: application/json",
]
NODE = ["accept-language: *", "sec-fetch-mode: cors", "user-agent: node", "accept-encoding: gzip, deflate"]
JAVA = [
    "Connection: Upgrade, HTTP2-Settings",
    "Upgrade: h2c",
    "HTTP2-Settings: AAEAAEAAAAIAAAAAAAMAAAAAAAQBAAAAAAUAAEAAAAYABgAA",
]
POSTS = {
    "Python": [*PYTHON, "Cache-Control: no-store"],
    "TypeScript": ["content-type: application/json", *NODE],
    "C#": ["Content-Type: application/json; charset=utf-8"],
    "Java": [JSON, *JAVA],
    "axios": ["Content-Type: application/json;charset=UTF-8"],
    "curl": [JSON, "Expect: 100-continue"],
    "parameters": ['Content-Type: application/json; charset="utf-8"; profile="https://example.com/a;b"'],
    "space": ["Content-Type: application/json ; charset = utf8"],
    "empty encoding": [JSON, "Content-Encoding:"],
}
BODYLESS = {
    "Python": PYTHON,
    "TypeScript": NODE,
    "Java": JAVA,
    "requests": ["Content-Length: 0"],
    "typed": ["Content-Type: application/json; charset=utf-8", "Content-Length: 0"],
    "form": ["Content-Type: application/x-www-form-urlencoded", "Content-Length: 0"],
    "encoded": ["Content-Encoding: gzip", "Content-Length: 0"],
}


@pytest.mark.parametrize("name", POSTS)
def test_a_call_of_a_real_client_is_read(name: str) -> None:
    async def test(proxy: Proxy) -> None:
        answer = await ask(proxy, "POST", POSTS[name], call(1, {"title": "Dune"}))
        if "100 Continue" in answer.head:
            assert name == "curl"
        else:
            assert answer.message["result"] == TEXT
        assert proxy.notes("fault") == []

    run(test)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("name", BODYLESS)
def test_a_stream_or_an_end_of_a_real_client_passes(name: str, method: str) -> None:
    async def test(proxy: Proxy) -> None:
        client = await proxy.connect()
        client.send(b"", *BODYLESS[name], method=method)
        assert (await client.answer()).status == 200
        assert [one.method for one in proxy.server.asked] == [method]
        assert proxy.notes("fault") == []
        client.close()

    run(test)


@pytest.mark.parametrize("method", ["GET", "DELETE", "POST"])
@pytest.mark.parametrize(("sent", "status"), [(b"0\r\n\r\n", 200), (b"2\r\n{}\r\n0\r\n\r\n", None)])
def test_a_body_in_chunks_counts_where_it_has_any(method: str, sent: bytes, status: int | None) -> None:
    async def test(proxy: Proxy) -> None:
        client = await proxy.connect()
        fields = "Host: localhost\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n"
        client.writer.write(f"{method} /mcp HTTP/1.1\r\n{fields}".encode())
        await client.writer.drain()
        await asyncio.sleep(0.05)
        client.writer.write(sent)
        assert (await client.answer()).status == (status or (415 if method == "POST" else 400))
        assert len(proxy.server.asked) == (status == 200)
        assert [note["kind"] for note in proxy.notes("fault")] == ([] if status else ["request_refused"])
        client.close()

    run(test)


def test_a_call_in_utf_16_is_refused_where_it_is_too_large_to_be_read() -> None:
    async def test(proxy: Proxy) -> None:
        body = b" " * (17 << 20) + BAD.decode().encode("utf-16-le")
        assert (await ask(proxy, "POST", [JSON], body)).status == 413
        assert proxy.server.asked == []

    run(test)


# Over HTTP a byte order mark is read.
NO_MESSAGE = {name: case for name, case in UNREADABLE.items() if name != "byte order mark"}


@pytest.mark.parametrize(("sent", "id_"), NO_MESSAGE.values(), ids=NO_MESSAGE)
def test_a_call_that_is_no_legal_message_is_refused_where_arguments_are_enforced(
    sent: str | bytes, id_: object
) -> None:
    body = sent if isinstance(sent, bytes) else sent.encode()

    async def test(proxy: Proxy) -> None:
        answer = await ask(proxy, "POST", [JSON], body)
        said = json.loads(answer.body)
        assert (said["id"], said["error"]["code"]) == (id_, -32600)
        assert proxy.server.asked == []

    run(test)


@pytest.mark.parametrize("settings", [AUDIT, OFF], ids=["audit", "off"])
def test_such_a_call_passes_and_is_recorded_where_they_are_not(settings: ProxySettings) -> None:
    async def test(proxy: Proxy) -> None:
        body = str(UNREADABLE["NaN"][0]).encode()
        assert (await ask(proxy, "POST", [JSON], body)).status == 200
        assert [one.body for one in proxy.server.asked] == [body]
        assert [fault["kind"] for fault in proxy.notes("fault")] == ["call_unreadable"]

    run(test, settings)
