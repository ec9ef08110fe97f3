"""A repair in full, and the schemas that its tests are about."""

from typing import Any

from toolvet.core.schema import compiled
from toolvet.core.schema.repairs.context import RepairContext
from toolvet.core.schema.repairs.search import describe, find_repair

Schema = dict[str, Any]
Whole = tuple[object, str, int, list[str]] | None

T: Schema = {"type": "string"}
W: Schema = {"type": "integer"}
B: Schema = {"type": "boolean"}
SHUT: Schema = {"additionalProperties": False}


def obj(properties: Schema, required: list[str] | None = None, **more: Any) -> Schema:
    """A schema of an object with these members."""
    return {"type": "object", "properties": properties, "required": required or [], **more}


def whole(schema: Schema, sent: object) -> Whole:
    """The value that was meant, how sure that is, what it costs, and its steps; None without a repair."""
    found = find_repair(RepairContext(compiled(schema)), "", sent)
    return None if found is None else (found.value, found.confidence, found.cost, [*map(describe, found.operations)])
