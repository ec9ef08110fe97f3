"""An exception of a check over HTTP: the call is answered, the proxy goes on, and stderr has the fault once."""

import asyncio

import pytest
from tests.proxy.http_world import Asked, Proxy, Writer, call, reply, result, world

from toolvet.proxy.session import session as session_module

TEXT = {"content": [{"type": "text", "text": "Dune, on the second shelf"}]}


@pytest.mark.parametrize("room", ["read_call", "vet_call", "judge_result", "needed_tools"])
def test_the_call_is_answered_and_the_fault_is_said_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], room: str
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("secret")

    monkeypatch.setattr(session_module, room, broken)

    async def found(_: Asked, writer: Writer) -> None:
        writer.write(reply(result(1, TEXT)))

    async def test(proxy: Proxy) -> None:
        client = await proxy.connect()
        for _ in range(3):
            client.send(call(1, {"title": "Dune"}))
            assert (await client.answer()).message["result"] == TEXT
        client.close()
        assert {fault["kind"] for fault in proxy.notes("fault")} >= {"check_failed"}

    async def going() -> None:
        async with world(found, None) as proxy:
            await test(proxy)

    asyncio.run(asyncio.wait_for(going(), 60))
    said = [line for line in capsys.readouterr().err.splitlines() if "because of a bug in toolvet" in line]
    assert len(said) == 1
    assert "secret" not in said[0]
