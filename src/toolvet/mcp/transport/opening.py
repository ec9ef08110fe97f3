"""Open a session: find out which protocol era the server speaks (specification, basic/versioning).

`server/discover` goes first. A DiscoverResult or an error that only modern servers know means modern; any other
answer means legacy, and `initialize` follows on the same channel. Some servers die of an unknown first message, hang
on it, or tie the channel to the era of the first request: these are started again, and get `initialize` only.

`connect` holds the connection for the length of a block, and ends everything that was started for it; `opening_error`
says why a session could not be opened: what happened, where, and what to do, with the server's words.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from toolvet.core.json_value import members, names
from toolvet.errors import AuthenticationError, MissingExtraError, ToolvetError, UnreachableError
from toolvet.mcp.transport.peer import Peer
from toolvet.mcp.transport.reply import Answer, ConnectionLost, Malformed, Reply, RpcError, TimedOut, describe_reply
from toolvet.mcp.transport.session import (
    LEGACY_VERSIONS,
    MODERN_ERRORS,
    MODERN_VERSION,
    Introduction,
    McpSession,
    from_discover,
    from_initialize,
    initialize_params,
    request_meta,
)
from toolvet.mcp.transport.stdio import StdioChannel
from toolvet.mcp.transport.target import HttpTarget, StdioTarget, Target, last_lines, mask_url, printable, quotable
from toolvet.mcp.wire import DEFAULT_MESSAGE_BYTES, without_half_characters
from toolvet.mcp.wire.header import request_headers

if TYPE_CHECKING:
    from toolvet.mcp.transport.reply import Channel

# Seconds. A server that has not answered `server/discover` by then is slow to start, or hangs on it: it gets
# `initialize` too, and the first answer counts.
PATIENCE: Final = 3.0
# For a server that may speak the transport of 2024-11-05: such a server names the URL to POST to at once.
_OLDER_TRANSPORT_SECONDS: Final = 5.0
# Seconds. After Ctrl-C the user waits for us to end, but a server may still save its data.
_GRACE_AFTER_INTERRUPT: Final = 0.5


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
        if era == "modern":
            outcome = self._read_discovery(await self._discover())
        elif era == "legacy":
            outcome = self._read_handshake(await self._initialize())
        else:
            outcome = await self._detect_era()
        if isinstance(outcome, Introduction):
            self._peer.use_era(outcome.era, outcome.protocol_version)
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
                # Another request on this channel cannot succeed.
                has_exited = isinstance(outcome, ConnectionLost) and outcome.exit_code is not None
                is_denied = isinstance(outcome, Malformed | RpcError) and outcome.status in (401, 403)
                if isinstance(outcome, Introduction) or has_exited or is_denied:
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


@asynccontextmanager
async def connect(
    target: Target,
    *,
    roots: tuple[str, ...] | None = None,
    limit: int | None = DEFAULT_MESSAGE_BYTES,
    grace: float = 2.0,
) -> AsyncGenerator[Peer]:
    """Connect to `target` and yield a raw peer for the length of the block.

    Args:
        target: the command to start, or the URL.
        roots: URIs to answer `roots/list` with; None refuses that request.
        limit: the most bytes of one message; a longer one is dropped and reported. None: no limit.
        grace: how many seconds a process has to end after its stdin was closed (at most half a second when we were
            interrupted). Then it is ended by force, together with everything that it started.

    Raises:
        UnreachableError: the process cannot be started.
        UsageError: the URL or the headers of an HttpTarget cannot be sent.

    Example:
        async with connect(StdioTarget("uvx", ("mcp-server-time",))) as peer:
            reply = await peer.request("ping", timeout=5)
    """
    if isinstance(target, StdioTarget):
        channel: Channel = StdioChannel(target, limit=limit)
    else:
        # Importing httpx2 takes 42 ms, as much as everything else in a run over stdio, and it is an extra.
        try:
            from toolvet.mcp.transport.http import EventStreamChannel, HttpChannel  # noqa: PLC0415
        except ImportError as error:
            raise MissingExtraError.of(error) or error from error

        kind = HttpChannel if target.kind == "streamable" else EventStreamChannel
        channel = kind(target, limit=limit)
    peer = Peer(channel, roots=roots)
    await channel.start(peer)
    patience = grace
    try:
        yield peer
    except (KeyboardInterrupt, asyncio.CancelledError):
        patience = min(grace, _GRACE_AFTER_INTERRUPT)
        raise
    finally:
        await peer.close(patience)


def opening_error(target: Target, peer: Peer, reply: Reply, timeout: float) -> ToolvetError:
    """Return the error to raise for `reply`, which the server gave instead of opening a session.

    HTTP 401 and 403 give an AuthenticationError, all else an UnreachableError.
    """
    if isinstance(target, HttpTarget):
        return _http_error(target, reply, timeout)
    return UnreachableError(_stdio_reason(target, peer, reply, timeout))


def _stdio_reason(target: StdioTarget, peer: Peer, reply: Reply, timeout: float) -> str:
    command = f"`{target.describe()}`"
    noise = [anomaly.evidence for anomaly in peer.anomalies if anomaly.kind == "noise"]
    stderr = last_lines(peer.stderr)
    said = f"; its stderr ends with:\n{stderr}" if stderr else ""
    if noise and not peer.messages:
        printed = printable(" | ".join(noise), 200)
        end = _describe_end(reply, timeout)
        return f'{command} is not an MCP server: it printed "{printed}", which is not JSON-RPC, and {end}{said}'
    match reply:
        case ConnectionLost():
            return (
                f"{command} {_describe_end(reply, timeout)} before it spoke MCP{said or '; it wrote nothing to stderr'}"
            )
        case TimedOut():
            return f"{command} did not answer within {timeout:g} s. If it starts slowly, raise --timeout{said}"
        case _:
            return f"{command} opens no MCP session: it {describe_reply(reply)}{said}"


def _describe_end(reply: Reply, timeout: float) -> str:
    match reply:
        case ConnectionLost(exit_code=None):
            return reply.reason.removeprefix("the process ")
        case ConnectionLost(exit_code=code) if code is not None and code < 0:
            return f"was ended by signal {-code}"
        case ConnectionLost(exit_code=code):
            return f"ended with exit code {code}"
        case TimedOut():
            return f"answered nothing within {timeout:g} s"
        case _:
            return f"then {describe_reply(reply)}"


def _http_error(target: HttpTarget, reply: Reply, timeout: float) -> ToolvetError:
    url = mask_url(target.url)
    if isinstance(reply, Malformed | RpcError) and reply.status in (401, 403):
        return AuthenticationError(_describe_credentials(target, url, reply))
    match reply:
        case ConnectionLost():
            return UnreachableError(
                f"nothing answers at {url}: {reply.reason}; is the server running, at this address?"
            )
        case TimedOut():
            return UnreachableError(f"{url} did not answer within {timeout:g} s. If it starts slowly, raise --timeout")
        case Malformed():
            hint = "; many servers listen at the path /mcp" if reply.status in (None, 200, 404, 405) else ""
            return UnreachableError(f"{url} is not an MCP endpoint: {reply.reason}{hint}")
        case _:
            return UnreachableError(f"{url} opens no MCP session: it {describe_reply(reply)}")


def _describe_credentials(target: HttpTarget, url: str, reply: Malformed | RpcError) -> str:
    challenge = quotable(reply.challenge, 200) if isinstance(reply, Malformed) else ""
    asks = f" (it asks for {challenge})" if challenge else ""
    sent = any(name.lower() == "authorization" for name in target.headers or {})
    if sent:
        return f"{url} does not accept these credentials: HTTP {reply.status}{asks}; check the Authorization header"
    if not challenge and reply.status == 401:
        asks = " (it does not say which: a 401 must carry WWW-Authenticate)"
    if reply.status == 403 and isinstance(reply, Malformed) and reply.raw.strip():
        # Not credentials but the address may be wrong: some servers serve `localhost` and refuse `127.0.0.1`.
        asks += f': "{quotable(reply.raw, 120)}"'
    return (
        f"{url} wants credentials: HTTP {reply.status}{asks}; "
        'pass them with --header "Authorization: Bearer …" or in the configuration file'
    )
