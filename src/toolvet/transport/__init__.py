"""Pipes and sockets: from a target to an MCP session, with everything the peer does wrong told, never raised."""

from toolvet.transport.client_config import NamedTarget, read_client_config
from toolvet.transport.connect import connect
from toolvet.transport.listing import Listing
from toolvet.transport.opening import open_session
from toolvet.transport.peer import Era, Peer
from toolvet.transport.reply import Answer, Lost, Malformed, Oddity, OddityKind, Refusal, Reply, TimedOut
from toolvet.transport.session import Session
from toolvet.transport.target import HttpTarget, StdioTarget, Target

__all__ = [
    "Answer",
    "Era",
    "HttpTarget",
    "Listing",
    "Lost",
    "Malformed",
    "NamedTarget",
    "Oddity",
    "OddityKind",
    "Peer",
    "Refusal",
    "Reply",
    "Session",
    "StdioTarget",
    "Target",
    "TimedOut",
    "connect",
    "open_session",
    "read_client_config",
]
