"""What one running server knows: its store, its limits and its settings."""

from dataclasses import dataclass
from typing import Final

from toolvet.alerts import AlertRule
from toolvet.store import Store

MOST_BODY: Final = 16 * 1024 * 1024


@dataclass(frozen=True)
class Site:
    """What endpoints and pages work with.

    Attributes:
        store: Where everything is kept. Its methods wait for a disk or a database: call them in a thread.
        most_body: How many bytes a body may have.
        alerts: The rules of alerts.
    """

    store: Store
    most_body: int = MOST_BODY
    alerts: tuple[AlertRule, ...] = ()
