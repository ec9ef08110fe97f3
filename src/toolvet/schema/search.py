"""The state of a search for a value: where it is, which variation it writes, and who writes."""

from typing import Literal, Protocol

import msgspec

from toolvet.schema.json_value import Path, count
from toolvet.schema.judge import Judge
from toolvet.schema.place import Demands
from toolvet.schema.reference import Subschema

Extent = Literal["all", "required"]


class Exhausted(Exception):  # noqa: N818 - a state of the search, never an error that leaves the room.
    """The search took more steps than it may."""


class Spot(msgspec.Struct, frozen=True):
    """Where we are: the path, the name that stands for it, how much may be written, and which references led here."""

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
# More than this many items or members are no example any more.
ITEMS = 5_000


class ValueWriter(Protocol):
    """What writes values: the parts of a container are written by whoever writes the container."""

    judge: Judge | None

    def value(self, parts: list[Subschema], spot: Spot, variation: Variation = FIRST) -> object:
        """A value that satisfies all `parts`. Raises `Dead` or `Exhausted`."""
        ...

    def within(self, spot: Spot, step: str | int, siblings: int) -> Spot:
        """The spot one step further in."""
        ...


def limits(demands: Demands, least: str, most: str) -> tuple[int, int | None]:
    """The size that two keywords leave: at least, at most."""
    lows = [size for schema in demands.plain() if (size := count(schema.get(least))) is not None]
    highs = [size for schema in demands.plain() if (size := count(schema.get(most))) is not None]
    return max(lows, default=0), min(highs, default=None)
