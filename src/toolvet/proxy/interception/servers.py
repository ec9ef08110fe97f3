"""Connections to interceptor servers, in a thread with an event loop, so that drivers with and without one can ask.

A connection that was lost is opened again when a message needs it. Until then, and if that fails, its interceptors
fail, and `fail_open` decides.
"""

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from time import monotonic
from typing import Final, Self, TypeVar

import msgspec

from toolvet.errors import ToolvetError, UnreachableError
from toolvet.mcp.interceptors import EXTENSION, INVOKE, LIST, Interceptor, Phase, read_interceptor
from toolvet.mcp.transport import (
    Answer,
    HttpTarget,
    McpSession,
    StdioTarget,
    TimedOut,
    describe_reply,
    open_session,
    read_list,
)
from toolvet.proxy.interception.chain import ChainEntry, ChainOutcome, Context, InvocationError, run_chain
from toolvet.proxy.session import InterceptorSettings

T = TypeVar("T")

_OPEN_SECONDS: Final = 30.0
# For its end, and as long again after SIGTERM: with the drivers' 2.5 seconds that is within the 3.5 of the whole end.
_CLOSE_SECONDS: Final = 0.4


class Interception:
    """The interceptors of all configured servers. Use it as a context manager, which starts and ends the servers.

    Args:
        settings: The servers, in the order of the settings file.
    """

    def __init__(self, settings: Sequence[InterceptorSettings]) -> None:
        self._servers = [_InterceptorHost(each) for each in settings]
        self._entries: list[ChainEntry] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="toolvet-interceptors", daemon=True)

    def __enter__(self) -> Self:
        """Connect to the servers and read their lists.

        Raises:
            UnreachableError: A server cannot be reached or lists no interceptors, and is not set to `fail_open`.
        """
        self._thread.start()
        try:
            for server in self._servers:
                self.submit(server.open()).result()
                self._entries += server.entries()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """End the servers, all at once."""
        for closing in [self.submit(server.close()) for server in self._servers]:
            closing.result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_CLOSE_SECONDS)

    def hooks_into(self, event: str, phase: Phase) -> bool:
        """Return whether any interceptor wants this event in this phase."""
        return any(entry.interceptor.hooks_into(event, phase) for entry in self._entries)

    def submit(self, work: Coroutine[object, object, T]) -> Future[T]:
        """Run a coroutine in the thread of the connections."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    async def run(self, event: str, phase: Phase, payload: object, session: str) -> ChainOutcome:
        """Ask all interceptors of this event and phase. Await it in the thread of the connections (`submit`).

        `session` is an id of the client's session.
        """
        context = {"sessionId": session, "timestamp": datetime.now(UTC).isoformat()}
        return await run_chain(self._entries, event, phase, payload, context)


class _InterceptorHost:
    """One interceptor server. A task of its own opens and closes its session, as asyncio demands."""

    def __init__(self, settings: InterceptorSettings) -> None:
        self._settings = settings
        command = settings.command
        self._target = (
            HttpTarget(settings.url, settings.headers)
            if settings.url
            else StdioTarget(command[0], tuple(command[1:]), settings.env)
        )
        self._interceptors: list[Interceptor] = []
        self._session: McpSession | None = None
        self._opening: asyncio.Task[McpSession] | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._end: asyncio.Event | None = None

    def entries(self) -> list[ChainEntry]:
        return [ChainEntry(each, self._invoke) for each in self._interceptors]

    async def open(self) -> None:
        """Connect, and read the list. Raises UnreachableError, unless the server is set to `fail_open`."""
        try:
            session = await self._connected()
            listing = await read_list(session.request, LIST, "interceptors", timeout=_OPEN_SECONDS)
            if listing.failure is not None or not listing.pages:
                why = "" if listing.failure is None else f": it {describe_reply(listing.failure)}"
                raise UnreachableError(f"{self._target.describe()} is not an interceptor server{why}")
        except ToolvetError as error:
            if self._settings.fail_open:
                return
            raise UnreachableError(f"interceptor: {error}") from error
        own = self._settings
        listed = [found for each in listing.tools if (found := read_interceptor(each)) is not None]
        missing = set(own.names) - {each.name for each in listed}
        if missing:
            names = ", ".join(each.name for each in listed) or "none"
            raise UnreachableError(f"{self._target.describe()} has no interceptor {sorted(missing)}; it has: {names}")
        self._interceptors = [
            msgspec.structs.replace(
                each,
                mode=each.mode if own.mode is None else own.mode,
                fail_open=each.fail_open if own.fail_open is None else own.fail_open,
                priority=each.priority if own.priority is None else {"request": own.priority, "response": own.priority},
            )
            for each in listed
            if not own.names or each.name in own.names
        ]

    async def close(self) -> None:
        if self._end is not None and self._keeper is not None:
            self._end.set()
            if self._opening is not None and not self._opening.done() and self._opening is not asyncio.current_task():
                # A server that does not answer the first request must not delay the end.
                self._keeper.cancel()
            await asyncio.wait([self._keeper])

    async def _connected(self) -> McpSession:
        """Return the session; open it first if there is none, or it was lost. Raises ToolvetError."""
        if self._session is not None and self._session.peer.alive:
            return self._session
        if self._opening is None or self._opening.done():
            self._opening = asyncio.ensure_future(self._reopen())
        return await asyncio.shield(self._opening)

    async def _reopen(self) -> McpSession:
        await self.close()
        opened: asyncio.Future[McpSession] = asyncio.get_running_loop().create_future()
        self._end = asyncio.Event()
        self._keeper = asyncio.ensure_future(self._keep(opened, self._end))
        session = self._session = await opened
        return session

    async def _keep(self, opened: "asyncio.Future[McpSession]", end: asyncio.Event) -> None:
        try:
            async with AsyncExitStack() as stack:
                capabilities: dict[str, object] = {"extensions": {EXTENSION: dict[str, object]()}}
                opening = open_session(
                    self._target, timeout=_OPEN_SECONDS, capabilities=capabilities, grace=_CLOSE_SECONDS
                )
                opened.set_result(await stack.enter_async_context(opening))
                await end.wait()
        except Exception as error:  # noqa: BLE001 - whoever opens it gets the exception
            if not opened.done():
                opened.set_exception(error)
        finally:
            opened.cancel()

    async def _invoke(self, name: str, event: str, phase: Phase, payload: object, context: Context) -> object:
        seconds = self._settings.timeout
        params: dict[str, object] = {"name": name, "event": event, "phase": phase, "payload": payload}
        params |= {"timeoutMs": int(seconds * 1000), "context": context}
        due = monotonic() + seconds
        try:
            async with asyncio.timeout(seconds):
                session = await self._connected()
        except TimeoutError:
            raise InvocationError(f"no answer within {seconds:g} s") from None
        except ToolvetError as error:
            raise InvocationError(str(error)) from error
        reply = await session.request(INVOKE, params, timeout=max(0.0, due - monotonic()))
        if isinstance(reply, TimedOut):
            raise InvocationError(f"no answer within {seconds:g} s")
        if not isinstance(reply, Answer):
            raise InvocationError(describe_reply(reply))
        return reply.result
