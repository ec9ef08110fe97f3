"""Open a session: find out which protocol era the server speaks (specification, basic/versioning).

`server/discover` goes first. A DiscoverResult or an error that only modern servers know means modern; any other
answer means legacy, and `initialize` follows on the same channel. Some servers die of an unknown first message, hang
on it, or tie the channel to the era of the first request: these are started again, and get `initialize` only.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final, Literal, TypeAlias

from toolvet.core.json_value import members, names
from toolvet.mcp.transport.connection import connect
from toolvet.mcp.transport.failure import opening_error
from toolvet.mcp.transport.introduction import (
    LEGACY_VERSIONS,
    MODERN_ERRORS,
    MODERN_VERSION,
    Introduction,
    from_discover,
    from_initialize,
    initialize_params,
    request_meta,
)
from toolvet.mcp.transport.peer import Peer
from toolvet.mcp.transport.quote import printable
from toolvet.mcp.transport.reply import Answer, ConnectionLost, Malformed, Reply, RpcError, describe_reply
from toolvet.mcp.transport.session import McpSession
from toolvet.mcp.transport.target import HttpTarget, StdioTarget, Target
from toolvet.mcp.wire import DEFAULT_MESSAGE_BYTES, without_half_characters
from toolvet.mcp.wire.header import request_headers

# Seconds. A server that has not answered `server/discover` by then is slow to start, or hangs on it: it gets
# `initialize` too, and the first answer counts.
PATIENCE: Final = 3.0
# For a server that may speak the transport of 2024-11-05: such a server names the URL to POST to at once.
_OLDER_TRANSPORT_SECONDS: Final = 5.0


@asynccontextmanager
async def open_session(
    target: Target,
    *,
    era: Literal["auto", "legacy", "modern"] = "auto",
    timeout: float = 30.0,  # noqa: ASYNC109 - it ends in an UnreachableError that says what the server did.
    capabilities: Mapping[str, object] | None = None,
    roots: tuple[str, ...] | None = None,
    limit: int | None = DEFAULT_MESSAGE_BYTES,
    grace: float = 2.0,
) -> AsyncGenerator[McpSession]:
    """Connect to `target`, open a session and yield it for the length of the block.

    Args:
        target: the command to start, or the URL.
        era: speak only this half of the protocol's history; "auto" asks the server.
        timeout: seconds for each attempt at opening.
        capabilities: the client capabilities to announce.
        roots: URIs to answer `roots/list` with; announces the capability `roots` as well.
        limit: the most bytes of one message, as in `connect`.
        grace: seconds that a process has to end, as in `connect`.

    Raises:
        UnreachableError: the server cannot be started or reached, or does not speak MCP.
        AuthenticationError: the server wants credentials (HTTP 401 or 403).
        UsageError: the URL or the headers of an HttpTarget cannot be sent.

    Example:
        async with open_session(HttpTarget("http://127.0.0.1:8000/mcp")) as session:
            listing = await session.list_tools(timeout=10)
    """
    announced: dict[str, object] = dict(capabilities or {})
    if roots is not None:
        announced.setdefault("roots", {})
    if isinstance(target, HttpTarget) and target.kind == "sse":
        era = "legacy"
    async with connect(target, roots=roots, limit=limit, grace=grace) as peer:
        outcome = await _OpeningAttempt(peer, announced, timeout).open(era)
        if isinstance(outcome, Introduction):
            yield McpSession(peer, outcome, announced)
            return
        failure = opening_error(target, peer, outcome, timeout)
        second = _second_attempt(target, era, outcome)
        if second is None:
            raise failure
        if isinstance(second, StdioTarget):
            peer.note("opening_refused", f"server/discover first, then initialize: {describe_reply(outcome)}")
        else:
            timeout = min(timeout, _OLDER_TRANSPORT_SECONDS)
    async with connect(second, roots=roots, limit=limit, grace=grace) as again:
        outcome = await _OpeningAttempt(again, announced, timeout).open("legacy")
        if not isinstance(outcome, Introduction):
            # For a URL the first failure says more: most servers never knew the older transport.
            raise failure if isinstance(second, HttpTarget) else opening_error(second, again, outcome, timeout)
        yield McpSession(
            again,
            outcome,
            announced,
            waited_before=peer.wait_seconds,
            anomalies_before=tuple(peer.anomalies),
        )


def _second_attempt(target: Target, era: Literal["auto", "legacy", "modern"], outcome: Reply) -> Target | None:
    """Return the target of a second, legacy handshake: a fresh process, or the transport of 2024-11-05. None: no use.

    The specification (2025-03-26 and later, basic/transports, backwards compatibility) names 400, 404 and 405 as what
    such a server answers to a POST.
    """
    if isinstance(target, StdioTarget):
        return target if era == "auto" else None
    older = isinstance(outcome, Malformed) and outcome.status in (400, 404, 405) and target.kind == "streamable"
    return replace(target, kind="sse") if older and era != "modern" else None


_Outcome: TypeAlias = Introduction | Reply


class _OpeningAttempt:
    """One attempt to open a session on one channel."""

    def __init__(self, peer: Peer, capabilities: Mapping[str, object], timeout: float) -> None:
        self._peer = peer
        self._capabilities = capabilities
        self._timeout = timeout

    async def open(self, era: Literal["auto", "legacy", "modern"]) -> _Outcome:
        """Open the session: return the server's introduction, or the reply that it gave instead."""
        if era == "modern":
            outcome = self._read_discovery(await self._discover())
        elif era == "legacy":
            outcome = self._read_handshake(await self._initialize())
        else:
            outcome = await self._detect_era()
        if isinstance(outcome, Introduction):
            self._peer.settle(outcome.era, outcome.protocol_version)
            if outcome.era == "legacy":
                await self._peer.notify("notifications/initialized")
        return outcome

    async def _detect_era(self) -> _Outcome:
        discovery = asyncio.ensure_future(self._discover())
        handshake: asyncio.Future[Reply] | None = None
        try:
            await asyncio.wait([discovery], timeout=min(PATIENCE, self._timeout / 2))
            if discovery.done():
                outcome = self._read_discovery(discovery.result())
                if isinstance(outcome, Introduction) or _is_final(outcome):
                    return outcome
            handshake = asyncio.ensure_future(self._initialize())
            await asyncio.wait([discovery, handshake], return_when=asyncio.FIRST_COMPLETED)
            # A server that accepted the earlier request may refuse the later one, so the earlier reply is read first.
            if discovery.done() and isinstance(outcome := self._read_discovery(discovery.result()), Introduction):
                return outcome
            initialized = self._read_handshake(await handshake)
            if isinstance(initialized, Introduction):
                return initialized
            outcome = self._read_discovery(await discovery)
            return outcome if isinstance(outcome, Introduction) else initialized
        finally:
            for task in (discovery, handshake):
                if task is not None:
                    task.cancel()
            await asyncio.wait([task for task in (discovery, handshake) if task is not None])

    async def _discover(self) -> Reply:
        params = {"_meta": request_meta(self._capabilities)}
        headers = request_headers(MODERN_VERSION, "server/discover", params)
        return await self._peer.request("server/discover", params, timeout=self._timeout, headers=headers)

    async def _initialize(self) -> Reply:
        return await self._peer.request("initialize", initialize_params(self._capabilities), timeout=self._timeout)

    def _read_discovery(self, reply: Reply) -> _Outcome:
        reply = self._whole(reply)
        if isinstance(reply, Answer) and (found := from_discover(reply.result)) is not None:
            return found if MODERN_VERSION in found.supported_versions else reply
        if isinstance(reply, RpcError) and reply.code in MODERN_ERRORS:
            supported = names(members(reply.data).get("supported"))
            if not supported or MODERN_VERSION in supported:
                self._peer.note("illegal_opening", f"server/discover: {describe_reply(reply)}")
                return Introduction("modern", MODERN_VERSION, supported_versions=supported)
        return reply

    def _whole(self, reply: Reply) -> Reply:
        """The reply; half a surrogate pair in it is an anomaly, and no reason to open no session."""
        mended = without_half_characters(reply.raw) if isinstance(reply, Malformed) else None
        if mended is None or not isinstance(reply, Malformed):
            return reply
        self._peer.note("half_character", printable(reply.raw, 200))
        return Answer(result=mended, raw=reply.raw, duration=reply.duration)

    def _read_handshake(self, reply: Reply) -> _Outcome:
        reply = self._whole(reply)
        found = from_initialize(reply.result) if isinstance(reply, Answer) else None
        if found is None:
            return reply
        if not found.protocol_version:
            self._peer.note("illegal_opening", f"initialize without protocolVersion: {describe_reply(reply)}")
        elif found.protocol_version not in LEGACY_VERSIONS:
            self._peer.note("protocol_version", f"initialize answered protocolVersion {found.protocol_version}")
        return found


def _is_final(reply: Reply) -> bool:
    """Whether another request on this channel cannot succeed."""
    return (isinstance(reply, ConnectionLost) and reply.exit_code is not None) or _wants_credentials(reply)


def _wants_credentials(reply: Reply) -> bool:
    return isinstance(reply, Malformed | RpcError) and reply.status in (401, 403)
