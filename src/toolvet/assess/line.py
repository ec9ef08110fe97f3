"""A session that is replaced when the server dies or stops answering, so that one tool cannot hide the others."""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Literal

from toolvet.errors import ToolvetError
from toolvet.rules import Oddity
from toolvet.transport import Era, Listing, Lost, Reply, Session, Target, TimedOut, open_session

_MOST_RESTARTS = 25
_PATIENCE = 3.0  # Seconds for a sign of life after a call timed out.


class Line:
    """The one way from an assessment to its server. Safe for several calls at once; `renew` waits for none of them."""

    def __init__(self, target: Target, era: Era | Literal["auto"], timeout: float) -> None:
        self._target = target
        self._era: Era | Literal["auto"] = era
        self._timeout = timeout
        self._stack = AsyncExitStack()
        self._session: Session | None = None
        self._stderr: list[str] = []
        self._oddities: list[Oddity] = []
        self._waited = 0.0
        self._renewing = asyncio.Lock()
        self.restarts = 0
        self.calls = 0

    async def open(self) -> Session:
        """Connect. Raises UnreachableError or AuthenticationError when that is not possible."""
        self._session = await self._stack.enter_async_context(
            open_session(self._target, era=self._era, timeout=max(self._timeout, 10.0))
        )
        # A restarted server is spoken to as it was met: no second detection.
        self._era = self._session.era
        return self._session

    @property
    def session(self) -> Session:
        """The session that is open now."""
        if self._session is None:
            raise RuntimeError("the line was never opened")
        return self._session

    async def list_tools(self) -> Listing:
        """All pages of tools/list."""
        return await self.session.list_tools(timeout=max(self._timeout, 10.0))

    async def call(self, tool: str, arguments: Mapping[str, object]) -> Reply:
        """One tools/call."""
        self.calls += 1
        return await self.session.call_tool(tool, dict(arguments), timeout=self._timeout)

    async def responsive(self) -> bool:
        """Whether the server still answers anything at all. Any answer will do, an error too."""
        method = "server/discover" if self.session.era == "modern" else "ping"
        reply = await self.session.request(method, {}, timeout=min(_PATIENCE, self._timeout))
        return not isinstance(reply, TimedOut | Lost)

    async def renew(self, broken: Session) -> bool:
        """Replace the session `broken`, unless another call did so already. False when the server stays away."""
        async with self._renewing:
            if self._session is not broken:
                return True
            if self.restarts >= _MOST_RESTARTS:
                return False
            self.restarts += 1
            await self.close()
            try:
                await self.open()
            except ToolvetError:
                return False
            return True

    async def close(self) -> None:
        """Close the session and end the server; what it left behind is kept."""
        if self._session is not None:
            session, self._session = self._session, None
            self._stack, stack = AsyncExitStack(), self._stack
            await stack.aclose()
            self._keep(session)

    def _keep(self, session: Session) -> None:
        self._stderr.append(session.peer.stderr)
        self._oddities.extend(_oddities(session))
        self._waited += session.wait_seconds

    @property
    def stderr(self) -> str:
        """What the server wrote to stderr, over all its lives."""
        now = [self._session.peer.stderr] if self._session else []
        return "\n".join(part.rstrip() for part in [*self._stderr, *now] if part.strip())

    @property
    def oddities(self) -> tuple[Oddity, ...]:
        """What was odd on the wire, over all its lives."""
        return (*self._oddities, *(_oddities(self._session) if self._session else ()))

    @property
    def waited(self) -> float:
        """Seconds during which at least one request was waiting for the server."""
        return self._waited + (self._session.wait_seconds if self._session else 0.0)


def _oddities(session: Session) -> tuple[Oddity, ...]:
    return tuple(Oddity(kind=oddity.kind, evidence=oddity.evidence) for oddity in session.oddities)
