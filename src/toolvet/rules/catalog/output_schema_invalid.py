"""Rule: the outputSchema is not a valid JSON Schema."""

from collections.abc import Iterator
from typing import Final

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.quote import quote, quote_problem, show
from toolvet.rules.subject import ServerSeen, ToolDefinition
from toolvet.schema import compiled

CARD = Card(
    id="output-schema-invalid",
    title="The outputSchema is no valid JSON Schema",
    severity=Severity.ERROR,
    looks_for="An outputSchema that does not compile; or, before protocol 2026-07-28, one whose root is no object.",
    why=(
        "Clients check structured results against it. The official clients compile it when they first call the "
        "tool, or when they read the list, and fail there: the tool, or all tools, cannot be used."
    ),
    remedy=(
        "Fix the keyword at the place named, or drop the outputSchema. Derive it from a return type (FastMCP, "
        "pydantic) or from a Zod object. Where the result is a list or a scalar, old clients need it wrapped in an "
        "object."
    ),
)

_ANY_ROOT_SINCE: Final = "2026-07-28"


def check_tool(tool: ToolDefinition) -> Iterator[Finding]:
    """Report why the schema does not compile; `tool-illegal` reports a schema of the wrong JSON type."""
    if tool.result_schema is None:
        return
    problem = compiled(tool.result_schema).problem
    if problem is not None and problem.kind != "remote_ref":
        yield CARD.finding(
            message=f"The outputSchema cannot be used: {quote_problem(tool.result_schema, problem)}",
            pointer=f"/outputSchema{problem.pointer}",
            evidence=quote(problem.message),
        )


def check_server(server: ServerSeen) -> Iterator[Finding]:
    """Report a root that does not describe an object, where the protocol of the session demands one."""
    if not server.protocol_version or server.protocol_version >= _ANY_ROOT_SINCE:
        return
    for tool in server.tools:
        schema = tool.result_schema
        if schema is not None and (kind := schema.get("type")) != "object":
            yield CARD.finding(
                message=f'The outputSchema must have "type": "object" in protocol {server.protocol_version}.',
                pointer="/outputSchema/type",
                evidence=show(kind) if "type" in schema else show(schema, 160),
                tool=tool.name,
            )
