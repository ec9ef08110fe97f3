"""The calls that a scenario category plans, and the seed that chooses among equally good ones."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from toolvet.assess.rules import IntendedViolation
from toolvet.core.tool_rules import Category

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class PlannedCall:
    """A scenario before it is run: its name, what to send, and what is wrong with that on purpose.

    `absent` is the parameter whose value names a thing that does not exist, or "", and `present` the value that a
    listing has for it. `first` is the tool that is to be called before, or "". One that is `made` has the arguments of
    an earlier call, whose outcome it shares.
    """

    name: str
    category: Category
    arguments: Mapping[str, object]
    origin: str
    breach: IntendedViolation | None = None
    absent: str = ""
    present: object = None
    first: str = ""
    made: bool = False


class SeededChoice:
    """Seed 0 takes what comes first; any other seed takes others, and always the same ones for the same `topic`."""

    def __init__(self, seed: int, topic: str) -> None:
        self._random = random.Random(f"{seed}/{topic}") if seed else None  # noqa: S311 - to vary, not to hide

    def one(self, options: Sequence[T]) -> T:
        """One of the options, of which there is at least one."""
        return options[0] if self._random is None else self._random.choice(options)

    def some(self, options: Sequence[T], most: int) -> list[T]:
        """At most `most` of the options, in their order. Seed 0 spreads evenly over them."""
        if len(options) <= most:
            return list(options)
        if self._random is None:
            return [options[index * len(options) // most] for index in range(most)]
        return [options[index] for index in sorted(self._random.sample(range(len(options)), most))]
