"""Clients send the same head with every message: it is read once, and never taken for another one."""

import asyncio
from typing import Any

import msgspec
import pytest
from tests.proxy.http_world import Asked, Client, Proxy, Writer, call, reply, result, world
from tests.proxy.notes import Conversation, text

from toolvet.proxy.http import front, upstream
from toolvet.proxy.http.callers import Callers, Requester, sender_of
from toolvet.proxy.http.message import RequestHead
from toolvet.proxy.session import CallEnded
from toolvet.proxy.session.trace import TraceSource

TEXT = {"content": [{"type": "text", "text": "Dune, on the second shelf"}]}
SECRET = "tok-7hQ2vZ9xWc41LmNp8R"


async def found(asked: Asked, writer: Writer) -> None:
    writer.write(reply(result(asked.message["id"], TEXT)))


def run(test: Any, answering: Any = found, **given: Any) -> None:
    async def going() -> None:
        async with asyncio.timeout(20), world(answering, **given) as proxy:
            await test(proxy)

    asyncio.run(going())


async def ask(client: Client, number: int, *fields: str, title: str = "Dune") -> Any:
    client.send(call(number, {"title": title}), *fields)
    return await client.answer()


def test_a_head_that_comes_again_is_worked_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    heads: list[RequestHead] = []

    def counted(head: RequestHead, callers: Callers, complain: Any) -> Requester:
        heads.append(head)
        return sender_of(head, callers, complain)

    monkeypatch.setattr(front, "sender_of", counted)

    async def test(proxy: Proxy) -> None:
        client = await proxy.connect()
        for number in range(9, 12):
            answer = await ask(client, number, title="Dune" * number)
            assert answer.message["id"] == number
        assert [asked.fields["content-length"] for asked in proxy.server.asked] == [
            str(len(asked.body)) for asked in proxy.server.asked
        ]
        assert len(heads) == 1
        assert (await ask(client, 1, "X-Tenant: 2")).status == 200
        assert len(heads) == 2
        client.close()

    run(test)


def test_another_head_on_the_same_connection_is_judged_by_itself() -> None:
    async def test(proxy: Proxy) -> None:
        client = await proxy.connect()
        assert (await ask(client, 1, f"Authorization: Bearer {SECRET}")).status == 200
        assert (await ask(client, 2)).status == 200
        assert "authorization" not in proxy.server.asked[-1].fields
        assert (await ask(client, 3, "Host: evil.example")).status == 421
        client.send(call(4, {"title": "x"}), target="/other")
        await client.answer()
        assert proxy.server.asked[-1].target == "/other"
        client.send(b"", "Accept: text/plain", method="GET", target="/healthz")
        assert (await client.answer()).body == b"ok\n"
        assert len(proxy.server.asked) == 6  # three callers, and the list was read for each; two were answered here
        client.close()

    run(test)


def test_a_caller_that_was_forgotten_meanwhile_is_made_again() -> None:
    async def test(proxy: Proxy) -> None:
        client = await proxy.connect()
        await ask(client, 1, "Mcp-Session-Id: 6f1c")
        client.send(b"", "Mcp-Session-Id: 6f1c", method="DELETE")
        await asyncio.sleep(0)
        client.close()
        client = await proxy.connect()
        assert (await ask(client, 2, "Mcp-Session-Id: 6f1c")).status == 200
        client.close()

    run(test)


def test_connections_to_the_server_outlive_bursts() -> None:
    async def test(proxy: Proxy) -> None:
        clients = [await proxy.connect() for _ in range(150)]
        try:
            await ask(clients[0], 0)
            for number in range(4):
                await asyncio.gather(*(ask(client, number) for client in clients))
            # With fewer kept than there are clients, each burst would open dozens again.
            assert proxy.server.connections <= 250
        finally:
            for client in clients:
                client.close()

    run(test)


def test_connections_to_the_server_that_rest_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upstream, "_IDLE_SECONDS", 0.05)

    async def test(proxy: Proxy) -> None:
        await proxy.post(call(1, {"title": "Dune"}))
        await asyncio.wait_for(proxy.server.left.wait(), 5)

    run(test)


def sender(*fields: tuple[bytes, bytes]) -> Requester:
    return sender_of(
        RequestHead(b"POST", b"/mcp", [(b"Authorization", f"Bearer {SECRET}".encode()), *fields]), Callers()
    )


def plain_note(**changes: object) -> CallEnded:
    (note,) = (
        each for each in Conversation().call({"title": "x"}, text("Dune is here")).notes if isinstance(each, CallEnded)
    )
    return msgspec.structs.replace(note, **{"traces": TraceSource("s"), **changes})


def test_a_plain_call_needs_no_mask_and_every_other_one_gets_it() -> None:
    one = sender()
    note = plain_note()
    assert one.without_credentials(note) is note
    verdict = note.verdict
    assert verdict is not None
    quoting: list[dict[str, object]] = [
        {"tool": f"find {SECRET}"},
        {"id": SECRET},
        {"why": f"wrong {SECRET}"},
        {"unjudged": f"{SECRET}"},
        {"result": {"a": SECRET}},
        {"arguments": {"a": SECRET}},
        {"meta": {"traceparent": SECRET}},
        {"meta": {"tracestate": SECRET}},
        {"traces": TraceSource("s", SECRET)},
        {"verdict": msgspec.structs.replace(verdict, evidence=(f"1 {SECRET} block",))},
        {"verdict": msgspec.structs.replace(verdict, issues=(SECRET,))},
        {"verdict": msgspec.structs.replace(verdict, framework=SECRET)},
    ]
    for changes in quoting:
        masked = one.without_credentials(plain_note(**changes))
        assert isinstance(masked, CallEnded)
        assert SECRET in masked.mask.secrets, changes
    # And what was found to be clean does not vouch for other words.
    assert one.without_credentials(plain_note()) == plain_note()
    assert SECRET not in str(one.without_credentials(plain_note(tool=SECRET)).to_dict()["verdict"])  # type: ignore[union-attr]


def test_a_number_that_is_a_part_of_a_credential_is_masked_as_before() -> None:
    one = sender((b"X-Api-Key", b"9988776655aabbcc"))
    assert isinstance(masked := one.without_credentials(plain_note(id=9988776655)), CallEnded)
    assert masked.mask


@pytest.mark.parametrize("cut", [1, 40, 130, -60, -1])
def test_a_known_head_that_comes_in_parts_is_read_as_the_first(cut: int) -> None:
    async def test(proxy: Proxy) -> None:
        client = await proxy.connect()
        await ask(client, 1)
        sent: list[bytes] = []
        client.writer.write, write = sent.append, client.writer.write  # type: ignore[method-assign,assignment]
        for number in (2, 3):
            client.send(call(number, {"title": "Emma"}))
        client.writer.write = write  # type: ignore[method-assign]
        data = b"".join(sent)
        for part in (data[:cut], data[cut:]):
            client.writer.write(part)
            await client.writer.drain()
            await asyncio.sleep(0.01)
        assert [(await client.answer()).message["id"] for _ in range(2)] == [2, 3]
        assert [asked.message["id"] for asked in proxy.server.asked[-2:]] == [2, 3]
        assert all(asked.message["params"]["arguments"] == {"title": "Emma"} for asked in proxy.server.asked[-2:])
        client.close()

    run(test)
