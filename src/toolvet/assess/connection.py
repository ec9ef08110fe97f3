"""A session that is replaced when the server dies or stops answering, so that one tool cannot hide the others.

Through it `ValidationProbe` asks the server's own validator about each call just before it is made; rules compare its
answer with the outcome of the call.
"""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Final, Literal

from toolvet.assess.rules import ObservedValidation, Preview, ToolDefinition, WireAnomaly
from toolvet.core.checks import (
    DEFAULT_METHOD,
    ValidationCall,
    ValidationRequest,
    announcement,
    misannounced,
    parse_reply,
)
from toolvet.errors import ToolvetError
from toolvet.mcp.transport import (
    Answer,
    ConnectionLost,
    Era,
    Listing,
    McpSession,
    Reply,
    Target,
    TimedOut,
    describe_reply,
    open_session,
    read_list,
)

_MOST_RESTARTS: Final = 25
_PATIENCE: Final = 3.0  # Seconds for a sign of life after a call timed out.
_MOST_ASKED: Final = 500  # Calls per assessment: asking doubles the traffic, and a validator that errs shows it sooner.
_MOST_FAILURES: Final = 3


class RenewableConnection:
    """The connection of an assessment to its server. Several calls may run at once; `renew` does not wait for them."""

    def __init__(self, target: Target, era: Era | Literal["auto"], timeout: float, max_message_bytes: int) -> None:
        self._target = target
        self._era: Era | Literal["auto"] = era
        self._timeout = timeout
        self._limit = max_message_bytes
        self._stack = AsyncExitStack()
        self._session: McpSession | None = None
        self._opened: McpSession | None = None
        self._stderr: list[str] = []
        self._anomalies: list[WireAnomaly] = []
        self._waited = 0.0
        self._renewing = asyncio.Lock()
        self.restarts = 0
        self.calls = 0

    async def open(self) -> McpSession:
        """Connect, and return the session.

        Raises:
            UnreachableError: No session could be opened.
            AuthenticationError: The server refused the credentials.
        """
        self._session = await self._stack.enter_async_context(
            open_session(self._target, era=self._era, timeout=max(self._timeout, 10.0), limit=self._limit)
        )
        # A restarted server speaks the era that was detected at first.
        self._era = self._session.era
        self._opened = self._session
        return self._session

    async def list_tools(self, gathered: list[object]) -> Listing:
        """All pages of tools/list; `gathered` receives the tools page by page."""
        return await self._latest().list_tools(timeout=max(self._timeout, 10.0), gathered=gathered)

    async def list_items(self, method: str, member: str) -> Listing:
        """All pages of another list: `resources/list`, whose results have `resources`."""
        return await read_list(self._latest().request, method, member, timeout=max(self._timeout, 10.0))

    async def request(self, method: str, params: Mapping[str, object]) -> tuple[Reply, McpSession]:
        """One request other than tools/call, and the session that it went through."""
        async with self._renewing:
            session = self._session
        if session is None:
            return ConnectionLost(reason="the server did not come back", duration=0.0), self._latest()
        return await session.request(method, dict(params), timeout=self._timeout), session

    async def call(self, tool: str, arguments: Mapping[str, object]) -> tuple[Reply, McpSession]:
        """One tools/call, and the session that it went through. Waits while the server is being replaced."""
        async with self._renewing:
            session = self._session
        if session is None:
            return ConnectionLost(reason="the server did not come back", duration=0.0), self._latest()
        self.calls += 1
        return await session.call_tool(tool, dict(arguments), timeout=self._timeout), session

    async def send(self, method: str, params: object) -> tuple[Reply, McpSession]:
        """One request that no tool and no SDK would make, and the session that it went through."""
        async with self._renewing:
            session = self._session
        if session is None:
            return ConnectionLost(reason="the server did not come back", duration=0.0), self._latest()
        self.calls += 1
        return await session.request(method, params, timeout=self._timeout), session

    def is_current(self, session: McpSession) -> bool:
        """Whether this is still the session in use. One that another call replaced says nothing about the server."""
        return self._session is session

    async def responsive(self, session: McpSession) -> bool:
        """Whether the server still answers anything at all; an error is an answer."""
        method = "server/discover" if session.era == "modern" else "ping"
        reply = await session.request(method, {}, timeout=min(_PATIENCE, self._timeout))
        return not isinstance(reply, TimedOut | ConnectionLost)

    async def recover(self, reply: TimedOut | ConnectionLost, session: McpSession) -> tuple[bool, str]:
        """After a call without an answer, replace the server if it answers nothing else.

        Returns whether a server is there now, and in words what that showed.
        """
        if isinstance(reply, TimedOut) and await self.responsive(session):
            return True, ""
        is_back = await self.renew(session)
        return is_back, "meanwhile the server answered nothing else" if isinstance(reply, TimedOut) else ""

    async def renew(self, broken: McpSession) -> bool:
        """Replace the session `broken`, unless another call did so. False when the server does not come back."""
        async with self._renewing:
            if self._session is not broken:
                return self._session is not None
            if self.restarts >= _MOST_RESTARTS:
                return False
            self.restarts += 1
            await self.close()
            try:
                await self.open()
            except ToolvetError:
                return False
            return True

    async def close(self, why: BaseException | None = None) -> None:
        """Close the session and end the server; its stderr and anomalies are kept.

        `why` is the exception that ended the run, None if it came to its end: a server of a run that was cut short
        gets half a second to end by itself, not two.
        """
        if self._session is not None:
            session, self._session = self._session, None
            self._stack, stack = AsyncExitStack(), self._stack
            try:
                await stack.__aexit__(None if why is None else type(why), why, None)
            finally:
                self._stderr.append(session.peer.stderr)
                self._anomalies.extend(_anomalies(session))
                self._waited += session.wait_seconds

    def _latest(self) -> McpSession:
        if self._opened is None:
            raise RuntimeError("the line was never opened")
        return self._opened

    @property
    def stderr(self) -> str:
        """The stderr of the server, over all its restarts."""
        now = [self._session.peer.stderr] if self._session else []
        return "\n".join(part.rstrip() for part in [*self._stderr, *now] if part.strip())

    @property
    def anomalies(self) -> tuple[WireAnomaly, ...]:
        """The anomalies on the wire, over all restarts of the server."""
        return (*self._anomalies, *(_anomalies(self._session) if self._session else ()))

    @property
    def waited(self) -> float:
        """Seconds during which at least one request was waiting for the server."""
        return self._waited + (self._session.wait_seconds if self._session else 0.0)


