"""What one running server knows: its store, its limits and its settings."""

import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final, TypeVar, cast

from toolvet.core.settings import Settings
from toolvet.server.reviewing import open_queue
from toolvet.server.settings import ReviewSettings
from toolvet.store import Store
from toolvet.store.alerts import AlertRule
from toolvet.store.audit import write_entry
from toolvet.store.queue import ReviewQueue

MOST_BODY: Final = 16 * 1024 * 1024

K = TypeVar("K")


@dataclass(frozen=True)
class ServerContext:
    """What endpoints and pages work with.

    Attributes:
        store: Where everything is kept. Its methods wait for a disk or a database: call them in a thread.
        most_body: How many bytes a body may have.
        ending: Set when the server should end. A stream of events looks at it, and ends too.
        review: What fills the review queue.
        alerts: The rules of alerts.
        settings: How calls, results and answers are judged for other products; None: by the defaults.
    """

    store: Store
    most_body: int = MOST_BODY
    ending: threading.Event = field(default_factory=threading.Event)
    review: ReviewSettings = field(default_factory=ReviewSettings)
    alerts: tuple[AlertRule, ...] = ()
    settings: Settings | None = None
    _kept: dict[type, Any] = field(default_factory=dict[type, Any])

    @cached_property
    def queue(self) -> ReviewQueue:
        """The review queue of the store."""
        return open_queue(self.store, self.review)

    def kept(self, kind: type[K]) -> K:
        """Return this server's one object of a kind, made without arguments when it is first asked for."""
        return cast("K", self._kept.get(kind) or self._kept.setdefault(kind, kind()))

    def note(self, who: str, action: str, target: str = "", *, address: str = "") -> None:
        """Write down who did what, as `write_entry` does: call it before the action, which a StoreError prevents."""
        write_entry(self.store, who, action, target, address=address)
