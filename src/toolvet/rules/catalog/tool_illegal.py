"""Rule: official clients cannot read an entry of the tool list."""

from collections.abc import Iterator, Mapping
from typing import Final, cast

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.quote import show
from toolvet.rules.subject import ToolDefinition

CARD = Card(
    id="tool-illegal",
    title="An entry of the tool list is no tool",
    severity=Severity.ERROR,
    looks_for=(
        "An entry of tools/list that is no object, has no name, or holds a field of a type that the protocol does "
        "not allow."
    ),
    why=(
        "The official clients read the list as a whole: one entry that they cannot read makes them refuse every "
        "tool of the server."
    ),
    remedy=(
        "Build tools with the SDK (`@mcp.tool` in FastMCP, `registerTool` in TypeScript) or with its Tool type, "
        "which refuse such an entry before it is sent."
    ),
)

# What the official Python client (mcp 2.3) and the schema of the protocol demand; null is as good as absent there.
_TYPES: Mapping[str, tuple[type, str]] = {
    "title": (str, "a string"),
    "description": (str, "a string"),
    "outputSchema": (dict, "an object"),
    "annotations": (dict, "an object"),
    "icons": (list, "an array"),
    "execution": (dict, "an object"),
    "_meta": (dict, "an object"),
}
_HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def check_tool(tool: ToolDefinition) -> Iterator[Finding]:
    """Report what makes official clients refuse an entry, and the list with it."""
    place = f"Entry {tool.position + 1} of the tool list"
    if not isinstance(tool.raw, Mapping):
        yield CARD.finding(message=f"{place} is no object.", evidence=show(tool.raw))
        return
    raw = cast("Mapping[str, object]", tool.raw)
    if not tool.name:
        problem = f"has the name {show(raw['name'])}" if "name" in raw else "has no name"
        yield CARD.finding(message=f"{place} {problem}.", pointer=f"/{tool.position}/name", evidence=show(raw, 160))
    for field, (kind, wanted) in _TYPES.items():
        value = raw.get(field)
        if value is not None and not isinstance(value, kind):
            yield CARD.finding(message=f"'{field}' must be {wanted}.", pointer=f"/{field}", evidence=show(value))
    for hint in _HINTS:
        value = tool.annotations.get(hint)
        if value is not None and not isinstance(value, bool):
            yield CARD.finding(
                message=f"'annotations.{hint}' must be true or false.",
                pointer=f"/annotations/{hint}",
                evidence=show(value),
            )
