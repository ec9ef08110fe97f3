"""What the proxy saw, kept without slowing it: `Recorder.take(origin, note)` is all that a driver calls.

    session notes → take (stamped, queued) → one thread: calls put together → metrics, spans, and the kept record

`take` costs under a microsecond, never blocks and never raises. A disk that is slow, full or gone costs records, which
are counted and told, and never a call.
"""

import sys
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Literal, NamedTuple, Protocol, Self, runtime_checkable

import msgspec

from toolvet.proxy.record.background import Background

_CAPACITY = 8_192
_FLUSH_SECONDS = 2.0


class RecordSource(msgspec.Struct, frozen=True):
    """Whose notes these are: made once for a connection (stdio) or a session (HTTP).

    `server` is safe to print (`Target.describe()`, or the name that a configuration file has for it), `connection`
    tells connections of one process apart, `transport` is what the client speaks to us over.
    """

    server: str
    connection: str = ""
    transport: Literal["pipe", "tcp"] = "pipe"


class StampedNote(NamedTuple):
    """A note with its time: `at` in nanoseconds since the epoch, `clock` in nanoseconds of a clock that never jumps."""

    origin: RecordSource
    note: object
    at: int
    clock: int


class Sink(Protocol):
    """Where notes go, in a thread of the recorder. What it raises is told and counted, never passed on."""

    def write(self, seen: Sequence[StampedNote]) -> None:
        """Take these, in the order in which they happened."""
        ...

    def close(self) -> None:
        """No more will come."""
        ...


@runtime_checkable
class Rendering(Protocol):
    """A sink that can be asked what it has counted."""

    def render(self) -> str:
        """The text format of Prometheus."""
        ...


class Recorder:
    """A queue in front of sinks. Use it as a context manager, or `close()` it: that writes what is still queued."""

    def __init__(
        self,
        sinks: Sequence[Sink] = (),
        *,
        capacity: int = _CAPACITY,
        complain: Callable[[str], None] | None = None,
    ) -> None:
        tell = complain if complain is not None else _to_stderr
        self._sinks = tuple(sinks)
        self._tell = tell
        # Each sink has its own queue and thread: a hanging disk must not make the metrics stale.
        self._queues = tuple(
            Background[StampedNote](
                sink.write,
                sink.close,
                capacity=capacity,
                name="record",
                complain=lambda words: tell(f"the record: {words}"),
            )
            for sink in sinks
        )

    def take(self, origin: RecordSource, note: object) -> None:
        """Queue a note of a session, stamped with the time of now."""
        if not self._queues:
            return
        seen = StampedNote(origin, note, time.time_ns(), time.perf_counter_ns())
        for queue in self._queues:
            queue.put(seen)

    @property
    def lost(self) -> int:
        """Notes that some sink did not get: its queue was full, or it failed."""
        return sum(queue.dropped + queue.failed for queue in self._queues)

    def render_metrics(self) -> str:
        """The text for `/metrics` (`metrics.CONTENT_TYPE`), which tells what happened up to a moment ago."""
        rendered = [sink.render() for sink in self._sinks if isinstance(sink, Rendering)]
        lost = f"# TYPE toolvet_record_lost_total counter\ntoolvet_record_lost_total {self.lost}\n"
        return "".join([*rendered, lost])

    def flush(self, timeout: float = _FLUSH_SECONDS) -> bool:
        """Wait until everything taken so far has reached the sinks; False when that takes longer (seconds)."""
        deadline = time.monotonic() + timeout
        return all(queue.flush(max(0.0, deadline - time.monotonic())) for queue in self._queues)

    def close(self, timeout: float = _FLUSH_SECONDS) -> None:
        """Write what is queued and close the sinks; give up after `timeout` seconds, and say what was lost."""
        deadline = time.monotonic() + timeout
        for queue in self._queues:
            if not queue.close(max(0.0, deadline - time.monotonic())):
                self._tell("the record: the last notes may be missing, because writing them takes too long")
        if self.lost:
            self._tell(f"the record lost {self.lost} notes")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _to_stderr(words: str) -> None:
    sys.stderr.write(f"toolvet: {words}\n")
