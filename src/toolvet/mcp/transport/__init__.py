"""Pipes and sockets: from a target to an MCP session. What the peer does wrong is a `Reply` or a note, no exception."""

from typing import TYPE_CHECKING

from toolvet.core.discover.names import named

if TYPE_CHECKING:
    from toolvet.mcp.transport.client_config import NamedTarget, read_client_config
    from toolvet.mcp.transport.connection import connect
    from toolvet.mcp.transport.listing import Listing
    from toolvet.mcp.transport.opening import open_session
    from toolvet.mcp.transport.peer import Era, Peer
    from toolvet.mcp.transport.registry import ServerList, read_server_list
    from toolvet.mcp.transport.reply import (
        Anomaly,
        AnomalyKind,
        Answer,
        ConnectionLost,
        Malformed,
        Reply,
        RpcError,
        TimedOut,
    )
    from toolvet.mcp.transport.session import McpSession
    from toolvet.mcp.transport.target import HttpTarget, StdioTarget, Target

__all__ = [
    "Anomaly",
    "AnomalyKind",
    "Answer",
    "ConnectionLost",
    "Era",
    "HttpTarget",
    "Listing",
    "Malformed",
    "McpSession",
    "NamedTarget",
    "Peer",
    "Reply",
    "RpcError",
    "ServerList",
    "StdioTarget",
    "Target",
    "TimedOut",
    "connect",
    "open_session",
    "read_client_config",
    "read_server_list",
]

if not TYPE_CHECKING:  # A type checker knows the names above, and should complain of others.
    # The proxy only describes targets, and must not load asyncio for that.
    __getattr__ = named(
        __name__,
        {
            "client_config": "NamedTarget read_client_config",
            "connection": "connect",
            "listing": "Listing",
            "opening": "open_session",
            "peer": "Era Peer",
            "reply": "Answer ConnectionLost Malformed Anomaly AnomalyKind RpcError Reply TimedOut",
            "registry": "ServerList read_server_list",
            "session": "McpSession",
            "target": "HttpTarget StdioTarget Target",
        },
    )
