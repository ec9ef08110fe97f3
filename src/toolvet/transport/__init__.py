"""Pipes and sockets: from a target to an MCP session, with everything the peer does wrong told, never raised."""

from typing import TYPE_CHECKING

from toolvet.discover.names import named

if TYPE_CHECKING:
    from toolvet.transport.client_config import NamedTarget, read_client_config
    from toolvet.transport.connection import connect
    from toolvet.transport.listing import Listing
    from toolvet.transport.opening import open_session
    from toolvet.transport.peer import Era, Peer
    from toolvet.transport.reply import Answer, ConnectionLost, Malformed, Oddity, OddityKind, Reply, RpcError, TimedOut
    from toolvet.transport.session import McpSession
    from toolvet.transport.target import HttpTarget, StdioTarget, Target

__all__ = [
    "Answer",
    "ConnectionLost",
    "Era",
    "HttpTarget",
    "Listing",
    "Malformed",
    "McpSession",
    "NamedTarget",
    "Oddity",
    "OddityKind",
    "Peer",
    "Reply",
    "RpcError",
    "StdioTarget",
    "Target",
    "TimedOut",
    "connect",
    "open_session",
    "read_client_config",
]

if not TYPE_CHECKING:  # A type checker knows the names above, and should complain of others.
    # The proxy, which only describes targets, loads no asyncio.
    __getattr__ = named(
        __name__,
        {
            "client_config": "NamedTarget read_client_config",
            "connection": "connect",
            "listing": "Listing",
            "opening": "open_session",
            "peer": "Era Peer",
            "reply": "Answer ConnectionLost Malformed Oddity OddityKind RpcError Reply TimedOut",
            "session": "McpSession",
            "target": "HttpTarget StdioTarget Target",
        },
    )
