"""`toolvet proxy --fit` before a real server, with the official client: on stdio and over HTTP, in both eras."""

import asyncio
import json
import os
import re
import sys
from pathlib import Path
from typing import Any, Literal

import pytest
from tests.proxy.test_http_program import serving

from mcp import Client, StdioServerParameters
from toolvet.cli import run

SERVER = [sys.executable, str(Path(__file__).with_name("long_results_server.py"))]
FIT = ("--fit", "4000 characters")


async def conversation(target: "str | StdioServerParameters", mode: Literal["legacy", "auto"]) -> None:
    async with Client(target, mode=mode) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names == ["orders", "log", "retrieve_result"]
        short, said = await texts(client, "orders", {})
        assert len(short) <= 4_000
        assert json.loads(short)[0]["buyer"] == "buyer-00000"
        found = re.search(r'"id": "(\w+)"', said)
        assert found is not None
        place, _ = await texts(client, "retrieve_result", {"id": found[1], "search": "buyer-01234"})
        assert '"id": 1234, "total": 8638' in place
        whole, page = "", "x"
        while page:
            page, *_ = await texts(client, "retrieve_result", {"id": found[1], "offset": len(whole)})
            if page.startswith("[There are"):
                break
            whole += page
        assert [order["id"] for order in json.loads(whole)] == list(range(3_000))
        log, _ = await texts(client, "log", {})
        assert "ERROR the disk of node-7 is full 2000" in log


async def texts(client: Client, tool: str, arguments: dict[str, Any]) -> list[str]:
    result = await client.call_tool(tool, arguments)
    assert result.is_error is False
    return [block.text for block in result.content]  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_over_stdio(mode: Literal["legacy", "auto"]) -> None:
    words = ["-m", "toolvet", "proxy", *FIT, "--", *SERVER]
    proxy = StdioServerParameters(command=sys.executable, args=words, env={"PYTHONPATH": os.pathsep.join(sys.path)})
    asyncio.run(conversation(proxy, mode))


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_over_http_before_a_command_and_before_a_url(mode: Literal["legacy", "auto"]) -> None:
    with serving(*FIT, "--", *SERVER) as (_, bridge):
        asyncio.run(conversation(bridge, mode))
    with serving("--", *SERVER) as (_, plain), serving(*FIT, plain) as (_, proxy):
        asyncio.run(conversation(proxy, mode))


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_over_stdio_before_a_url(mode: Literal["legacy", "auto"]) -> None:
    with serving("--", *SERVER) as (_, plain):
        words = ["-m", "toolvet", "proxy", *FIT, plain]
        proxy = StdioServerParameters(command=sys.executable, args=words, env={"PYTHONPATH": os.pathsep.join(sys.path)})
        asyncio.run(conversation(proxy, mode))


def test_a_room_that_is_none_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["proxy", "--fit", "plenty", "--", "true"]) == 2
    assert "--fit plenty: write a number of tokens, such as 10000, or '40000 characters'" in capsys.readouterr().err
