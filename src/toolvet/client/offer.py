"""What a server offers to validate, from its capabilities: read once, with the memory that it allows."""

import logging
from collections.abc import Callable, Sequence

from toolvet.checks.capability import Announcement, Level, ValidationReply, announcement, misannounced
from toolvet.client.offer import Cache

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
