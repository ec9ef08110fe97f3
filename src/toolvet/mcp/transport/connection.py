"""Connect to a target for the length of a block, and end everything that was started for it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from toolvet.mcp.transport.peer import Peer
from toolvet.mcp.transport.stdio import StdioChannel
from toolvet.mcp.transport.target import StdioTarget, Target
from toolvet.mcp.wire import DEFAULT_MESSAGE_BYTES

if TYPE_CHECKING:
    from toolvet.mcp.transport.channel import Channel

# Seconds. After Ctrl-C the user waits for us to end, but a server may still save its data.
_GRACE_AFTER_INTERRUPT: Final = 0.5


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
        # Importing httpx2 takes 42 ms, as much as everything else in a run over stdio.
        from toolvet.mcp.transport.event_stream import EventStreamChannel  # noqa: PLC0415
        from toolvet.mcp.transport.streamable import HttpChannel  # noqa: PLC0415

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
