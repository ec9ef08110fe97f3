"""Rule: the default of a parameter breaks the parameter's own schema."""

from collections.abc import Iterator, Mapping

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.quote import list_names, show
from toolvet.rules.subject import ToolDefinition
from toolvet.schema import compiled
from toolvet.schema.json_value import members

CARD = Card(
    id="default-invalid",
    title="A default breaks its own schema",
    severity=Severity.WARNING,
    looks_for=(
        'Parameters whose `default` their own schema forbids. `"default": null` on a parameter that does not allow '
        "null is information: Python signatures such as `x: str = None` make it."
    ),
    why=(
        "Models and clients fill in defaults. One that breaks the schema makes a call that the server or a strict "
        "client refuses."
    ),
    remedy=(
        "Give a default that the schema allows, or allow it: in Python write `x: str | None = None` instead of "
        "`x: str = None`; in Zod `.nullable()`."
    ),
)


def check_tool(tool: ToolDefinition) -> Iterator[Finding]:
    """One finding a tool, naming its parameters; another one for nulls, which are milder."""
    wrong = dict(_find_wrong_defaults(tool))
    nulls = [name for name, default in wrong.items() if default is None]
    others = [name for name, default in wrong.items() if default is not None]
    if others:
        first = others[0]
        yield CARD.finding(
            message=f"The schema forbids the default of {list_names(others)}: {show(wrong[first], 60)}.",
            pointer=_pointer(first),
            evidence=show(tool.properties[first], 200),
        )
    if nulls:
        first = nulls[0]
        yield CARD.finding(
            message=f"The default of {list_names(nulls)} is null, and the schema does not allow null.",
            severity=Severity.INFO,
            pointer=_pointer(first),
            evidence=show(tool.properties[first], 200),
        )


def _pointer(name: str) -> str:
    return f"/inputSchema/properties/{name.replace('~', '~0').replace('/', '~1')}/default"


def _find_wrong_defaults(tool: ToolDefinition) -> Iterator[tuple[str, object]]:
    root = members(tool.input_schema)
    for name, declared in tool.properties.items():
        schema = members(declared)
        if "default" in schema and not _allows(root, schema):
            yield name, schema["default"]


def _allows(root: Mapping[str, object], schema: Mapping[str, object]) -> bool:
    """Whether a property's schema allows its own default; true for one that does not compile by itself."""
    shared = {key: root[key] for key in ("$schema", "$defs", "definitions") if key in root}
    alone = compiled({**shared, **schema})
    return alone.problem is not None or alone.is_valid(schema["default"])
