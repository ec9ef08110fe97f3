"""What a repair consists of: operations on the arguments, each with how sure it is."""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Final, Literal

import msgspec

from toolvet.core.json_value import Path, at, changed, elements, is_array, members, pointer, replaced

Confidence = Literal["high", "medium", "low"]

_RANKS: Final[dict[Confidence, int]] = {"high": 0, "medium": 1, "low": 2}

# How sure it is that the only member which is too much is the only one that is missing, under another name: where the
# names mean the same ("town" for "city") or the value is one of few that are allowed; and where nothing else says so.
SAME_MEANING: Final[Confidence] = "medium"
ONLY_ONE_LEFT: Final[Confidence] = "low"


class Guess(msgspec.Struct, frozen=True):
    """A value that may have been meant in place of another. Of two equally sure ones the lower `cost` is preferred."""

    value: object
    confidence: Confidence
    cost: int = 0


def rank(confidence: Confidence) -> int:
    """0 for high, 1 for medium, 2 for low."""
    return _RANKS[confidence]


def least(confidences: Iterable[Confidence]) -> Confidence:
    """The weakest of several: a chain of steps is as sure as its least sure step. Of none it is high."""
    weakest: Confidence = "high"
    for confidence in confidences:
        if _RANKS[confidence] > _RANKS[weakest]:
            weakest = confidence
    return weakest


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """One change at `path`; `origin` is where `move` takes its value from, `old` the value that `replace` overwrites.

    `why` is the reason of an `add` or a `remove` in a few words.
    """

    op: Literal["add", "remove", "replace", "move"]
    path: Path
    origin: Path = ()
    value: object = None
    old: object = None
    why: str = ""

    def as_patch(self) -> Mapping[str, object]:
        """The operation as RFC 6902 writes it."""
        if self.op == "move":
            return {"op": "move", "from": pointer(self.origin), "path": pointer(self.path)}
        if self.op == "remove":
            return {"op": "remove", "path": pointer(self.path)}
        return {"op": self.op, "path": pointer(self.path), "value": self.value}

    def below(self, place: Path) -> "Operation":
        """The same operation on a larger value, which holds this one at `place`."""
        return msgspec.structs.replace(self, path=(*place, *self.path), origin=(*place, *self.origin))


class PathPatch(msgspec.Struct, frozen=True, kw_only=True):
    """Operations that answer a violation, in their order, and how sure they are; outside `path` they change nothing.

    Of two patches that are equally sure, the one with the lower `cost` changes less.
    """

    path: Path
    operations: tuple[Operation, ...]
    confidence: Confidence
    cost: int = 0


def apply(value: object, operation: Operation) -> object:
    """Return a copy of `value` with the operation done; what the operation does not touch is shared."""
    if operation.op == "replace":
        return replaced(value, operation.path, operation.value)
    if operation.op == "remove":
        return _remove_at(value, operation.path)
    if operation.op == "add":
        return _add_at(value, operation.path, operation.value)
    return _add_at(_remove_at(value, operation.origin), operation.path, at(value, operation.origin))


def _remove_at(value: object, path: Path) -> object:
    return changed(value, path[:-1], partial(_remove_step, step=path[-1])) if path else None


def _remove_step(container: object, step: str | int) -> object:
    if is_array(container):
        return [item for index, item in enumerate(container) if index != step]
    return {name: item for name, item in members(container).items() if name != step}


def _add_at(value: object, path: Path, other: object) -> object:
    return changed(value, path[:-1], partial(_add_step, step=path[-1], other=other)) if path else other


def _add_step(container: object, step: str | int, other: object) -> object:
    if isinstance(step, int):
        items = elements(container)
        return [*items[:step], other, *items[step:]]
    return {**members(container), step: other}
