"""Notes put together: when a call ends, how long it took."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from toolvet.proxy.record.recorder import RecordSource, StampedNote
from toolvet.session import CallEnded, CallStarted

# Calls that never end (a client that forgot them), or whose end the queue lost, must not fill the memory.
_MOST_OPEN = 8_192


class FinishedCall(NamedTuple):
    """A call that is over. `began` and `ended` are nanoseconds since the epoch; `duration` is in seconds.

    A call that was answered at once, or whose beginning the queue lost, has no `started`, no duration, and began when
    it ended.
    """

    origin: RecordSource
    ended: CallEnded
    started: CallStarted | None
    began: int
    finished: int
    duration: float | None


class Calls:
    """Remembers beginnings until their ends come."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, int], tuple[int, int, CallStarted]] = {}

    @property
    def open(self) -> int:
        """Calls that began and have not ended."""
        return len(self._open)

    def over(self, seen: Sequence[StampedNote]) -> Iterator[FinishedCall | StampedNote]:
        """The calls that ended, and all other notes as they came."""
        for item in seen:
            note = item.note
            if isinstance(note, CallStarted):
                if len(self._open) >= _MOST_OPEN:
                    del self._open[next(iter(self._open))]
                self._open[item.origin.connection, note.call] = (item.at, item.clock, note)
            elif isinstance(note, CallEnded):
                began = self._open.pop((item.origin.connection, note.call), None)
                if began is None:
                    yield FinishedCall(item.origin, note, None, item.at, item.at, None)
                else:
                    duration = (item.clock - began[1]) / 1e9
                    yield FinishedCall(item.origin, note, began[2], began[0], item.at, duration)
            else:
                yield item
