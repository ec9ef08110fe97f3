"""`covering`: whether one JSON Schema accepts all that another one accepts, with a value that shows that it does not.

jsonschema-rs decides most of it (`CanonicalSchema.covers`, `subtract`), `patterns` decides regular expressions, and
where neither does, the generators of examples search. A value is reported only after both schemas judged it.

Members that a schema does not declare do not count as accepted: no caller knows of them.
"""

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import Final, Literal, TypeAlias, cast

import jsonschema_rs
import msgspec

from toolvet.core.contract.patterns import escaping_text
from toolvet.core.json_value import Path, at, elements, is_array, is_object, members, names, replaced, same
from toolvet.core.schema import Schema, boundary_examples, compiled, invalid_examples, subschemas, valid_example
from toolvet.core.schema.document import children
from toolvet.core.schema.example import canonical
from toolvet.core.schema.weight import REFERENCES, unfolded_size
from toolvet.errors import Unsatisfiable

Cover: TypeAlias = Literal["yes", "no", "unknown"]


class Effort:
    """The steps that one comparison of two schemas may still take: a hostile one must end soon.

    `left` is for the search, `proving` for what jsonschema-rs decides, which cannot be interrupted.
    """

    def __init__(self, left: int = 40_000, proving: int = 120_000) -> None:
        self.left = left
        self.proving = proving


class Covering(msgspec.Struct, frozen=True):
    """`unknown` has the number of values that were tried; `no` has the value."""

    verdict: Cover
    value: object = None
    tries: int = 0


_MOST_TRIES: Final = 150
_MOST_EXPANDED: Final = 4_000
# Keywords that do not restrict the values.
NOTES: Final = frozenset(
    {"$comment", "$id", "$schema", "default", "deprecated", "description", "examples", "readOnly", "title", "writeOnly"}
)
# Where one of these is, an object cannot be closed without a change of what it accepts.
_JOINING: Final = frozenset(
    {"allOf", "not", "if", "dependentSchemas", "dependencies", "unevaluatedProperties", "propertyNames", "contains"}
    | {"$dynamicRef", "$recursiveRef"}
)
_JUDGED_ALONE: Final = frozenset({"properties", "additionalProperties", "items", "prefixItems", "patternProperties"})


def covering(
    wide: object,
    narrow: object,
    pattern_at: Path | None = None,
    final: object = None,
    effort: Effort | None = None,
) -> Covering:
    """Return whether `narrow` accepts every value that `wide` accepts and declares.

    Args:
        wide: The schema whose values count.
        narrow: The schema that should accept them; `wide` with one change, or another one.
        pattern_at: The place where only a regular expression differs, None if other keywords do.
        final: What must refuse the value as well; None means `narrow` itself.
        effort: What all calls for one pair of schemas may spend beyond what is proven at once.
    """
    effort = effort or Effort()
    if effort.left <= 0:
        return Covering("unknown")
    closed, is_closed = closed_form(wide)
    declared = None if is_closed else _declared(wide)
    accepting = compiled(wide), compiled(closed)
    refusing = compiled(narrow), *(() if final is None else (compiled(final),))
    size = _size(closed)
    effort.left -= size
    if effort.left < 0:
        return Covering("unknown")
    proof = _proven(closed, narrow, effort)
    if proof is True:
        return Covering("yes")
    texts: list[object] = []
    if pattern_at is not None and effort.left > 0:
        expressions = (members(at(schema, pattern_at)).get("pattern", "") for schema in (closed, narrow))
        effort.left -= 2_000
        text = escaping_text(*(each if isinstance(each, str) else "" for each in expressions))
        if text is False and _JUDGED_ALONE.issuperset(step for step in pattern_at[::2] if isinstance(step, str)):
            return Covering("yes")
        if text:
            texts = [_example(replaced(closed, pattern_at, {"const": text}), required_only=False)]
    tried = 0
    for value in islice(chain(texts, _differences(proof, effort), _candidates(closed, narrow)), _MOST_TRIES):
        effort.left -= size
        if effort.left < 0:
            break
        if value is _NOTHING:
            continue
        tried += 1
        if any(each.is_valid(value) for each in refusing) or not all(each.is_valid(value) for each in accepting):
            continue
        if declared is None or all(name in declared for name in _names_in(value)):
            return Covering("no", value, tried)
    return Covering("unknown", tries=tried)


def _declared(schema: object) -> frozenset[str] | None:
    """All names of members that a schema declares; None if it declares a pattern or schema for other names."""
    found: set[str] = set()
    for _, part in subschemas(schema):
        if is_object(part.get("additionalProperties")) or "patternProperties" in part:
            return None
        found.update(members(part.get("properties")), names(part.get("required")))
    return frozenset(found)


def _names_in(value: object) -> Iterator[str]:
    pending = [value]
    while pending:
        here = pending.pop()
        if is_object(here):
            yield from here
            pending.extend(here.values())
        elif is_array(here):
            pending.extend(elements(here))


_NOTHING: Final = object()


def _proven(wide: object, narrow: object, effort: Effort) -> jsonschema_rs.CanonicalSchema | bool | None:
    """True if `narrow` provably accepts all of `wide`, else the values in question as a schema; None if unknown."""
    ready = compiled(wide), compiled(narrow)
    if ready[0].problem is not None or ready[1].problem is not None or ready[0].dialect != ready[1].dialect:
        return None
    steps = sum(_count_steps(each) for each in ready)
    if steps > effort.proving:
        return None
    effort.proving -= steps
    left, right = (canonical(each) for each in ready)
    if left is None or right is None:
        return None
    try:
        if right.covers(left) == jsonschema_rs.canonical.Containment.YES:
            return True
        return left.subtract(right)
    except (ValueError, RecursionError):
        return None


