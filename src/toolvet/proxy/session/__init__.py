"""Messages of one MCP connection → what to forward, replace, answer and record. Pure: the proxy drives it.

from_client(bytes) / from_server(bytes)          the driver feeds messages in order …
  → Session → pending (what an answer will be), catalogue (what is known of the server)
    → vet (a call: limits, schema, repair, breaker) | judge (an answer: verdict, policy)
    → own_validator (capability and `validate` for servers without) | refusal (answers of our own)
  → [ToServer | ToClient | Note, …]              … and does the steps in order
"""

from typing import TYPE_CHECKING

from toolvet.core.discover.names import named

if TYPE_CHECKING:
    from toolvet.proxy.session.catalogue import Catalogue
    from toolvet.proxy.session.policy import Policies, Policy, ProxySettings, ToolSettings
    from toolvet.proxy.session.session import Session
    from toolvet.proxy.session.step import (
        Asked,
        CallEnded,
        CallStarted,
        Note,
        PolicyFault,
        SchemaForgotten,
        SchemaLearned,
        Step,
        ToClient,
        ToServer,
    )

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

if not TYPE_CHECKING:  # A type checker knows the names above, and should report others.
    # Importing the settings must not import the checks (start-up time).
    __getattr__ = named(
        __name__,
        {
            "catalogue": "Catalogue",
            "policy": "Policies Policy ProxySettings ToolSettings",
            "session": "Session",
            "step": "Asked CallEnded CallStarted Note PolicyFault SchemaForgotten SchemaLearned Step ToClient ToServer",
        },
    )
