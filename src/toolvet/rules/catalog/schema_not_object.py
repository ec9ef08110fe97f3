"""Rule: the inputSchema does not describe an object."""

from collections.abc import Iterator

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.quote import show
from toolvet.rules.subject import ToolDefinition

CARD = Card(
    id="schema-not-object",
    title="The inputSchema does not describe an object",
    severity=Severity.ERROR,
    looks_for='A tool without an inputSchema, or one whose root does not say `"type": "object"`.',
    why=(
        "Arguments are always an object, and the protocol demands that the schema says so. The official TypeScript "
        "client refuses the whole tool list otherwise, and model APIs refuse the request."
    ),
    remedy=(
        'Put `"type": "object"` at the root. A tool without parameters has `{"type": "object", "properties": {}}`. '
        "The SDKs write this for you when the schema comes from the function's signature or a Zod object."
    ),
)


def check_tool(tool: ToolDefinition) -> Iterator[Finding]:
    """Report a missing schema, a schema that is not an object, and a root of another type."""
    if not isinstance(tool.raw, dict):
        return
    if tool.input_schema is None:
        yield CARD.finding(message="The tool has no inputSchema.", pointer="/inputSchema")
    elif tool.schema is None:
        yield CARD.finding(
            message="The inputSchema is no object.", pointer="/inputSchema", evidence=show(tool.input_schema)
        )
    elif (kind := tool.schema.get("type")) != "object":
        problem = (
            f'has the type {show(kind)}, not "object"'
            if "type" in tool.schema
            else 'has no "type": "object" at its root'
        )
        yield CARD.finding(
            message=f"The inputSchema {problem}.", pointer="/inputSchema/type", evidence=show(tool.schema, 160)
        )
