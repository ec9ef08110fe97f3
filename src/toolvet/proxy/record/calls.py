"""Pairs the start of each call with its end, for the duration.

CallStarted(call=1) at 10.0 s, CallEnded(call=1) at 10.2 s → FinishedCall(duration=0.2)
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from toolvet.proxy.record.recorder import RecordSource, StampedNote
from toolvet.proxy.session import CallEnded, CallStarted

# Calls that never end (a client that forgot them), or whose end the queue lost, must not fill the memory.
_MOST_OPEN: Final = 8_192


class FinishedCall(NamedTuple):
    """A call that is over. `began` and `finished` are nanoseconds since the epoch; `duration` is in seconds.

    A call that was answered at once, or whose start the queue lost, has no `started` and no `duration`; its `began` is
    when it ended.
    """

    origin: RecordSource
    ended: CallEnded
    started: CallStarted | None
    began: int
    finished: int
    duration: float | None


class OpenCalls:
    """Remembers the start of each call until its end comes."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, int], tuple[int, int, CallStarted]] = {}

    def __len__(self) -> int:
        """The number of calls that started and have not ended."""
        return len(self._open)

    def pair(self, notes: Sequence[StampedNote]) -> Iterator[FinishedCall | StampedNote]:
        """Yield the calls that end with these notes, and all other notes as they came."""
        for item in notes:
            paired = self.take(item)
            if paired is not None:
                yield paired

    def take(self, item: StampedNote) -> FinishedCall | StampedNote | None:
        """Return the call that ends with this note, None for the start of one, and any other note as it came."""
        note = item.note
        if isinstance(note, CallStarted):
            if len(self._open) >= _MOST_OPEN:
                del self._open[next(iter(self._open))]
            self._open[item.origin.connection, note.call] = (item.at, item.clock, note)
            return None
        if not isinstance(note, CallEnded):
            return item
        began = self._open.pop((item.origin.connection, note.call), None)
        if began is None:
            return FinishedCall(item.origin, note, None, item.at, item.at, None)
        at, clock, started = began
        return FinishedCall(item.origin, note, started, at, item.at, (item.clock - clock) / 1e9)
