"""The call that was probably intended: found by `toolvet.core.schema.repairs`, and shown without secrets."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec
import orjson

from toolvet.core.checks.arguments.received import holds_secret
from toolvet.core.json_value import is_array, is_object, number, pointer_steps
from toolvet.core.redact import REDACTED, may_hold_secrets, redact
from toolvet.core.schema import Repair, Schema, Violation, recover
from toolvet.core.schema.document import JsonForm
from toolvet.core.schema.repairs.certainty import StepKind, certainty_of
from toolvet.core.schema.repairs.confidence import Confidence, least
from toolvet.core.schema.repairs.repair import repair_by

_LONGEST: Final = 200
_DEEPEST: Final = 60
_BOUNDS: Final = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})


def find_correction(ready: Schema, arguments: object, violations: Sequence[Violation]) -> Repair | None:
    """The nearest valid call that invents nothing, or None; `violations` are those of the arguments, if known."""
    return repair_by(ready, arguments, violations)


def is_hopeless(violations: Iterable[Violation]) -> bool:
    """Whether no repair can exist, because a number out of its bounds is never clamped. Saves the search."""
    for each in violations:  # noqa: SIM110 - a generator would cost three times as much, for each report.
        if each.keyword in _BOUNDS and number(each.instance) is not None:
            return True
    return False


def find_correction_of_text(ready: Schema, text: str) -> Repair | None:
    """The valid call in a text that is not quite JSON, or None."""
    found = recover(text)
    if found is None or not found.steps:
        return None
    value, steps, confidence = found.value, found.steps, found.confidence
    certainty = certainty_of({StepKind.READ}, confidence)
    if not ready.is_valid(value):
        further = repair_by(ready, value)
        if further is None:
            return None
        value, steps = further.arguments, (*steps, *further.steps)
        confidence = least((confidence, further.confidence))
        certainty = min(certainty, further.certainty)
    patch = ({"op": "replace", "path": "", "value": value},)
    return Repair(arguments=value, patch=patch, confidence=confidence, steps=steps, certainty=certainty)


class ShownRepair(JsonForm, msgspec.Struct, frozen=True, kw_only=True):
    """A repair as documents show it. Secrets and long texts are masked; then `masked` is true."""

    _sparse = ("masked",)

    arguments: object
    patch: tuple[Mapping[str, object], ...]
    confidence: Confidence
    certainty: float
    steps: tuple[str, ...]
    masked: bool = False


def shown_repair(found: Repair) -> ShownRepair:
    """The repair, without secrets and long texts."""
    arguments = mask_arguments(found.arguments)
    return ShownRepair(
        arguments=arguments,
        patch=tuple(_mask_operation(operation) for operation in found.patch),
        confidence=found.confidence,
        certainty=found.certainty,
        steps=found.steps,
        masked=arguments is not found.arguments,
    )


def mask_arguments(arguments: object) -> object:
    """Arguments without secrets and long texts; the very same object if nothing had to be masked."""
    try:
        # Nearly no call holds a secret, and its JSON tells that in a fifth of the time of a walk.
        safe = not may_hold_secrets(orjson.dumps(arguments).decode())
    except (TypeError, RecursionError):
        safe = False
    return _mask_long(arguments if safe else redact(arguments), 0)


def _mask_operation(operation: Mapping[str, object]) -> dict[str, object]:
    masked = dict(operation)
    if "value" in masked:
        secret = holds_secret(pointer_steps(str(masked.get("path", ""))))
        masked["value"] = REDACTED if secret and masked["value"] is not None else mask_arguments(masked["value"])
    return masked


def _mask_long(value: object, depth: int) -> object:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"[as sent: {len(value)} characters]"
    if depth > _DEEPEST:
        return "[as sent]"
    if is_object(value):
        members = {name: _mask_long(item, depth + 1) for name, item in value.items()}
        return members if any(members[name] is not item for name, item in value.items()) else value
    if is_array(value):
        items = [_mask_long(item, depth + 1) for item in value]
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value
