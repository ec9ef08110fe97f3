"""What one running server knows: its store, its limits and its settings."""

from dataclasses import dataclass
from typing import Final

MOST_BODY: Final = 16 * 1024 * 1024


@dataclass(frozen=True)
class Site:
    """What endpoints and pages work with.

    Attributes:
        store_url: Where the store is.
        most_body: How many bytes a body may have.
    """

    store_url: str
    most_body: int = MOST_BODY
