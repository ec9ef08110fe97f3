"""Tells the session when its client was quiet, or in a hurry: a session has no clock."""

from time import monotonic
from typing import Final

from toolvet.proxy.session import Catalogue

# A model in a circle calls again within seconds. After a minute a person may have asked once more, or changed a file.
QUIET_SECONDS: Final = 60.0
# A model reads an answer before it calls again, for a hundred times as long. A program does not.
HURRY_SECONDS: Final = 0.002


class QuietWatch:
    """When a client was last heard, and last answered, in seconds of the clock that does not jump."""

    __slots__ = ("_answered", "_heard")

    def __init__(self) -> None:
        self._heard = self._answered = monotonic()

    def note_message(self, catalogue: Catalogue) -> None:
        """Note that the client sends something now. `catalogue` is told where this ends a row of calls."""
        now = monotonic()
        if now - self._heard > QUIET_SECONDS or now - self._answered < HURRY_SECONDS:
            catalogue.repeats.note_quiet()
        self._heard = now

    def note_answer(self) -> None:
        """Note that the server says something to the client now."""
        self._answered = monotonic()
