"""Rule: a parameter has no type."""

from collections.abc import Iterator
from itertools import islice
from typing import Final, cast

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.quote import quote, show
from toolvet.rules.subject import ToolDefinition
from toolvet.schema.json_value import Path, members, pointer
from toolvet.schema.walk import subschemas

CARD = Card(
    id="parameter-untyped",
    title="A parameter has no type",
    severity=Severity.WARNING,
    looks_for=(
        "A declared property, at any depth, without `type` and without anything that implies one (enum, const, "
        "$ref, anyOf, properties, items, pattern, minimum …)."
    ),
    why=(
        "A model has to guess whether to send a string, a number or an object. Some model APIs refuse tools with "
        "untyped parameters."
    ),
    remedy=(
        "Declare a type: annotate the parameter of the Python function (`limit: int`, not `limit` or `limit: Any`), "
        'use a Zod type other than `z.any()`, or write `"type"` into the schema. Where every JSON value is welcome, '
        "say so with a list of types."
    ),
)

# Keywords that say, or at least imply, what a value is.
_TYPE_KEYWORDS: Final = frozenset(
    {
        "type", "enum", "const", "$ref", "$dynamicRef", "$recursiveRef", "anyOf", "oneOf", "allOf", "if", "not",
        "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties",
        "maxProperties",
        "items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems",
        "pattern", "format", "minLength", "maxLength", "contentEncoding", "contentMediaType",
        "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
    }
)  # fmt: skip
_MOST_FINDINGS: Final = 20
_MOST_SUBSCHEMAS: Final = 5_000  # A person does not read a larger schema either.
_CONDITIONAL: Final = frozenset({"if", "then", "else", "not", "allOf", "anyOf", "oneOf", "dependentSchemas"})


def check_tool(tool: ToolDefinition) -> Iterator[Finding]:
    """Report each untyped property. A property whose schema is `false` is forbidden, not untyped."""
    found = 0
    for path, here in islice(subschemas(tool.input_schema), _MOST_SUBSCHEMAS):
        for name, schema in members(here.get("properties")).items():
            if _is_untyped(schema) and not _is_mentioned(path) and found < _MOST_FINDINGS:
                found += 1
                yield CARD.finding(
                    message=f"The parameter '{quote(name, 60)}' has no type.",
                    pointer=f"/inputSchema{pointer((*path, 'properties', name))}",
                    evidence=f"{quote(name, 60)}: {show(schema)}",
                )


def _is_untyped(schema: object) -> bool:
    return schema is True or (isinstance(schema, dict) and _TYPE_KEYWORDS.isdisjoint(members(cast("object", schema))))


def _is_mentioned(path: Path) -> bool:
    """Whether a place is inside `if`, `not` or a combination, where `properties` often only mentions a parameter."""
    return any(isinstance(part, str) and part in _CONDITIONAL for part in path)
