"""How likely a repair gives back what was meant: measured, by the kind of its steps and by its confidence.

`certainty.toml` has the shares (`benchmarks/calibration` measures them again). Of several steps the least certain one
counts.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache

from toolvet.core.discover.toml import read_toml
from toolvet.core.json_value import type_name
from toolvet.core.schema.repairs.confidence import Confidence
from toolvet.core.schema.repairs.operation import Operation


class StepKind(StrEnum):
    """What a step of a repair does."""

    READ = "read"
    """Reads a text that is not quite JSON."""
    RENAMED = "renamed"
    """Gives a member another name."""
    MOVED = "moved"
    """Moves a member to another object, or takes the arguments out of a wrapping."""
    RETYPED = "retyped"
    """Reads a value as another type."""
    RESPELT = "respelt"
    """Writes a value in another way, within its type."""
    REMOVED = "removed"
    """Leaves a member out."""
    ADDED = "added"
    """Adds a member whose value the schema knows."""


def kinds_of(operations: Iterable[Operation]) -> frozenset[StepKind]:
    """The kinds of these steps; an object that is made or emptied by a move belongs to the move."""
    kinds = frozenset(map(_kind_of, operations))
    return kinds - {StepKind.ADDED, StepKind.REMOVED} if StepKind.MOVED in kinds else kinds


def certainty_of(kinds: Iterable[StepKind], confidence: Confidence) -> float:
    """How likely (0 to 1) a repair with steps of these kinds and this confidence gives back what was meant.

    Example:
        >>> certainty_of({StepKind.RENAMED}, "high") > certainty_of({StepKind.RENAMED, StepKind.REMOVED}, "medium")
        True
    """
    table = _certainties()
    return min((table[kind][confidence] for kind in kinds), default=1.0)


def _kind_of(operation: Operation) -> StepKind:
    if operation.op == "move":
        is_renamed = operation.path and operation.origin[:-1] == operation.path[:-1]
        return StepKind.RENAMED if is_renamed else StepKind.MOVED
    if operation.op == "replace":
        return StepKind.RESPELT if type_name(operation.old) == type_name(operation.value) else StepKind.RETYPED
    return StepKind.REMOVED if operation.op == "remove" else StepKind.ADDED


@cache
def _certainties() -> Mapping[StepKind, Mapping[Confidence, float]]:
    return read_toml("toolvet.core.schema.repairs", "certainty.toml", dict[StepKind, dict[Confidence, float]])
