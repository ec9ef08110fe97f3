"""The parts of a schema that no value can satisfy."""

from collections.abc import Mapping
from typing import cast

import jsonschema_rs

from toolvet.core.json_value import elements, members
from toolvet.core.schema.compilation import Schema, compiled
from toolvet.core.schema.walk import subschemas


def unsatisfiable_parts(schema: object) -> tuple[str, ...]:
    """Return JSON Pointers of the subschemas that provably admit no value, in the order of the document.

    A literal `false` is meant so and not listed, except at the root. Total. A schema that does not compile, or that is
    larger than the budget allows, reports nothing: silence does not prove that every part can be satisfied.
    """
    ready = compiled(schema)
    if ready.problem is not None or not _is_affordable(ready.usable):
        return ()
    try:
        found = jsonschema_rs.canonical.find_unsatisfiable(
            cast("dict[str, object] | bool", ready.usable),
            draft=ready.dialect.number,
            validate_formats=True,
            offline=True,
        )
    except (ValueError, RecursionError):
        return ()
    literal = jsonschema_rs.canonical.UnsatisfiableReason.Literal
    return tuple(place for place, reason in found.items() if place == "" or not isinstance(reason, literal))


def canonical(ready: Schema) -> jsonschema_rs.CanonicalSchema | None:
    """Return the canonical form of a schema, or None where there is none or it might take too long."""
    if ready.problem is not None or not _is_affordable(ready.usable):
        return None
    try:
        return jsonschema_rs.canonicalize(
            cast("dict[str, object] | bool", ready.usable),
            draft=ready.dialect.number,
            validate_formats=True,
            offline=True,
        )
    except (ValueError, RecursionError):
        return None


def _is_affordable(document: object) -> bool:
    """Canonicalising cannot be interrupted, so size decides beforehand: schemas, branches, and how they multiply."""
    schemas = branches = 0
    for _, found in subschemas(document):
        schemas += 1
        branches += sum(len(elements(found.get(keyword))) for keyword in ("anyOf", "oneOf"))
        branches += "not" in found or "if" in found
        # Joined alternatives are multiplied out.
        product = _count_ways(found)
        for part in elements(found.get("allOf")):
            product *= _count_ways(members(part))
        if product > _PRODUCT:
            return False
    return schemas <= _SCHEMAS and branches <= _BRANCHES


def _count_ways(schema: Mapping[str, object]) -> int:
    ways = 2 if "if" in schema else 1
    for keyword in ("anyOf", "oneOf"):
        ways *= max(1, len(elements(schema.get(keyword))))
    return ways


_SCHEMAS = 1500
_BRANCHES = 200
_PRODUCT = 20_000
