"""The official client at the bridge: sessions side by side, their ends, and streams that are resumed after a cut."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import pytest
from tests.proxy.bridge.world import Bridged, is_alive, run

from mcp import Client

MODES: tuple[tuple[str, Literal["legacy", "auto"]], ...] = (("legacy", "legacy"), ("modern", "auto"))


def url(port: int) -> str:
    return f"http://127.0.0.1:{port}/mcp"


async def pid(client: Client, say: str = "") -> int:
    result = await client.call_tool("whoami", {"say": say})
    (content,) = result.content
    assert content.type == "text"
    seen: dict[str, Any] = json.loads(content.text)
    return int(seen["pid"])


@pytest.mark.parametrize(("era", "mode"), MODES)
def test_clients_side_by_side_get_their_own_answers(era: str, mode: Literal["legacy", "auto"]) -> None:
    async def one(bridge: Bridged, met: asyncio.Barrier) -> set[int]:
        async with Client(url(bridge.port), mode=mode) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == ["whoami"]
            await met.wait()
            found = set(await asyncio.gather(*(pid(client) for _ in range(5))))
            await met.wait()
            return found

    async def test(bridge: Bridged) -> None:
        met = asyncio.Barrier(4)
        found = await asyncio.gather(*(one(bridge, met) for _ in range(4)))
        assert [len(pids) for pids in found] == [1, 1, 1, 1]
        assert len(set.union(*found)) == (4 if mode == "legacy" else 1)

    run(era, test)


def test_a_client_that_leaves_ends_its_process_and_no_other() -> None:
    async def test(bridge: Bridged) -> None:
        async with Client(url(bridge.port), mode="legacy") as staying:
            async with Client(url(bridge.port), mode="legacy") as leaving:
                gone = await pid(leaving)
            while is_alive(gone):  # noqa: ASYNC110 - it waits for another process
                await asyncio.sleep(0.01)
            assert is_alive(await pid(staying))

    run("legacy", test)


class Wire:
    """Connections through it can be cut. `passed` is what went to clients over those that are open."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._writers: set[asyncio.StreamWriter] = set()
        self.passed = b""

    async def carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        onward_reader, onward_writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writers |= {writer, onward_writer}
        await asyncio.gather(self._copy(reader, onward_writer), self._copy(onward_reader, writer, counts=True))

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, counts: bool = False) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(1 << 16):
                self.passed += data if counts else b""
                writer.write(data)
        writer.close()

    def cut(self) -> None:
        for writer in self._writers:
            writer.transport.abort()
        self._writers.clear()
        self.passed = b""


@asynccontextmanager
async def wire_to(port: int) -> AsyncGenerator[tuple[Wire, int]]:
    wire = Wire(port)
    listener = await asyncio.start_server(wire.carry, "127.0.0.1", 0)
    async with listener:
        yield wire, listener.sockets[0].getsockname()[1]
        wire.cut()


def test_the_official_client_gets_its_answer_after_two_cuts(tmp_path: Path) -> None:
    go = tmp_path / "go"

    async def test(bridge: Bridged) -> None:
        async with wire_to(bridge.port) as (wire, port), Client(url(port), mode="legacy") as client:
            before = await pid(client)
            wire.passed = b""
            call = asyncio.create_task(pid(client, f"until:{go}"))
            while b"retry:" not in wire.passed:  # noqa: ASYNC110 - it waits for a socket
                await asyncio.sleep(0.01)
            wire.cut()
            # It comes back for the rest of the stream, which is cut once more.
            while wire.passed.count(b": listening") < 2:  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.01)
            wire.cut()
            go.touch()
            assert await call == before

    run("legacy", test)
