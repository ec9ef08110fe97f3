"""Refused requests: all of them are counted, and the record gets a note of some, so that no flood fills a disk."""

from collections import Counter
from collections.abc import Callable
from time import monotonic
from typing import Final

import msgspec

from toolvet.proxy.record.recorder import Recorder, RecordSource
from toolvet.proxy.session import PolicyFault

# So many notes of one status are written as they come. After them the pause between two notes grows from a minute to an
# hour, and shrinks again after an hour without any.
_AT_ONCE: Final = 10
_FIRST_PAUSE: Final = 60.0
_LONGEST_PAUSE: Final = 3600.0
_NAME: Final = "toolvet_refused_requests_total"
_HELP: Final = "HTTP requests that the proxy refused, by the status of its answer."


class RefusalLog:
    """Counts the requests that the proxy refuses, by the status of its answer, and notes them in the record.

    `server` is the server's name for the record; `now` returns the time in seconds.
    """

    def __init__(self, recorder: Recorder, server: str, now: Callable[[], float] = monotonic) -> None:
        self._recorder = recorder
        self._origin = RecordSource(server, "", "tcp")
        self._now = now
        self._counts: Counter[int] = Counter()
        self._notes: dict[int, _Notes] = {}

    def take(self, status: int, why: str) -> None:
        """Count a request that was refused with this status. `why` is for the record, as the words after a colon."""
        self._counts[status] += 1
        notes = self._notes.setdefault(status, _Notes())
        now = self._now()
        notes.why = why
        if notes.written >= _AT_ONCE and now < notes.due:
            notes.skipped += 1
            return
        if notes.written >= _AT_ONCE:
            if now > notes.due + _LONGEST_PAUSE:
                notes.written, notes.pause = 0, _FIRST_PAUSE
            else:
                notes.pause = min(notes.pause * 2, _LONGEST_PAUSE)
        notes.due = now + notes.pause
        notes.written += 1
        self._write(status, notes)

    def render(self) -> str:
        """Return the counts in the text format of Prometheus."""
        lines = [f"# HELP {_NAME} {_HELP}", f"# TYPE {_NAME} counter"]
        lines += [f'{_NAME}{{status="{status}"}} {count}' for status, count in sorted(self._counts.items())]
        return "\n".join(lines) + "\n"

    def close(self) -> None:
        """Note how many requests were refused since the last notes."""
        for status, notes in self._notes.items():
            if notes.skipped:
                notes.skipped -= 1
                self._write(status, notes)

    def _write(self, status: int, notes: "_Notes") -> None:
        words = f"A request was refused ({status}): {notes.why}."
        if notes.skipped:
            words += f" So were {notes.skipped} others with this status since the last note of one."
            notes.skipped = 0
        self._recorder.take(self._origin, PolicyFault("request_refused", words))


class _Notes(msgspec.Struct):
    """The notes of one status: how many were written and left out, and when the next one may be."""

    written: int = 0
    skipped: int = 0
    due: float = 0.0
    pause: float = _FIRST_PAUSE
    why: str = ""
