"""`toolvet proxy --listen ADDRESS URL`: a server at a URL behind an address of ours, every message through a session.

    client ⇄ ClientConnection → Front → Exchange → HttpUpstream ⇄ server

On raw framing, so that what needs no decision passes as it came, in both eras of MCP: JSON and event streams, also
resumed ones, GET and DELETE, headers and status codes, and every path of the server's origin.
"""

import asyncio
import gc
import signal
import sys
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Final, cast

from toolvet.errors import UsageError
from toolvet.proxy.http.front import Front
from toolvet.proxy.http.guard import Guard, Listen, read_listen
from toolvet.proxy.http.server import ClientConnection, Limits
from toolvet.proxy.http.service import Address, Service
from toolvet.proxy.http.upstream import HttpUpstream
from toolvet.proxy.record.recorder import Recorder
from toolvet.session import Policies
from toolvet.wire.http_head import is_legal

# What is under way when we are told to end may be finished in this time (seconds).
_GRACE: Final = 5.0


def run_http(
    upstream_url: str,
    listen: str,
    policies: Policies,
    recorder: Recorder,
    token: str | None = None,
    *,
    hosts: Iterable[str] = (),
    origins: Iterable[str] = (),
    headers: Mapping[str, str] | None = None,
    ready: Callable[[str], None] | None = None,
) -> int:
    """Serve until SIGINT or SIGTERM; the exit code. `ready` is called with the URL that clients are to use.

    `listen` is HOST:PORT; `hosts` and `origins` are further ones to admit; `headers` go to the server each time.
    Raises UsageError for what cannot be listened on or asked.
    """
    where = read_listen(listen)
    guard = Guard(where, token, hosts=hosts, origins=origins)
    upstream = HttpUpstream(upstream_url)
    fields = tuple((name.encode(), value.encode()) for name, value in (headers or {}).items())
    if not all(map(is_legal, fields)):
        raise UsageError("a header for the server has a line break in it")
    address = Address(upstream.path, upstream.target, upstream.origin, fields)
    front = Front(Service(upstream, address, policies, recorder), guard, recorder.render_metrics)
    return run_front(front, where, upstream.path.decode(), ready)


def run_front(front: Front, where: Listen, path: str, ready: Callable[[str], None] | None) -> int:
    """Serve until SIGINT or SIGTERM; the exit code."""

    async def serve() -> int:
        loop = asyncio.get_running_loop()
        stop = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop.set)
        async with listening(front, where) as (host, port):
            # What is alive now stays so; looking at it again and again would cost the slowest calls milliseconds.
            gc.collect()
            gc.freeze()
            shown = f"[{host}]" if ":" in host else host
            (ready or _tell)(f"http://{shown}:{port}{path}")
            await stop.wait()
        return 0

    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        return runner.run(serve())


@asynccontextmanager
async def listening(front: Front, where: Listen, limits: Limits | None = None) -> AsyncGenerator[tuple[str, int]]:
    """Serve while the block lasts; the address that is listened on. Raises UsageError for one that is taken."""
    connections: set[ClientConnection] = set()
    loop = asyncio.get_running_loop()
    chosen = limits or Limits()
    try:
        server = await loop.create_server(
            lambda: ClientConnection(front.handle, chosen, connections), where.host, where.port
        )
    except OSError as error:
        raise UsageError(f"--listen {where.host}:{where.port}: {error.strerror or error}") from error
    try:
        yield where.host, server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for connection in list(connections):
            connection.shut()
        await _until_done(connections, _GRACE)
        for connection in list(connections):
            connection.abort()
        await front.service.upstream.close()


async def _until_done(connections: set[ClientConnection], seconds: float) -> None:
    """Wait for the answers that are under way. Streams that would never end are cut when the time is over."""
    tasks = [connection.task for connection in connections if connection.task is not None]
    if tasks:
        await asyncio.wait(tasks, timeout=seconds)


def _tell(url: str) -> None:
    sys.stderr.write(f"toolvet: serving {url}\n")
    sys.stderr.flush()


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The loop of uvloop where it is installed: a fifth less per call (benchmarks/proxy_http.py)."""
    try:
        import uvloop  # noqa: PLC0415 - it has no wheel for Windows
    except ImportError:
        return None
    return cast("Callable[[], asyncio.AbstractEventLoop]", uvloop.new_event_loop)
