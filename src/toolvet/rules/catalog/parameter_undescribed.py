"""Rule: parameters have no description."""

import re
from collections.abc import Iterator
from typing import Final, cast

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.quote import list_names
from toolvet.rules.subject import ToolDefinition
from toolvet.schema.json_value import elements, members

CARD = Card(
    id="parameter-undescribed",
    title="Parameters have no description",
    severity=Severity.INFO,
    looks_for=(
        "Top-level parameters without a description, neither in the schema nor in the tool's own description (a "
        "line such as `limit: how many results` counts)."
    ),
    why=(
        "A model knows a parameter by its name and its description. Formats, units, defaults and where to get an id "
        "from cannot be guessed from a name."
    ),
    remedy=(
        'Describe each parameter with its format, unit and an example: `Annotated[str, Field(description="IANA time '
        'zone, e.g. Europe/Paris")]` in Python, `z.string().describe("...")` in Zod.'
    ),
)
_DEEP_ENOUGH: Final = 4
_MOST_BRANCHES: Final = 20
_LONGEST: Final = 20_000  # Characters of a tool's description that are searched.


def check_tool(tool: ToolDefinition) -> Iterator[Finding]:
    """One finding per tool, with all its undescribed parameters."""
    properties = tool.properties
    missing = [
        name
        for name, schema in properties.items()
        if not _is_described(schema, tool) and not _is_explained(name, tool.description)
    ]
    if missing:
        many = f"{len(missing)} of {len(properties)} parameters have no description"
        sentence = "The only parameter has no description" if len(properties) == 1 else many
        yield CARD.finding(message=f"{sentence}: {list_names(missing)}.", pointer="/inputSchema/properties")


def _is_described(schema: object, tool: ToolDefinition, depth: int = 0) -> bool:
    """Whether there is a description in the schema, behind its local `$ref`, or in one of its branches."""
    if not isinstance(schema, dict):
        return schema is False
    here = members(cast("object", schema))
    description = here.get("description")
    if isinstance(description, str) and description.strip():
        return True
    if depth >= _DEEP_ENOUGH:
        return False
    reference = here.get("$ref")
    if isinstance(reference, str):
        kind, _, name = reference.removeprefix("#/").partition("/")
        target = members(members(tool.input_schema).get(kind)).get(name) if kind in {"$defs", "definitions"} else None
        return target is None or _is_described(target, tool, depth + 1)
    branches = (*elements(here.get("anyOf")), *elements(here.get("oneOf")), *elements(here.get("allOf")))
    return any(_is_described(members(branch), tool, depth + 1) for branch in branches[:_MOST_BRANCHES])


def _is_explained(name: str, description: str) -> bool:
    """Whether a line of the tool's description explains the parameter: `name: …`, `- name (str): …`, "`name` is …"."""
    start = r"(?m)(?:^[ \t]{0,20}[-*•]?[ ]{0,4}|[`'\"])[`'\"*]{0,3}"
    rest = r"[`'\"*]{0,3}(?:[ ]?\([^)\n]{0,80}\))?[ ]{0,3}(?:[:=-]|\u2013|\u2014| is | to | sets )"
    return re.search(f"{start}{re.escape(name[:100])}{rest}", description[:_LONGEST]) is not None
