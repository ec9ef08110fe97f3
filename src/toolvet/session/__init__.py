"""Messages of one MCP connection → what to forward, replace, answer and record. Pure: the proxy drives it."""

from typing import TYPE_CHECKING

from toolvet.discover.names import named

if TYPE_CHECKING:
    from toolvet.session.catalogue import Catalogue
    from toolvet.session.note import (
        Asked,
        CallEnded,
        CallStarted,
        Note,
        PolicyFault,
        SchemaForgotten,
        SchemaLearned,
    )
    from toolvet.session.policy import Policies, Policy, ProxySettings, ToolSettings
    from toolvet.session.session import Session
    from toolvet.session.step import Step, ToClient, ToServer

__all__ = [
    "Asked",
    "CallEnded",
    "CallStarted",
    "Catalogue",
    "Note",
    "Policies",
    "Policy",
    "PolicyFault",
    "ProxySettings",
    "SchemaForgotten",
    "SchemaLearned",
    "Session",
    "Step",
    "ToClient",
    "ToServer",
    "ToolSettings",
]

if not TYPE_CHECKING:  # A type checker knows the names above, and should complain of others.
    # Who only reads settings loads no checks.
    __getattr__ = named(
        __name__,
        {
            "catalogue": "Catalogue",
            "note": "Asked CallEnded CallStarted PolicyFault Note SchemaForgotten SchemaLearned",
            "policy": "Policies Policy ProxySettings ToolSettings",
            "session": "Session",
            "step": "Step ToClient ToServer",
        },
    )
