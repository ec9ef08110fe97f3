"""Real servers at a URL, and the official client that starts a command: as without the proxy, but for better errors."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest

from mcp import Client, StdioServerParameters

TESTS = Path(__file__).parents[1]
SERVERS = {
    "sdk": (str(TESTS / "mcp" / "transport" / "sdk_server.py"),),
    "fastmcp": (str(TESTS / "agents" / "integrations" / "flights.py"), "fastmcp", "http"),
}
MODES: tuple[Literal["legacy", "auto"], ...] = ("legacy", "auto")
VERSIONS = {"legacy": "2025-11-25", "auto": "2026-07-28"}


def started(name: str) -> Iterator[str]:
    process = subprocess.Popen([sys.executable, *SERVERS[name]], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield f"http://127.0.0.1:{int(process.stdout.readline())}/mcp"
    process.kill()
    process.communicate()


@pytest.fixture(scope="module")
def sdk() -> Iterator[str]:
    yield from started("sdk")


@pytest.fixture(scope="module")
def fastmcp() -> Iterator[str]:
    yield from started("fastmcp")


def through(url: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable, args=["-m", "toolvet", "proxy", url], env={"PYTHONPATH": os.pathsep.join(sys.path)}
    )


async def listed(client: Client) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = []
    page = await client.list_tools()
    tools += [tool.model_dump(mode="json") for tool in page.tools]
    while page.next_cursor is not None:
        page = await client.list_tools(cursor=page.next_cursor)
        tools += [tool.model_dump(mode="json") for tool in page.tools]
    return tools


@pytest.mark.parametrize("mode", MODES)
def test_the_tools_and_answers_of_an_sdk_server_are_those_it_gives_directly(
    sdk: str, mode: Literal["legacy", "auto"]
) -> None:
    async def conversation(target: "str | StdioServerParameters") -> str:
        async with Client(target, mode=mode) as client:
            assert client.protocol_version == VERSIONS[mode]
            heard = [
                await listed(client),
                (await client.call_tool("headed", {"region": "größe", "n": 2})).model_dump(mode="json"),
                (await client.call_tool("echo", {"large": 300_000})).model_dump(mode="json"),
            ]
        return json.dumps(heard)

    async def going() -> None:
        assert await conversation(through(sdk)) == await conversation(sdk)

    asyncio.run(asyncio.wait_for(going(), 60))


@pytest.mark.parametrize("mode", MODES)
def test_many_calls_at_once_each_get_their_own_answer(sdk: str, mode: Literal["legacy", "auto"]) -> None:
    async def going() -> None:
        async with Client(through(sdk), mode=mode) as client:
            results = await asyncio.gather(*(client.call_tool("echo", {"n": number}) for number in range(300)))
        texts = [getattr(result.content[0], "text", "") for result in results]
        assert texts == [f"echo {{'n': {number}}}" for number in range(300)]

    asyncio.run(asyncio.wait_for(going(), 60))


@pytest.mark.parametrize("mode", MODES)
def test_a_fastmcp_server_behind_the_proxy_gives_the_same_and_gets_no_bad_call(
    fastmcp: str, mode: Literal["legacy", "auto"]
) -> None:
    async def going() -> None:
        async with Client(through(fastmcp), mode=mode) as client, Client(fastmcp, mode=mode) as direct:
            assert await listed(client) == await listed(direct)
            good: dict[str, Any] = {"city": "Lisbon", "seats": 2}
            assert await client.call_tool("book_flight", good) == await direct.call_tool("book_flight", good)
            refused = await client.call_tool("book_flight", {"town": "Lisbon"})
            assert refused.is_error
            assert "**city**" in getattr(refused.content[0], "text", "")

    asyncio.run(asyncio.wait_for(going(), 60))
