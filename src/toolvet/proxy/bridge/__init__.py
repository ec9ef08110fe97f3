"""A command → the same MCP server over Streamable HTTP, checked: `toolvet proxy --listen ADDRESS -- COMMAND`.

run_bridge → Front (of http) → Bridge, in place of HttpUpstream
  → BridgedServer, one per legacy session and one shared (ids.py: one id space) ⇄ ServerProcess (of stdio)
"""
