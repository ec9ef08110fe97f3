"""What a server offers to validate, from its capabilities: read once, with the memory that it allows."""

import logging
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from toolvet.checks.capability import Announcement, Level, ValidationReply, announcement, misannounced

_log = logging.getLogger("toolvet.client")


class Offer:
    """One server's announcement. `problem` says what is wrong with one that was meant and is none."""

    def __init__(self, capabilities: object, clock: Callable[[], float]) -> None:
        self.capabilities = capabilities
        self.announcement: Announcement | None = announcement(capabilities)
        self.problem = misannounced(capabilities)
        caching = self.announcement.caching if self.announcement else None
        self.cache = Cache[ValidationReply](caching.ttl if caching else None, clock)
        self.may_cache = self.announcement is not None and self.announcement.may_cache
        self.invalidate_on = caching.invalidate_on if caching else ()
        for problem in self.announcement.problems if self.announcement else ():
            _log.warning("the server's announcement is in part unreadable: %s", problem)

    @property
    def announced(self) -> bool:
        """Whether the server announces the capability, rightly or wrongly."""
        return self.announcement is not None or self.problem is not None

    def levels(self, wanted: Sequence[Level]) -> tuple[Level, ...]:
        """Those of the wanted levels that the server announces: only these can be asked for."""
        offered = self.announcement.levels if self.announcement else ()
        return tuple(level for level in wanted if level in offered)

    def missing(self, wanted: Sequence[Level]) -> str | None:
        """A sentence about the wanted levels that the server does not announce."""
        lacking = [level for level in wanted if level not in self.levels(wanted)]
        if not lacking:
            return None
        return (
            f"The server does not announce validation of the level {' or '.join(lacking)}, so it was not asked for it."
        )


V = TypeVar("V")

MOST_ENTRIES = 1024


class Cache(Generic[V]):
    """The least recently used go first. `ttl` is in the seconds of `clock`; None keeps a value until `clear`."""

    def __init__(self, ttl: float | None, clock: Callable[[], float]) -> None:
        self._ttl = ttl
        self._clock = clock
        self._entries: OrderedDict[str, tuple[float, V]] = OrderedDict()
        self._generation = 0

    @property
    def generation(self) -> int:
        """Grows with every `clear`. What was asked for under an older one is not kept."""
        return self._generation

    def get(self, key: str) -> V | None:
        """The value under `key`, unless it is too old."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        kept_at, value = entry
        if self._ttl is not None and self._clock() - kept_at >= self._ttl:
            del self._entries[key]
            return None
        self._entries.move_to_end(key)
        return value

    def keep(self, key: str, value: V, generation: int) -> None:
        """Keep `value`, unless the cache was cleared while it was on its way."""
        if generation != self._generation:
            return
        self._entries[key] = (self._clock(), value)
        self._entries.move_to_end(key)
        if len(self._entries) > MOST_ENTRIES:
            self._entries.popitem(last=False)

    def clear(self) -> None:
        """Forget everything, also what is still on its way."""
        self._entries.clear()
        self._generation += 1
