"""`repair`: the nearest value that validates, with every step described. It is offered, never applied in silence."""

from collections.abc import Mapping, Sequence
from typing import cast

import msgspec

from toolvet.core.bounds import is_endless
from toolvet.core.json_value import is_json, is_object
from toolvet.core.schema.compilation import Schema, compiled
from toolvet.core.schema.repairs.certainty import certainty_of, kinds_of
from toolvet.core.schema.repairs.confidence import Confidence
from toolvet.core.schema.repairs.context import BudgetSpent, RepairContext
from toolvet.core.schema.repairs.rounds import find_repair
from toolvet.core.schema.repairs.sentences import describe
from toolvet.core.schema.violation import Violation


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """A value that validates, and how it comes from one that does not.

    `patch` holds JSON Patch operations (RFC 6902) that turn the original into `arguments`; `steps` describes each of
    them in a sentence, without secrets and long values. `confidence` says how sure it is that this was meant: `high`
    where only the notation was wrong, `medium` where a likely reading was chosen, `low` where something is lost or
    guessed. `certainty` (0 to 1) is how often such repairs gave back what was meant, measured (`certainty`).
    """

    arguments: object
    patch: tuple[Mapping[str, object], ...]
    confidence: Confidence
    steps: tuple[str, ...]
    certainty: float


def repair(schema: object, value: object) -> Repair | None:
    """Return the nearest value that satisfies `schema`; None if `value` does, or if there is no honest repair.

    Bounds are not clamped, and a required value is not invented, unless the schema names the only one or a default.
    Where two repairs are equally near, none is returned; nor for a value that JSON cannot hold, such as NaN. Raises
    nothing, changes neither argument, and returns the same for the same arguments.

    Example:
        >>> schema = {"type": "object", "properties": {"limit": {"type": "integer"}}, "additionalProperties": False}
        >>> found = repair(schema, {"Limit": "10"})
        >>> found.arguments, found.confidence
        ({'limit': 10}, 'high')
        >>> found.steps[0]
        "Renamed '/Limit' to '/limit'."
    """
    return repair_by(compiled(schema), value)


def repair_by(ready: Schema, value: object, violations: Sequence[Violation] = ()) -> Repair | None:
    """The same for a schema that is compiled already; `violations` is what `value` breaks, where that is known."""
    if ready.problem is not None or is_endless(value) or not is_json(value):
        return None
    try:
        found = find_repair(RepairContext(ready), "", _copy(value), known=violations)
    except (BudgetSpent, RecursionError):
        return None
    except LookupError:
        # The value was changed since its violations were found: they are about places that it no longer has.
        return repair_by(ready, value) if violations else None
    if found is None or not found.operations:
        return None
    arguments = _copy(found.value)
    return Repair(
        arguments=arguments,
        patch=tuple(operation.as_patch() for operation in found.operations),
        confidence=found.confidence,
        steps=tuple(describe(operation) for operation in found.operations),
        certainty=certainty_of(kinds_of(found.operations), found.confidence),
    )


def _copy(value: object) -> object:
    """A copy that shares nothing with the original, so that a change of one does not reach the other.

    A tuple is an array, as it is for the validator and in JSON.
    """
    if is_object(value):
        return {name: item if type(item) in _PLAIN else _copy(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_copy(item) for item in cast("Sequence[object]", value)]
    return value


_PLAIN = frozenset((str, int, float, bool, type(None)))
