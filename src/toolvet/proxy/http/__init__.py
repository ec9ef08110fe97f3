"""A URL → the same MCP server at an address of ours, checked: `toolvet proxy --listen ADDRESS URL`.

run_http (serve.py) → ClientConnection (aiohttp, limits) → FrontEnd, for each request: RequestFilter denies it, or
  a message  → Exchange (a Session of its own, the Caller's catalogue) ⇄ HttpUpstream (aiohttp) ⇄ server
  all others → ProxiedServer.stream ⇄ HttpUpstream ⇄ server
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
