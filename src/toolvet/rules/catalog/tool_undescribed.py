"""Rule: a tool has no description."""

from collections.abc import Iterator
from typing import cast

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.quote import quote
from toolvet.rules.subject import ToolDefinition
from toolvet.schema.json_value import members

CARD = Card(
    id="tool-undescribed",
    title="A tool has no description",
    severity=Severity.WARNING,
    looks_for="A tool whose description is missing or blank.",
    why=(
        "A model chooses tools by their descriptions. Without one it has only the name to go by, and calls the tool "
        "at the wrong time or never."
    ),
    remedy=(
        "Say in one or two sentences what the tool does, when to use it and what it returns. In FastMCP the "
        "docstring of the function becomes the description; in the TypeScript SDK pass `description` to "
        "`registerTool`."
    ),
)


def check_tool(tool: ToolDefinition) -> Iterator[Finding]:
    """Report a missing or blank description; `tool-illegal` reports one of a wrong type."""
    if not isinstance(tool.raw, dict):
        return
    description = members(cast("object", tool.raw)).get("description")
    if description is None or (isinstance(description, str) and not description.strip()):
        subject = f"'{quote(tool.name, 80)}'" if tool.name else "The tool"
        yield CARD.finding(message=f"{subject} has no description.", pointer="/description")
