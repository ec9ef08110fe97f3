"""A URL → the same MCP server on our stdin and stdout, checked: `toolvet proxy URL`.

run_stdio_to_http → RemoteProxy (loop.py: asyncio)
  client's bytes ⇄ Relay (of stdio) ⇄ RemoteServer (server.py: Streamable HTTP, sessions, streams)
  each message is a PostedMessage; MirroredHeaders repeat parts of modern ones
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
