"""`Replayed`: an input of which the beginning was read before."""

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer


class Replayed(io.RawIOBase):
    """Gives what was read before, then the rest."""

    def __init__(self, before: bytes, rest: io.FileIO | None) -> None:
        self._before = before
        self._rest = rest

    def readable(self) -> bool:
        """Always."""
        return True

    def readinto(self, buffer: "Buffer", /) -> int:
        """As of `io.RawIOBase`."""
        place = memoryview(buffer).cast("B")
        content = self._before[: len(place)]
        self._before = self._before[len(place) :]
        if not content and self._rest is not None:
            content = self._rest.read(len(place))
        place[: len(content)] = content
        return len(content)
