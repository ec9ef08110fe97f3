"""One call to make."""

from collections.abc import Mapping
from dataclasses import dataclass

from toolvet.rules import IntendedViolation
from toolvet.rules.subject import Category


@dataclass(frozen=True, kw_only=True)
class PlannedCall:
    """A scenario before it is run: its name, what to send, and what is wrong with that on purpose."""

    name: str
    category: Category
    arguments: Mapping[str, object]
    origin: str
    breach: IntendedViolation | None = None
