"""The state of a search for a value: its place, the variation that it writes, and what writes the parts."""

from typing import Literal, Protocol

import msgspec

from toolvet.core.json_value import Path, count
from toolvet.core.schema.judge import Judge
from toolvet.core.schema.place import Demands
from toolvet.core.schema.reference import Subschema

Extent = Literal["all", "required"]


class Exhausted(Exception):  # noqa: N818 - a state of the search, never an error that leaves the room.
    """The search took more steps than it may."""


class Spot(msgspec.Struct, frozen=True):
    """A place in the value: its path, the last name on it, how much may be written there, and the references followed.

    `room` counts values; siblings share it. `trail` holds the ids of the schemas that references led to.
    """

    path: Path = ()
    name: str = ""
    room: float = 250.0
    trail: tuple[int, ...] = ()


class Variation(msgspec.Struct, frozen=True):
    """Another value for the same place: another branch, other content, or fewer optional members."""

    branch: int = 0
    content: int = 0
    extent: Extent | None = None


FIRST = Variation()
# More items or members than this make no example.
ITEMS = 5_000


class ValueWriter(Protocol):
    """Writes values: the writer of a container also writes its parts (`Generator`)."""

    judge: Judge | None

    def value(self, parts: list[Subschema], spot: Spot, variation: Variation = FIRST) -> object:
        """Return a value that satisfies all `parts`. Raises `Unmeetable` or `Exhausted`."""
        ...

    def within(self, spot: Spot, step: str | int, siblings: int) -> Spot:
        """The spot one step further in."""
        ...


def limits(demands: Demands, least: str, most: str) -> tuple[int, int | None]:
    """The size that two keywords leave: at least, at most."""
    lows = [size for schema in demands.plain() if (size := count(schema.get(least))) is not None]
    highs = [size for schema in demands.plain() if (size := count(schema.get(most))) is not None]
    return max(lows, default=0), min(highs, default=None)
