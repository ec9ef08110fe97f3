"""`toolvet proxy --listen` as a program: with the official client, in both eras, and to its end."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from fastmcp import Client as FastMcpClient

from mcp import types
from mcp.client import Client

SERVER = str(Path(__file__).with_name("bridge") / "bridged_server.py")


@contextmanager
def serving(*words: str) -> Generator[tuple[subprocess.Popen[str], str]]:
    """The proxy on a free port, and its URL."""
    command = [sys.executable, "-m", "toolvet", "proxy", "--listen", "127.0.0.1:0", *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            told = process.stderr.readline()
            assert told.startswith("toolvet: serving http://127.0.0.1:"), told + process.stderr.read()
            yield process, told.split()[-1]
        finally:
            process.terminate()


async def asked(url: str, mode: str) -> tuple[str, str]:
    """The answer of the time server to a good call, and of the proxy to a bad one."""
    async with Client(url, mode=mode) as client:
        await client.list_tools()
        good = await client.call_tool("get_current_time", {"timezone": "Europe/Berlin"})
        bad = await client.call_tool("get_current_time", {"timezon": "Europe/Berlin"})
    assert (good.is_error, bad.is_error) == (False, True)
    first, second = good.content[0], bad.content[0]
    assert isinstance(first, types.TextContent)
    assert isinstance(second, types.TextContent)
    return first.text, second.text


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_official_client_works_through_a_bridge_and_a_proxy_before_it(mode: str) -> None:
    with serving("--", sys.executable, "-m", "mcp_server_time") as (_, bridge), serving(bridge) as (_, proxy):
        for url in (bridge, proxy):
            good, bad = asyncio.run(asked(url, mode))
            assert "Europe/Berlin" in good
            assert "Rename 'timezon' to 'timezone'" in bad


def test_the_client_of_fastmcp_works_through_a_bridge_and_a_proxy_before_it() -> None:
    async def asked_by_fastmcp(url: str) -> tuple[str, str]:
        async with FastMcpClient(url) as client:
            assert [tool.name for tool in await client.list_tools()] != []
            good = await client.call_tool("get_current_time", {"timezone": "Europe/Berlin"})
            bad = await client.call_tool("get_current_time", {"timezon": "Europe/Berlin"}, raise_on_error=False)
        return good.content[0].text, bad.content[0].text

    with serving("--", sys.executable, "-m", "mcp_server_time") as (_, bridge), serving(bridge) as (_, proxy):
        for url in (bridge, proxy):
            good, bad = asyncio.run(asked_by_fastmcp(url))
            assert "Europe/Berlin" in good
            assert "Rename 'timezon' to 'timezone'" in bad


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_proxy_and_all_it_started(number: int) -> None:
    was_open = False

    async def opened(url: str) -> None:
        nonlocal was_open
        async with Client(url, mode="legacy") as client:
            was_open = bool((await client.list_tools()).tools)
            os.kill(process.pid, number)
            await asyncio.to_thread(process.wait, 30)

    with serving("--", sys.executable, SERVER) as (process, url):
        # The client may complain of the end that it sees.
        with suppress(Exception):
            asyncio.run(asyncio.wait_for(opened(url), 40))
        assert was_open
        assert process.wait(1) == 0
    listed = subprocess.run(["ps", "-eo", "ppid,args"], capture_output=True, text=True, check=True).stdout
    assert not [line for line in listed.splitlines() if line.split()[0] == str(process.pid)]


def test_an_address_that_is_taken_is_a_wrong_command_line() -> None:
    with serving("--", sys.executable, SERVER) as (_, url):
        port = url.split(":")[2].split("/")[0]
        words = ["proxy", "--listen", f"127.0.0.1:{port}", "http://127.0.0.1:1/mcp"]
        ended = subprocess.run([sys.executable, "-m", "toolvet", *words], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "in use" in ended.stderr


def test_an_open_address_needs_a_token() -> None:
    words = ["proxy", "--listen", "0.0.0.0:0", "http://127.0.0.1:1/mcp"]
    ended = subprocess.run([sys.executable, "-m", "toolvet", *words], capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert "--token" in ended.stderr
