"""What a server offers to validate, read once from its capabilities, with the cache that it allows."""

import logging
from collections.abc import Callable, Sequence
from typing import Final

from toolvet.core.checks import Announcement, Cache, Level, ValidationReply, announcement, misannounced

_LOG: Final = logging.getLogger("toolvet.mcp.client")


class Offer:
    """One server's announcement. `problem` is what is wrong with an announcement that is not valid, else None."""

    def __init__(self, capabilities: object, clock: Callable[[], float]) -> None:
        self.capabilities = capabilities
        self.announcement: Announcement | None = announcement(capabilities)
        self.problem = misannounced(capabilities)
        caching = self.announcement.caching if self.announcement else None
        self.cache = Cache[str, ValidationReply](caching.ttl if caching else None, clock)
        self.may_cache = self.announcement is not None and self.announcement.may_cache
        self.invalidate_on = caching.invalidate_on if caching else ()
        for problem in self.announcement.problems if self.announcement else ():
            _LOG.warning("the server's announcement is in part unreadable: %s", problem)

    @property
    def announced(self) -> bool:
        """Whether the server announces the capability, in a valid form or not."""
        return self.announcement is not None or self.problem is not None

    def levels(self, wanted: Sequence[Level]) -> tuple[Level, ...]:
        """The wanted levels that the server announces: only these can be asked for."""
        offered = self.announcement.levels if self.announcement else ()
        return tuple(level for level in wanted if level in offered)

    def missing(self, wanted: Sequence[Level]) -> str | None:
        """A sentence about the wanted levels that the server does not announce, or None."""
        lacking = [level for level in wanted if level not in self.levels(wanted)]
        if not lacking:
            return None
        return (
            f"The server does not announce validation of the level {' or '.join(lacking)}, so it was not asked for it."
        )
