"""Clients that are slow, silent or many: each has its limit, and none takes the place of a caller."""

import asyncio
import json
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, closing, contextmanager, suppress
from pathlib import Path

import pytest
from tests.proxy.http_world import Asked, Client, Writer, call, reply, result, world

from toolvet.proxy.bridge.bridge import Bridge
from toolvet.proxy.http.front import FrontEnd
from toolvet.proxy.http.open_connections import Limits, OpenConnections
from toolvet.proxy.http.proxied_server import Address, ProxiedServer
from toolvet.proxy.http.request_filter import Listen, RequestFilter
from toolvet.proxy.http.serve import listening
from toolvet.proxy.record.recorder import Recorder
from toolvet.proxy.session import Policies

SERVER = str(Path(__file__).with_name("bridge") / "bridged_server.py")
MANY = 3_000
TEXT = {"content": [{"type": "text", "text": "Dune, on the second shelf"}]}
# All of them far below the defaults, and the pause far above: what cuts a trickle is the time in all.
SLOW = Limits(body_start_seconds=0.5, body_rate=500, body_seconds=60, head_seconds=60)
PAUSE = Limits(body_start_seconds=60, body_seconds=0.3, head_seconds=60)


async def found(asked: Asked, writer: Writer) -> None:
    id_ = asked.message.get("id") if asked.body.startswith(b"{") else None
    writer.write(reply(result(id_, TEXT)))


@asynccontextmanager
async def before(kind: str, limits: Limits) -> AsyncGenerator[tuple[int, Callable[[], object]]]:
    """A proxy before a server at a URL, or before one on pipes: its port, and how many requests reached the server."""
    if kind == "url":
        async with world(found, limits=limits) as proxy:
            yield proxy.port, lambda: len(proxy.server.asked)
        return
    bridge, where = Bridge([sys.executable, SERVER], None, None), Listen("127.0.0.1", 0)
    with Recorder() as recorder:
        service = ProxiedServer(bridge, Address(), Policies(), recorder)
        async with listening(FrontEnd(service, RequestFilter(where), recorder.render_metrics), where, limits) as (
            _,
            port,
        ):
            yield port, lambda: 0


def run(test: Callable[[Client, Callable[[], object]], Awaitable[None]], kind: str, limits: Limits) -> None:
    async def going() -> None:
        async with before(kind, limits) as (port, asked):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                await test(Client(reader, writer, port), asked)
            finally:
                writer.close()
                with suppress(ConnectionError):
                    await writer.wait_closed()

    asyncio.run(asyncio.wait_for(going(), 60))


def head(client: Client, *fields: str, kind: str = "application/json") -> None:
    lines = ["POST /mcp HTTP/1.1", "Host: localhost", f"Content-Type: {kind}", *fields]
    client.writer.write("\r\n".join(lines).encode() + b"\r\n\r\n")


async def trickle(client: Client, part: bytes) -> None:
    """Send a part again and again, until the connection is closed."""
    with suppress(ConnectionError):
        while True:
            client.writer.write(part)
            await client.writer.drain()
            await asyncio.sleep(0.05)


@pytest.mark.parametrize("kind", ["url", "command"])
@pytest.mark.parametrize("framing", ["length", "chunked", "part of a chunk"])
def test_a_body_that_trickles_is_cut_with_408(kind: str, framing: str) -> None:
    async def test(client: Client, asked: Callable[[], object]) -> None:
        head(client, "Content-Length: 100000" if framing == "length" else "Transfer-Encoding: chunked")
        if framing == "part of a chunk":
            client.writer.write(b"ffff\r\n")
        sending = asyncio.create_task(trickle(client, b"1\r\n{\r\n" if framing == "chunked" else b"{"))
        answer = await client.answer()
        assert (answer.status, answer.body) == (408, b"the request's body took too long\n")
        sending.cancel()
        assert asked() == 0

    run(test, kind, SLOW)


@pytest.mark.parametrize("kind", ["url", "command"])
@pytest.mark.parametrize("limits", [SLOW, PAUSE], ids=["in all", "pause"])
@pytest.mark.parametrize("begun", [b"", b"{"])
def test_a_body_that_never_comes_is_cut_with_408(kind: str, limits: Limits, begun: bytes) -> None:
    async def test(client: Client, asked: Callable[[], object]) -> None:
        head(client, "Content-Length: 10")
        client.writer.write(begun)
        assert (await client.answer()).status == 408
        assert await client.reader.read() == b""
        assert asked() == 0

    run(test, kind, limits)


def test_a_body_that_is_passed_on_as_it_comes_is_cut_too() -> None:
    async def test(client: Client, asked: Callable[[], object]) -> None:
        # To another path it streams, and the server waits for its end.
        client.writer.write(b"PUT /page HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n")
        sending = asyncio.create_task(trickle(client, b"a"))
        assert (await client.answer()).status == 408
        sending.cancel()
        assert asked() == 0

    run(test, "url", SLOW)


def test_a_slow_second_request_is_cut_after_the_answer_to_the_first() -> None:
    async def test(client: Client, asked: Callable[[], object]) -> None:
        client.send(call(1, {"title": "Dune"}))
        head(client, "Content-Length: 10")
        assert (await client.answer()).message["id"] == 1
        assert (await client.answer()).status == 408
        assert asked() == 2

    run(test, "url", SLOW)


