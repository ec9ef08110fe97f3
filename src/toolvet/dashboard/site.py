"""What one running server knows: its store, its limits and its settings."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from toolvet.alerts import AlertRule
from toolvet.dashboard.reviewing import open_queue
from toolvet.settings import ReviewSettings
from toolvet.store import Store
from toolvet.store.queue import ReviewQueue

MOST_BODY: Final = 16 * 1024 * 1024


@dataclass(frozen=True)
class Site:
    """What endpoints and pages work with.

    Attributes:
        store: Where everything is kept. Its methods wait for a disk or a database: call them in a thread.
        most_body: How many bytes a body may have.
        alerts: The rules of alerts.
        review: What fills the review queue.
    """

    store: Store
    most_body: int = MOST_BODY
    alerts: tuple[AlertRule, ...] = ()
    review: ReviewSettings = field(default_factory=ReviewSettings)

    @cached_property
    def queue(self) -> ReviewQueue:
        """The review queue of the store."""
        return open_queue(self.store, self.review)
