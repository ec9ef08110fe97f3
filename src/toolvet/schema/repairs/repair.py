"""The nearest value that validates, with every step told: offered, never applied in silence."""

from collections.abc import Mapping

import msgspec

from toolvet.schema.compilation import compiled
from toolvet.schema.json_value import is_array, is_object
from toolvet.schema.repairs.confidence import Confidence
from toolvet.schema.repairs.ground import BudgetSpent, Ground
from toolvet.schema.repairs.mend import mended
from toolvet.schema.repairs.telling import told


class Repair(msgspec.Struct, frozen=True, kw_only=True):
    """A value that validates, and how it comes from one that does not.

    `patch` holds JSON Patch operations (RFC 6902) that turn the original into `arguments`; `steps` tells each of them
    in a sentence, without secrets and long values. `confidence` says how sure it is that this was meant: `high` where
    only the notation was wrong, `medium` where a likely reading was chosen, `low` where something is lost or guessed.
    """

    arguments: object
    patch: tuple[Mapping[str, object], ...]
    confidence: Confidence
    steps: tuple[str, ...]


def repair(schema: object, value: object) -> Repair | None:
    """The nearest value that satisfies `schema`, or None: when `value` does, or when no honest repair exists.

    Bounds are not clamped, and required values that the schema does not tell are not invented. Total, and
    deterministic; `value` is not changed. Two equally near readings are no repair.
    """
    ready = compiled(schema)
    if ready.problem is not None or ready.is_valid(value):
        return None
    try:
        found = mended(Ground(ready), "", value)
        if found is None or not found.operations:
            return None
        arguments = _copied(found.value)
    except (BudgetSpent, RecursionError):
        return None
    if not ready.is_valid(arguments):
        return None
    return Repair(
        arguments=arguments,
        patch=tuple(operation.as_patch() for operation in found.operations),
        confidence=found.confidence,
        steps=tuple(told(operation) for operation in found.operations),
    )


def _copied(value: object) -> object:
    """A copy that shares nothing with the original: who changes one does not change the other."""
    if is_object(value):
        return {name: _copied(item) for name, item in value.items()}
    if is_array(value):
        return [_copied(item) for item in value]
    return value
