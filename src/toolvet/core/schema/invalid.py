"""`invalid_examples`: instances in which exactly one keyword is broken."""

from collections.abc import Iterator

import msgspec

from toolvet.core.json_value import Path, at, is_array, is_object, names, pointer, replaced
from toolvet.core.schema.breakage import Breakage, breakages
from toolvet.core.schema.compilation import Schema, compiled
from toolvet.core.schema.detail import describe_violation
from toolvet.core.schema.example import Sketch, build_sketch
from toolvet.core.schema.place import Demands, fixed_items
from toolvet.core.schema.violation import Violation
from toolvet.errors import Unsatisfiable


class InvalidExample(msgspec.Struct, frozen=True, kw_only=True):
    """An instance that breaks exactly one keyword of the schema, at one place.

    `keyword` is the broken one as the schema spells it; where the place is a union, that is `anyOf` or `oneOf`,
    whatever its branches say. `pointer` is the place in the instance (for `required` and `additionalProperties` the
    object, not the member), `detail` describes it in a few words, and `property` names the missing or unexpected
    member.
    """

    keyword: str
    pointer: str
    instance: object
    detail: str
    property: str | None = None


MOST = 40
# Validations; a large schema is left with fewer examples rather than waited for.
_TRIES = 2_000


def invalid_examples(schema: object) -> tuple[InvalidExample, ...]:
    """Return one instance for every kind of violation that the schema can express, each checked to break only that.

    Each is the schema's `valid_example` with one change. In a fixed order, nearest to the root first, at most 40; one
    for each keyword and place (of `required`, for each member). Empty if there is no valid example to start from.

    Example:
        >>> [found.detail for found in invalid_examples({"type": "string", "minLength": 1})]
        ['the value has 0 characters, fewer than the minimum of 1', 'the value is an integer, not a string']
    """
    ready = compiled(schema)
    try:
        sketch = build_sketch(ready, "all")
    except Unsatisfiable:
        return ()
    found: dict[tuple[str, str, str | None], InvalidExample] = {}
    # An explanation costs more than in proportion where alternatives multiply.
    price = 1 + (ready.effort(sketch.value) // 500) ** 2
    tries = _TRIES
    for path, demands in places_of(sketch):
        for breakage in breakages(at(sketch.value, path), demands, path):
            if breakage.met_by(found):
                continue
            example = _check(ready, sketch, path, breakage)
            if example is not None:
                key = (example.keyword, example.pointer, example.property if example.keyword == "required" else None)
                found.setdefault(key, example)
            tries -= price
            if len(found) >= MOST or tries <= 0:
                return tuple(found.values())
    return tuple(found.values())


def places_of(sketch: Sketch) -> Iterator[tuple[Path, Demands]]:
    """The places of a value, nearest to the root first, in the order of the value; of like items only the first."""
    for path, demands in sorted(sketch.places.items(), key=lambda entry: len(entry[0])):
        if all(_is_there(sketch, path, depth) for depth in range(len(path))):
            yield path, demands


def _is_there(sketch: Sketch, path: Path, depth: int) -> bool:
    """Whether the step at `depth` exists in the value, and is not just one more of many like items."""
    container, step = at(sketch.value, path[:depth]), path[depth]
    if is_object(container):
        return step in container
    if not is_array(container) or not isinstance(step, int) or step >= len(container):
        return False
    around = sketch.places.get(path[:depth])
    return step == 0 or around is None or any(step < len(fixed_items(schema)) for schema in around.plain())


def _check(ready: Schema, sketch: Sketch, path: Path, breakage: Breakage) -> InvalidExample | None:
    instance = replaced(sketch.value, path, breakage.value)
    violations = ready.violations(instance)
    if len(violations) != 1:
        return None
    violation = violations[0]
    place = pointer(path)
    # A break further inside has its own place; only a surplus item is reported at the place of its own.
    if violation.pointer != place and violation.keyword not in _SURPLUS:
        return None
    return InvalidExample(
        keyword=violation.keyword,
        pointer=place,
        instance=instance,
        detail=describe_violation(violation, path, breakage.value),
        property=_member_of(violation, breakage),
    )


def _member_of(violation: Violation, breakage: Breakage) -> str | None:
    """The missing or unexpected member that a violation is about."""
    named = violation.params.get("property")
    if isinstance(named, str):
        return named
    unexpected = names(violation.params.get("unexpected"))
    if unexpected:
        return unexpected[0]
    return breakage.property if violation.keyword == breakage.keyword else None


_SURPLUS = frozenset({"items", "additionalItems", "unevaluatedItems"})
