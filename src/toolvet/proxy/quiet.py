"""Tells the session when its client was quiet: a session has no clock."""

from time import monotonic
from typing import Final

from toolvet.session import Catalogue

# A model in a circle calls again within seconds. After a minute a person may have asked once more, or changed a file.
QUIET_SECONDS: Final = 60.0


class QuietWatch:
    """When a client was last heard, in seconds of the clock that does not jump."""

    __slots__ = ("_heard",)

    def __init__(self) -> None:
        self._heard = monotonic()

    def note_message(self, catalogue: Catalogue) -> None:
        """Note that the client sends something now. `catalogue` is told where it was quiet before."""
        now = monotonic()
        if now - self._heard > QUIET_SECONDS:
            catalogue.repeats.note_quiet()
        self._heard = now
