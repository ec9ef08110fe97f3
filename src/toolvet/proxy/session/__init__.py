"""Messages of one MCP connection → what to forward, replace, answer and record. Pure: the proxy drives it.

from_client(bytes) / from_server(bytes)          the driver feeds messages in order …
  → Session → pending (what an answer will be), catalogue (what is known of the server)
    → vet (a call: limits, schema, repair, repeats; its refusal) | judge (an answer: verdict, policy)
    → own_tools (`validate` for servers without the capability, results in parts)
  → [ToServer | ToClient | Note, …]              … and does the steps in order
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
