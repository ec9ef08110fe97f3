"""Shared by the drivers of a session: the clock that it lacks, and fewer runs of Python's garbage collector."""

import gc
from time import monotonic
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from toolvet.proxy.session import Catalogue

# A model in a circle calls again within seconds. After a minute a person may have asked once more, or changed a file.
QUIET_SECONDS: Final = 60.0
# A model reads an answer before it calls again, for a hundred times as long. A program does not.
HURRY_SECONDS: Final = 0.002
# Objects that hold others, more than were there after the last look: Python's own 700 come together every 24 calls, and
# nearly nothing that a call leaves behind waits for the collector. This many objects take some megabytes.
_YOUNG: Final = 10_000


class QuietWatch:
    """When a client last sent a message, and last got one, in seconds of the clock that does not jump."""

    __slots__ = ("_last_answer", "_last_message")

    def __init__(self) -> None:
        self._last_message = self._last_answer = monotonic()

    def note_message(self, catalogue: "Catalogue") -> None:
        """Note that the client sends something now; in `catalogue`, too, where this ends a row of calls."""
        now = monotonic()
        if now - self._last_message > QUIET_SECONDS or now - self._last_answer < HURRY_SECONDS:
            catalogue.repeats.note_quiet()
        self._last_message = now

    def note_answer(self) -> None:
        """Note that the server says something to the client now."""
        self._last_answer = monotonic()


def freeze_heap() -> None:
    """Leave what exists now out of all further looks: it lives to the end, and looking at it costs a millisecond."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, *gc.get_threshold()[1:])
