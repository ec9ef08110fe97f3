"""A record of calls and a new version of the server in, a report out: which calls now end otherwise.

    >>> import asyncio
    >>> from toolvet.assess.replay import ReplayOptions, read_recorded, replay
    >>> from toolvet.mcp.transport import StdioTarget
    >>> target = StdioTarget(command="python", args=("server.py",))
    >>> report = asyncio.run(replay(target, read_recorded("record.db")))  # doctest: +SKIP

    record ──► RecordedCall ──► CallSide ──┐
               (recorded)       (comparing)├──► ReplayChange ──► ReplayReport ──► every format
    Reply  ──► ObservedCall ──► CallSide ──┘    (comparing, shape)              (report/replay)
    (transport) (assess/exchange)

Texts are never compared. What is compared is verdicts: of the arguments, of the end of the call, of the result, and its
shape. What may be called is what an assessment may call (`rules/consent.py`).
"""

from toolvet.assess.replay.recorded import RecordedCall, read_recorded
from toolvet.assess.replay.run import NoReplayWatch, ReplayOptions, ReplayWatch, replay

__all__ = ["NoReplayWatch", "RecordedCall", "ReplayOptions", "ReplayWatch", "read_recorded", "replay"]
