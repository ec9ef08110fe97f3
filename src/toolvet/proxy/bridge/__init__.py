"""A command → the same MCP server over Streamable HTTP, checked: `toolvet proxy --listen ADDRESS -- COMMAND`.

run_bridge → FrontEnd (of http) → Bridge, in place of HttpUpstream
  → BridgedSession (session.py), one per legacy session: its streams (responses.py) and their events
  → SharedServer (shared.py), one for all modern clients: one id space, headers compared (headers.py)
  ⇄ BridgedProcess (process.py) ⇄ ServerProcess (of stdio); SpareProcesses starts some ahead of time
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