def _count_steps(ready: Schema) -> int:
    """The steps of a proof about this schema: its schemas are compared in pairs, and its branches are multiplied out.

    The targets of references count as often as they are referred to.
    """
    schemas = branches = exclusive = 0
    refers = False
    for _, found in subschemas(ready.usable):
        schemas += 1
        branches += sum(len(elements(found.get(keyword))) for keyword in ("anyOf", "oneOf", "allOf"))
        exclusive += len(elements(found.get("oneOf")))
        refers = refers or any(keyword in found for keyword in REFERENCES)
    paired = unfolded_size(ready.usable, ready.dialect) ** 2 if refers else schemas**2 // 20
    return paired + schemas * (1 + branches) + 100 * exclusive**2


def _size(document: object) -> int:
    # Compiling a regular expression takes as long as fifty other schemas.
    return sum(1 + 50 * ("pattern" in part) for _, part in subschemas(document))


def _differences(rest: object, effort: Effort) -> Iterator[object]:
    if not isinstance(rest, jsonschema_rs.CanonicalSchema):
        return
    try:
        document = rest.to_json_schema()
    except (ValueError, RecursionError):
        return
    # A difference has a branch for each member in which the two differ, and each branch has all members.
    size = _size(document)
    if size > effort.left:
        return
    effort.left -= size
    for required_only in (True, False):
        yield _example(document, required_only=required_only)


def _example(schema: object, *, required_only: bool) -> object:
    try:
        return valid_example(schema, required_only=required_only)
    except Unsatisfiable:
        return _NOTHING


def _candidates(wide: object, narrow: object) -> Iterator[object]:
    """Values near the borders of both schemas: most differences lie there."""
    for required_only in (True, False):
        yield _example(wide, required_only=required_only)
    yield from (example.instance for example in boundary_examples(wide))
    yield from (example.instance for example in invalid_examples(narrow))


def closed_form(schema: object) -> tuple[object, bool]:
    """Return the schema with every open object closed, so that only declared members count, and whether it is.

    It stays as it is where parts are joined (`allOf`, `not`, …): there a part does not see the members of another one.
    """
    for _, found in subschemas(schema):
        if not _JOINING.isdisjoint(found) or ("properties" in found and _joins(found)):
            return schema, False
    return _closed(schema), True


def _joins(found: Mapping[str, object]) -> bool:
    branches = [branch for keyword in ("anyOf", "oneOf") for branch in elements(found.get(keyword))]
    return "$ref" in found or any("properties" in members(branch) or "$ref" in members(branch) for branch in branches)


def _closed(schema: object) -> object:
    if not is_object(schema):
        return schema
    changed = dict(schema)
    for path, child in children(schema):
        other = _closed(child)
        if other is not child:
            changed = cast("dict[str, object]", replaced(changed, path, other))
    if "properties" in schema and not is_object(schema.get("additionalProperties")):
        changed["additionalProperties"] = False
    return schema if changed == schema else changed


def expanded(schema: object) -> object:
    """Return the schema with its local references replaced by their targets, unless they lead to themselves.

    A schema of more than 4,000 parts after that stays as it is.
    """
    found = list(subschemas(schema))
    if not any("$ref" in part for _, part in found) or any(
        not {"$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef"}.isdisjoint(part) or (path and "$id" in part)
        for path, part in found
    ):
        return schema
    room = [_MOST_EXPANDED]
    try:
        whole = _expanded(schema, schema, (), room)
    except RecursionError:
        return schema
    if room[0] < 0:
        return schema
    if any("$ref" in part for path, part in subschemas(whole) if not path or path[0] not in ("$defs", "definitions")):
        return whole
    return {name: value for name, value in members(whole).items() if name not in ("$defs", "definitions")}


def _expanded(schema: object, root: object, trail: tuple[str, ...], room: list[int]) -> object:
    room[0] -= 1
    if not is_object(schema) or room[0] < 0:
        return schema
    reference = schema.get("$ref")
    others = {name: value for name, value in schema.items() if name != "$ref"}
    if isinstance(reference, str) and reference.startswith("#/") and reference not in trail and others.keys() <= NOTES:
        target = at(root, tuple(step.replace("~1", "/").replace("~0", "~") for step in reference[2:].split("/")))
        if is_object(target):
            inner = _expanded(target, root, (*trail, reference), room)
            return {**members(inner), **others} if is_object(inner) else inner
    changed: object = schema
    for path, child in children(schema):
        if path[0] in ("$defs", "definitions"):
            continue
        other = _expanded(child, root, trail, room)
        if other is not child:
            changed = replaced(changed, path, other)
    return changed


def bare(schema: object) -> object:
    """Return the schema without the parts that do not restrict values: titles, descriptions, defaults, examples."""
    if not is_object(schema):
        return schema
    changed: object = {name: value for name, value in schema.items() if name not in NOTES}
    for path, child in children(members(changed)):
        other = bare(child)
        if other is not child and not same(other, child):
            changed = replaced(changed, path, other)
    return changed
