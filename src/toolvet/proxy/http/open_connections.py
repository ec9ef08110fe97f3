"""All connections of clients at one address: how much each may use, how many there may be, and which one goes first."""

import asyncio
from collections.abc import Callable
from typing import Final, Generic, Protocol, TypeVar

import msgspec

# Files beside those of admitted connections: the program's own, and connections that were accepted a moment ago.
_OTHER_FILES: Final = 192
# A connection of a client may need one to the server.
_FILES_EACH: Final = 2
_FEWEST: Final = 16


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much a client may use. Times are in seconds.

    A body may pause for `body_seconds`. In all it may take `body_start_seconds`, and one second more for each
    `body_rate` bytes of it.
    """

    head_bytes: int = 64 * 1024
    fields: int = 200
    head_seconds: float = 10.0
    body_seconds: float = 30.0
    body_start_seconds: float = 20.0
    body_rate: int = 500
    idle_seconds: float = 75.0
    connections: int = 1000


class _Evictable(Protocol):
    def make_room(self) -> None:
        """Close: another client needs the place."""
        ...

    def check(self, now: float) -> None:
        """Refuse what takes too long; `now` is the time of the event loop."""
        ...


C = TypeVar("C", bound=_Evictable)


class OpenConnections(Generic[C]):
    """The connections at one address. If there is no room for another, one that no request needs is closed.

    The first to be closed is the one that has been open for longest without a complete head of a request. Next is the
    one that has been between two requests for longest. Connections with a request are never closed.

    `on_refused` is called with the status and the message of each request that a connection refuses.
    """

    def __init__(self, limits: Limits | None = None, on_refused: Callable[[int, str], None] | None = None) -> None:
        self.limits = limits or Limits()
        self.on_refused = on_refused or _ignore
        # Sets in the order of their members' arrival.
        self._silent: dict[C, None] = {}
        self._idle: dict[C, None] = {}
        self._busy: dict[C, None] = {}

    def __len__(self) -> int:
        """The number of open connections."""
        return len(self._silent) + len(self._idle) + len(self._busy)

    def all(self) -> list[C]:
        """All connections, as they are now."""
        return [*self._silent, *self._idle, *self._busy]

    def admit(self, connection: C) -> bool:
        """Add a new connection, in the place of another if necessary. Returns False if there is no room."""
        while len(self) >= self.limits.connections:
            waiting = self._silent or self._idle
            if not waiting:
                return False
            oldest = next(iter(waiting))
            del waiting[oldest]
            oldest.make_room()
        self._silent[connection] = None
        return True

    def note_request(self, connection: C) -> None:
        """Note that the head of a request of this connection is complete."""
        self._silent.pop(connection, None)
        self._idle.pop(connection, None)
        self._busy[connection] = None

    def note_idle(self, connection: C) -> None:
        """Note that all requests of this connection were answered."""
        if self._busy.pop(connection, self) is None:
            self._idle[connection] = None

    async def watch(self) -> None:
        """Check all connections, again and again."""
        limits, loop = self.limits, asyncio.get_running_loop()
        seconds = min(limits.head_seconds, limits.body_seconds, limits.body_start_seconds) / 4
        while True:
            await asyncio.sleep(min(seconds, 1.0))
            for connection in self.all():
                connection.check(loop.time())

    async def rest(self) -> None:
        """Wait until no connection has a request."""
        while self._busy:  # noqa: ASYNC110 - once, at the end
            await asyncio.sleep(0.01)

    def remove(self, connection: C) -> None:
        """Remove a connection that was closed."""
        for members in (self._silent, self._idle, self._busy):
            members.pop(connection, None)


def limits_for(open_files: int) -> Limits:
    """Return the default limits for a process that may have this many files open; -1 for as many as it likes.

    >>> [limits_for(files).connections for files in (-1, 20_000, 1_024, 256)]
    [1000, 1000, 416, 32]
    """
    limits = Limits()
    room = (open_files - _OTHER_FILES) // _FILES_EACH
    if open_files < 0 or room >= limits.connections:
        return limits
    return msgspec.structs.replace(limits, connections=max(_FEWEST, room))


def _ignore(status: int, words: str) -> None:
    del status, words
