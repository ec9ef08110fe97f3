"""A record of calls and a new version of the server in, a report out: which calls now end otherwise.

    >>> import asyncio
    >>> from toolvet.assess.replay import ReplayOptions, read_recorded, replay
    >>> from toolvet.mcp.transport import StdioTarget
    >>> target = StdioTarget(command="python", args=("server.py",))
    >>> report = asyncio.run(replay(target, read_recorded("record.db")))  # doctest: +SKIP

    record ──► RecordedCall ──► CallSide ──┐
               (recorded)       (compare)  ├──► ReplayChange ──► ReplayReport ──► every format
    Reply  ──► ObservedCall ──► CallSide ──┘    (compare)                       (report/replay)
    (transport) (assess/exchange)

Texts are never compared. A replay compares verdicts: of the arguments, of the end of the call, of the result, and its
shape. It calls the tools that an assessment may call (`core/tool_rules/consent.py`).
"""

from toolvet.assess.replay.recorded import RecordedCall, read_recorded
from toolvet.assess.replay.run import NoReplayWatch, ReplayOptions, ReplayWatch, replay

__all__ = ["NoReplayWatch", "RecordedCall", "ReplayOptions", "ReplayWatch", "read_recorded", "replay"]
