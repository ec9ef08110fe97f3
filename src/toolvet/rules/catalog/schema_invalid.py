"""Rule: the inputSchema is not a valid JSON Schema."""

from collections.abc import Iterator

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.quote import quote, quote_problem
from toolvet.rules.subject import ToolDefinition
from toolvet.schema import compiled

CARD = Card(
    id="schema-invalid",
    title="The inputSchema is no valid JSON Schema",
    severity=Severity.ERROR,
    looks_for=(
        "An inputSchema that does not compile: a keyword with a value that it cannot have, a $ref that leads "
        "nowhere, a dialect that nobody supports; or a regular expression that no engine accepts."
    ),
    why=(
        "Nobody can check a call against it. Clients that compile schemas refuse the tool or the whole list, model "
        "APIs refuse the request, and the others send whatever the model makes up."
    ),
    remedy=(
        "Fix the keyword at the place named. Schemas written by hand go wrong most often: derive them from the "
        "function's signature (FastMCP), from a pydantic model or from Zod. Without `$schema`, JSON Schema 2020-12 "
        "holds."
    ),
)


def check_tool(tool: ToolDefinition) -> Iterator[Finding]:
    """Report why the schema, or a part of it, cannot be used; `remote-reference` reports references to elsewhere."""
    if tool.schema is None:
        return
    schema = compiled(tool.schema)
    if schema.problem is not None and schema.problem.kind != "remote_ref":
        yield CARD.finding(
            message=f"The inputSchema cannot be used: {quote_problem(tool.schema, schema.problem)}",
            pointer=f"/inputSchema{schema.problem.pointer}",
            evidence=quote(schema.problem.message),
        )
    if schema.reading is not None:
        pointer, _, words = schema.reading.partition(": ")
        yield CARD.finding(
            message=f"The inputSchema does not say its draft of JSON Schema: {words}.",
            pointer=f"/inputSchema{pointer}",
            severity=Severity.WARNING,
            evidence=quote(words),
        )
    for note in schema.notes:
        pointer, _, words = note.partition(": ")
        yield CARD.finding(
            message=f"A part of the inputSchema cannot be used: {quote(words or note)}.",
            pointer=f"/inputSchema{pointer}",
            severity=Severity.WARNING,
            evidence=quote(note),
        )
