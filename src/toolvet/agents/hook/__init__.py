"""A coding agent's event, as JSON on stdin → the answer for its client, as JSON on stdout.

run (reads the input, the settings and the transcript) → dialect (a client's words ↔ HookEvent, HookAnswer)
  → calls (before and after a tool), work, done (the end: the actions, compared with the claims about them)
  tool_lists, servers: the schemas of the client's own servers; installing: the client's settings
"""

from toolvet.core.exports import lazy

__getattr__, __dir__ = lazy(__name__)
