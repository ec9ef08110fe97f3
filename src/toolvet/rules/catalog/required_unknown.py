"""Rule: the schema requires an argument that it does not declare."""

from collections.abc import Iterator
from typing import Final

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.quote import list_names, show
from toolvet.rules.subject import ToolDefinition

CARD = Card(
    id="required-unknown",
    title="The schema requires an argument that it does not declare",
    severity=Severity.WARNING,
    looks_for=(
        "A name in `required` that does not stand in `properties`, and that no other keyword of the root could declare."
    ),
    why=(
        "A model is told that it must send something of which it knows neither type nor meaning. With "
        "`additionalProperties: false` the argument is forbidden as well, and no call can be valid."
    ),
    remedy=(
        "Correct the spelling, declare the property, or take the name out of `required`. It is most often left over "
        "from a rename."
    ),
)

# Any of these may declare properties elsewhere.
_OPEN: Final = frozenset(
    {"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "dependentSchemas", "dependencies", "patternProperties"}
)


def check_tool(tool: ToolDefinition) -> Iterator[Finding]:
    """Report required names that are not declared; an error where the schema forbids them as well."""
    if tool.schema is None or not _OPEN.isdisjoint(tool.schema):
        return
    # A schema for the other properties declares them all.
    if isinstance(tool.schema.get("additionalProperties"), dict):
        return
    unknown = [name for name in dict.fromkeys(tool.required) if name not in tool.properties]
    if unknown:
        treats = "forbids" if tool.closed else "does not declare"
        yield CARD.finding(
            message=f"The schema requires {list_names(unknown)}, and {treats} it.",
            pointer="/inputSchema/required",
            severity=Severity.ERROR if tool.closed else None,
            evidence=f"required: {show(list(tool.required))}, properties: {show(list(tool.properties))}",
        )
