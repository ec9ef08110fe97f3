"""`toolvet proxy --listen ADDRESS URL`: serve a server at a URL under an address of the proxy.

Everything that needs no decision passes as it came, in both eras of MCP: JSON and event streams, also resumed ones, GET
and DELETE, headers and status codes, and every path of the server's origin.

`ListenerEnd` says how long each part of the end may take after a signal; a second signal waits for none of them. At
once nothing more is accepted, and connections without a request close. After 1.5 seconds answers that are still under
way are cut; one later, processes behind the bridge are killed. The record gets what is left of 3.5 seconds.
"""

import asyncio
import os
import resource
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import Final

from aiohttp import web

from toolvet.errors import UsageError
from toolvet.proxy.driver import freeze_heap
from toolvet.proxy.http.client_connection import ClientConnection, ClientRequest
from toolvet.proxy.http.front import FrontEnd
from toolvet.proxy.http.message import is_legal
from toolvet.proxy.http.open_connections import Limits, OpenConnections, limits_for
from toolvet.proxy.http.proxied_server import Address, ProxiedServer
from toolvet.proxy.http.request_filter import Listen, RequestFilter, read_listen
from toolvet.proxy.http.upstream import HttpUpstream
from toolvet.proxy.interception import Interception
from toolvet.proxy.record.recorder import Recorder
from toolvet.proxy.session import Policies

# Connections that wait to be accepted. If there is no room for one, its client tries again only after a second.
_MOST_WAITING: Final = 512
# As on pipes (proxy/stdio/loop.py): clients and supervisors kill a process that does not end within a few seconds.
ANSWER_SECONDS: Final = 1.5
SERVER_SECONDS: Final = 1.0
END_SECONDS: Final = 3.5
_LEAST_SECONDS: Final = 0.25


class ListenerEnd:
    """Takes SIGINT and SIGTERM. `asked` is set by the first of them, `hurried` by the second.

    `exit_code` is 0 where everything came to its end, and 128 and the number of the signal where a second one cut it.
    """

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.hurried = asyncio.Event()
        self.exit_code = 0
        self._deadline = 0.0

    def listen(self) -> None:
        """Take the signals of this process, as long as its event loop runs."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.take, number)

    def take(self, number: int) -> None:
        """Take one signal."""
        if self.asked.is_set():
            self.exit_code = 128 + number
            self.hurried.set()
        else:
            self._deadline = monotonic() + END_SECONDS
            self.asked.set()

    @property
    def seconds_left(self) -> float:
        """How long the record may take at the end."""
        return _LEAST_SECONDS if self.hurried.is_set() else max(_LEAST_SECONDS, self._deadline - monotonic())

    async def allow(self, work: Awaitable[object], seconds: float) -> None:
        """Wait for some work for at most `seconds`, and not after a second signal; then it is cancelled."""
        working = asyncio.ensure_future(work)
        hurried = asyncio.ensure_future(self.hurried.wait())
        await asyncio.wait({working, hurried}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        for task in (working, hurried):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


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
    interception: Interception | None = None,
    ready: Callable[[str], None] | None = None,
) -> int:
    """Serve the server at `upstream_url` until SIGINT or SIGTERM. Returns the exit code.

    Args:
        upstream_url: The server's MCP endpoint.
        listen: HOST:PORT to listen on.
        policies: What to do with each tool's calls.
        recorder: Gets what happened.
        token: The secret that clients must send; needed beyond the loopback.
        hosts: Further `Host` names to accept.
        origins: Further `Origin` pages to accept.
        interception: The interceptors to ask.
        headers: Added to each request to the server, in place of the client's own.
        ready: Called with the URL for clients once the proxy listens; by default it is written to stderr.

    Raises:
        UsageError: For an address, URL, token or header that cannot be used.
    """
    where = read_listen(listen)
    request_filter = RequestFilter(where, token, hosts=hosts, origins=origins)
    upstream = HttpUpstream(upstream_url)
    fields = tuple((name.encode(), value.encode()) for name, value in (headers or {}).items())
    if not all(map(is_legal, fields)):
        raise UsageError("a header for the server has a control character in it")
    address = Address(upstream.path, upstream.target, upstream.origin, fields)
    front = FrontEnd(
        ProxiedServer(upstream, address, policies, recorder, interception), request_filter, recorder.render_metrics
    )
    return run_front_end(front, where, upstream.path.decode(), ready)


def run_front_end(front: FrontEnd, where: Listen, path: str, ready: Callable[[str], None] | None) -> int:
    """Serve `front` until SIGINT or SIGTERM. Returns the exit code; `path` ends the URL that `ready` gets.

    After a signal all that takes at most 3.5 seconds, even if a side does not read or answer; a second ends it at once.
    """

    async def serve() -> ListenerEnd:
        ending = ListenerEnd()
        ending.listen()
        front.server.recorder.watch_signals()
        async with listening(front, where, ending=ending) as (host, port):
            freeze_heap()
            shown = f"[{host}]" if ":" in host else host
            (ready or _announce)(f"http://{shown}:{port}{path}")
            await ending.asked.wait()
        return ending

    with asyncio.Runner() as runner:
        ending = runner.run(serve())
    front.server.recorder.close(ending.seconds_left)
    return ending.exit_code


@asynccontextmanager
async def listening(
    front: FrontEnd, where: Listen, limits: Limits | None = None, *, ending: ListenerEnd | None = None
) -> AsyncGenerator[tuple[str, int]]:
    """Serve while the block lasts. Yields the host and port. Raises UsageError for an address that is taken.

    `ending` says how long what follows may take; by default as after one signal.
    """
    refusals = front.server.refusals
    chosen = limits or limits_for(resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    connections = OpenConnections[ClientConnection](chosen, refusals.take)
    loop = asyncio.get_running_loop()
    handlers = web.Server(
        front.handle,
        request_factory=lambda message, body, protocol, writer, task: ClientRequest(
            message, body, protocol, writer, task, loop
        ),
        handler_cancellation=True,
    )
    try:
        server = await loop.create_server(lambda: ClientConnection(handlers, connections, loop), where.host, where.port)
    except OSError as error:
        raise UsageError(f"--listen {where.host}:{where.port}: {error.strerror or error}") from error
    for listener in server.sockets:
        # As an argument of create_server it would also be how many asyncio accepts before it looks at anything else.
        with socket.socket(fileno=os.dup(listener.fileno())) as same:
            same.listen(_MOST_WAITING)
    watching = asyncio.create_task(connections.watch())
    try:
        yield where.host, server.sockets[0].getsockname()[1]
    finally:
        server.close()
        watching.cancel()
        for connection in connections.all():
            connection.shut()
        ending = ending or ListenerEnd()
        # Some streams never end, and some clients never read.
        await ending.allow(connections.rest(), ANSWER_SECONDS)
        for connection in connections.all():
            connection.abort()
        refusals.close()
        await ending.allow(front.server.upstream.close(SERVER_SECONDS), END_SECONDS)


def _announce(url: str) -> None:
    sys.stderr.write(f"toolvet: serving {url}\n")
    sys.stderr.flush()
