"""A command → the same MCP server on our stdin and stdout, checked: `toolvet proxy -- COMMAND`.

run_stdio → StdioProxy (loop.py: poll)
  client's bytes ⇄ Relay (relay.py: lines → Session → lines) ⇄ ServerProcess (process.py)
  writes go through PipeWriter (pipe.py), ends come from Signals, OpenRequests are answered when the server dies
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