def _anomalies(session: McpSession) -> tuple[WireAnomaly, ...]:
    return tuple(WireAnomaly(kind=anomaly.kind, evidence=anomaly.evidence) for anomaly in session.anomalies)


class ValidationProbe:
    """Asks only a server that announces `toolValidation`, and stops when its validator is silent or fails."""

    def __init__(self, connection: RenewableConnection, capabilities: object) -> None:
        self._connection = connection
        self._announcement = announcement(capabilities)
        self._misannounced = misannounced(capabilities)
        self._asked = 0
        self._failures: list[str] = []
        self._silent = False

    async def ask(self, tool: str, arguments: Mapping[str, object]) -> Preview | None:
        """The validator's verdict on a call that is about to be made; None without one, or when it is not asked."""
        announced = self._announcement
        if announced is None or self._silent or self.validates_as(tool):
            return None
        if self._asked >= _MOST_ASKED or len(self._failures) >= _MOST_FAILURES:
            return None
        self._asked += 1
        request = ValidationRequest(calls=(ValidationCall(tool, dict(arguments)),))
        reply, session = await self._connection.call(announced.method, request.to_dict())
        verdict = parse_reply(reply.result) if isinstance(reply, Answer) else f"It {describe_reply(reply)}."
        if isinstance(reply, ConnectionLost | TimedOut):
            self._silent = True
            await self._connection.recover(reply, session)
        if isinstance(verdict, str):
            self._failures.append(verdict)
            return None
        return Preview(reply=verdict, levels=announced.levels)

    async def ask_at_least_once(self, tools: Sequence[ToolDefinition]) -> None:
        """If no call was asked about, ask about an empty call of one of `tools`: any verdict shows that it works."""
        if not self._asked:
            others = [tool.name for tool in tools if tool.name and not self.validates_as(tool.name)]
            await self.ask(others[0] if others else "", {})

    def validates_as(self, tool: str) -> bool:
        """Whether this is the tool that validates the calls of the others."""
        return self._announcement is not None and self._announcement.method == tool

    @property
    def seen(self) -> ObservedValidation | None:
        """The capability, for the rules and the report; None when the server says nothing of it."""
        announced = self._announcement
        if announced is None and self._misannounced is None:
            return None
        problems = announced.problems if announced is not None else (self._misannounced or "",)
        return ObservedValidation(
            announced=announced is not None,
            method=announced.method if announced is not None else DEFAULT_METHOD,
            asked=self._asked,
            announcement_problems=problems,
            failures=tuple(self._failures),
        )