def test_a_steady_body_is_given_the_time_that_its_bytes_earn() -> None:
    async def test(client: Client, asked: Callable[[], object]) -> None:
        body = call(1, {"title": "Dune"}) + b" " * 4000
        head(client, f"Content-Length: {len(body)}")
        # Ten times as long as the first bytes may take: 4,000 bytes earn eight seconds.
        for start in range(0, len(body), 500):
            client.writer.write(body[start : start + 500])
            await client.writer.drain()
            await asyncio.sleep(0.1)
        assert (await client.answer()).message["id"] == 1
        assert asked() == 2

    run(test, "url", SLOW)


def test_the_time_in_which_the_proxy_does_not_read_is_not_the_client_s() -> None:
    async def held(asked: Asked, writer: Writer) -> None:
        await asyncio.sleep(1.0)
        await found(asked, writer)

    async def going() -> None:
        async with world(held, limits=SLOW) as proxy:
            client = await proxy.connect()
            client.send(call(1, {"title": "Dune"}))
            body = call(2, {"title": "Emma"})
            # Its body is read when the first is answered, later than a body may take.
            head(client, f"Content-Length: {len(body)}")
            await asyncio.sleep(0.8)
            client.writer.write(body[:10])
            assert (await client.answer()).message["id"] == 1
            client.writer.write(body[10:])
            assert (await client.answer()).message["id"] == 2
            client.close()

    asyncio.run(asyncio.wait_for(going(), 60))


class Place:
    """A connection that notes when it has to go."""

    def __init__(self) -> None:
        self.went = False

    def make_room(self) -> None:
        self.went = True

    def check(self, now: float) -> None:
        del now


def test_connections_without_a_request_go_first_and_those_with_one_never() -> None:
    places = OpenConnections[Place](Limits(connections=4))
    silent, silent_too, idle, busy, new = (Place() for _ in range(5))
    assert all(map(places.admit, (idle, busy, silent, silent_too)))
    for one in (idle, busy):
        places.note_request(one)
    places.note_idle(idle)
    gone = [silent, silent_too, idle]
    for number, _ in enumerate(gone):
        assert [one.went for one in gone] == [True] * number + [False] * (3 - number)
        assert places.admit(new if number == 0 else Place())
        # The new one sends its request: it no longer takes another's place.
        places.note_request(places.all()[0] if number else new)
    assert not busy.went
    assert len(places) == 4


@contextmanager
def many_files() -> Generator[None]:
    """Let this process open more files than the connections of a test."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MANY + 500
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"a process here may open {hard} files, and this test needs {wanted}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@contextmanager
def listening_program(*target: str) -> Generator[int]:
    """The port of a proxy with as few files as most systems give a process."""
    few = ["sh", "-c", 'ulimit -n 1024; exec "$@"', "sh"]
    command = [*few, sys.executable, "-m", "toolvet", "proxy", "--listen", "127.0.0.1:0", *target]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            told = process.stderr.readline()
            assert told.startswith("toolvet: serving"), told + process.stderr.read()
            yield int(told.split(":")[3].split("/")[0])
        finally:
            process.send_signal(signal.SIGTERM)
            assert "Traceback" not in process.stderr.read()


def asked_over(connection: socket.socket, body: bytes = b"", target: str = "/healthz") -> bytes:
    """Send a request over an open connection, and read the answer as far as it comes at once."""
    fields = "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n" if body else ""
    line = f"{'POST' if body else 'GET'} {target} HTTP/1.1\r\nHost: localhost\r\n"
    connection.sendall(f"{line}{fields}Content-Length: {len(body)}\r\n\r\n".encode() + body)
    return connection.recv(1 << 16)


@contextmanager
def crowd(port: int, said: str) -> Generator[list[socket.socket]]:
    """Many connections, open at once, that say nothing, half a head, or one request and nothing more."""
    members: list[socket.socket] = []
    try:
        for _ in range(MANY):
            member = socket.create_connection(("127.0.0.1", port), timeout=30)
            members.append(member)
            if said == "half a head":
                member.sendall(b"POST /mcp HTTP/1.1\r\nHost: loc")
            elif said == "one request":
                assert asked_over(member).startswith(b"HTTP/1.1 200")
        yield members
    finally:
        for member in members:
            member.close()


@pytest.mark.parametrize("kind", ["url", "command"])
@pytest.mark.parametrize("said", ["nothing", "half a head", "one request"])
def test_three_thousand_idle_connections_do_not_starve_a_caller(kind: str, said: str) -> None:
    opening = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    initialize = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": opening}).encode()
    with many_files(), listening_program("--", sys.executable, SERVER) as bridge:
        if kind == "command":
            check_crowd(bridge, said, initialize)
        else:
            with listening_program(f"http://127.0.0.1:{bridge}/mcp") as port:
                check_crowd(port, said, initialize)


def check_crowd(port: int, said: str, message: bytes) -> None:
    with closing(socket.create_connection(("127.0.0.1", port), timeout=30)) as early:
        assert asked_over(early).startswith(b"HTTP/1.1 200")
        with crowd(port, said):
            for _ in range(20):
                with closing(socket.create_connection(("127.0.0.1", port), timeout=30)) as caller:
                    assert asked_over(caller, message, "/mcp").startswith(b"HTTP/1.1 200")
            if said != "one request":
                # A client that was there before the crowd keeps its connection, too.
                assert asked_over(early, message, "/mcp").startswith(b"HTTP/1.1 200")
