"""Rule: a schema refers to another document."""

import re
from collections.abc import Iterator
from typing import Final

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.quote import quote
from toolvet.rules.subject import ToolDefinition
from toolvet.schema import compiled
from toolvet.schema.walk import subschemas

CARD = Card(
    id="remote-reference",
    title="A schema refers to another document",
    severity=Severity.WARNING,
    looks_for=(
        "A `$ref` in the inputSchema or outputSchema that leads to another document (http, https, file). It is "
        "never fetched here."
    ),
    why=(
        "Clients must not fetch references (protocol 2026-07-28; before that it was an open door for requests "
        "forged on behalf of the client). To a model and to every checker the referenced part does not exist, and "
        "the whole schema may be refused."
    ),
    remedy=(
        "Copy the referenced schema into `$defs` and refer to it with `#/$defs/Name`. Most schema libraries can "
        "bundle (pydantic does so by itself)."
    ),
)

_ELSEWHERE: Final = re.compile(r"(?i)(?:[a-z][a-z0-9+.-]{0,30}:)?//|[a-z][a-z0-9+.-]{1,30}:(?!//)")


def check_tool(tool: ToolDefinition) -> Iterator[Finding]:
    """One finding per schema. Meta-schemas of JSON Schema and embedded documents do not count as other documents."""
    for name, schema in (("inputSchema", tool.schema), ("outputSchema", tool.result_schema)):
        problem = None if schema is None else compiled(schema).problem
        if problem is not None and problem.kind == "remote_ref":
            references = dict.fromkeys(_find_references(schema))
            words = next(
                (reference for reference in references if reference in problem.message),
                next(iter(references), problem.message),
            )
            yield CARD.finding(
                message=f"The {name} refers to another document ({quote(words)}).",
                pointer=f"/{name}{problem.pointer}",
                evidence=quote(", ".join(references) or problem.message),
            )


def _find_references(schema: object) -> Iterator[str]:
    for _, here in subschemas(schema):
        for keyword in ("$ref", "$dynamicRef"):
            reference = here.get(keyword)
            if isinstance(reference, str) and _ELSEWHERE.match(reference):
                yield reference
