"""The HTTP transport of 2024-11-05, against the official SDK's server side of it and against misbehaviour."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from toolvet.errors import AuthenticationError, UnreachableError
from toolvet.mcp.transport import Answer, ConnectionLost, HttpTarget, McpSession, TimedOut, open_session

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def sse_url() -> Iterator[str]:
    command = [sys.executable, str(HERE / "sse_server.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
        process.terminate()


def in_session(target: HttpTarget, talk: Callable[[McpSession], Awaitable[None]]) -> None:
    async def main() -> None:
        async with open_session(target, timeout=20, grace=1) as session:
            await talk(session)

    asyncio.run(main())


async def converse(session: McpSession) -> None:
    assert (session.era, session.server_name, session.peer.transport) == ("legacy", "sse", "http")
    listing = await session.list_tools(timeout=20)
    assert len(listing.tools) == 1
    replies = await asyncio.gather(*(session.call_tool("echo", {"n": n}, timeout=20) for n in range(5)))
    assert [str(n) in repr(reply.result) for n, reply in enumerate(replies) if isinstance(reply, Answer)] == [True] * 5
    assert session.anomalies == ()


def test_a_server_of_2024_is_spoken_to_when_the_target_says_so(sse_url: str) -> None:
    in_session(HttpTarget(f"{sse_url}/sse", kind="sse"), converse)


def test_a_server_of_2024_is_recognised_by_its_refusal_of_a_post(sse_url: str) -> None:
    in_session(HttpTarget(f"{sse_url}/sse"), converse)


def test_a_call_that_is_not_answered_times_out_and_the_next_one_works(sse_url: str) -> None:
    async def talk(session: McpSession) -> None:
        assert isinstance(await session.call_tool("hang", {}, timeout=0.1), TimedOut)
        assert isinstance(await session.call_tool("echo", {}, timeout=20), Answer)

    in_session(HttpTarget(f"{sse_url}/sse", kind="sse"), talk)


def test_the_end_of_the_stream_is_the_end_of_every_open_call(sse_url: str) -> None:
    async def talk(session: McpSession) -> None:
        reply = await session.call_tool("exit", {}, timeout=20)
        assert isinstance(reply, ConnectionLost)
        again = await session.call_tool("echo", {}, timeout=20)
        assert isinstance(again, ConnectionLost)

    in_session(HttpTarget(f"{sse_url}/mortal", kind="sse"), talk)


@pytest.mark.parametrize(
    ("path", "error", "words"),
    [
        ("/guarded", AuthenticationError, "wants credentials: HTTP 401"),
        ("/elsewhere", UnreachableError, "it wants messages at another origin, http://evil.example/messages"),
        ("/nothing", UnreachableError, "is not an MCP endpoint: HTTP 404 Not Found"),
    ],
)
def test_a_server_of_another_kind_is_named(sse_url: str, path: str, error: type[Exception], words: str) -> None:
    async def talk(_session: McpSession) -> None:
        raise AssertionError

    with pytest.raises(error, match=words):
        in_session(HttpTarget(sse_url + path, kind="sse"), talk)
