"""The parts of a schema that no value can satisfy."""

import jsonschema_rs

from toolvet.schema.compiled import compiled
from toolvet.schema.json_value import members
from toolvet.schema.walk import subschemas


def unsatisfiable_parts(schema: object) -> tuple[str, ...]:
    """JSON Pointers of the subschemas that provably admit no value, in the order of the document.

    A literal `false` is meant so and not listed, except at the root. Total. A schema that does not compile, or that is
    larger than the budget allows, reports nothing: silence is no proof that every part can be satisfied.
    """
    ready = compiled(schema)
    if ready.problem is not None or not canonicalizable(ready.document):
        return ()
    document = ready.document
    try:
        found = jsonschema_rs.canonical.find_unsatisfiable(
            members(document) if isinstance(document, dict) else bool(document),  # type: ignore[arg-type]
            draft=ready.dialect.number,
            validate_formats=True,
            offline=True,
        )
    except (ValueError, RecursionError):
        return ()
    literal = jsonschema_rs.canonical.UnsatisfiableReason.Literal
    return tuple(place for place, reason in found.items() if place == "" or not isinstance(reason, literal))


def canonicalizable(document: object) -> bool:
    """Whether canonicalising may be afforded; it cannot be interrupted."""
    return sum(1 for _ in subschemas(document)) <= 600
