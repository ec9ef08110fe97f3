"""Rule: model APIs or clients refuse the name of a tool."""

import re
from collections.abc import Iterator
from typing import Final

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.quote import quote
from toolvet.rules.subject import ToolDefinition

CARD = Card(
    id="tool-name-rejected",
    title="A tool's name is refused by clients",
    severity=Severity.WARNING,
    looks_for=(
        "A tool name outside of the specification's guidance (1 to 128 letters, digits, `_`, `-` and `.`, SEP-986), "
        "or outside of what common model APIs accept as the name of a function (1 to 64 letters, digits, `_` and "
        "`-`)."
    ),
    why=(
        "Clients pass the name on to a model API, which refuses the whole request when one name is not allowed "
        "there; or they rewrite it, so that prompts and allow lists that name the tool no longer fit."
    ),
    remedy=(
        "Rename the tool to at most 64 ASCII letters, digits, `_` and `-`, with room for a prefix that clients put "
        'in front, for example `@mcp.tool(name="search_books")`.'
    ),
)

_GUIDANCE: Final = re.compile(r"[A-Za-z0-9_.\-]{1,128}\Z")
_MODEL_APIS: Final = re.compile(r"[A-Za-z0-9_\-]{1,64}\Z")
_LONGEST: Final = 128
_LONGEST_FOR_MODELS: Final = 64


def check_tool(tool: ToolDefinition) -> Iterator[Finding]:
    """An error for a name that the specification advises against, a warning for one that only model APIs refuse."""
    name = tool.name
    if not name or _MODEL_APIS.match(name):
        return
    legal = _GUIDANCE.match(name) is not None
    yield CARD.finding(
        message=f"The name '{quote(name, 80)}' {' and '.join(_find_problems(name))}.",
        severity=None if legal else Severity.ERROR,
        pointer="/name",
        evidence=quote(name),
    )


def _find_problems(name: str) -> Iterator[str]:
    foreign = dict.fromkeys(re.findall(r"[^A-Za-z0-9_.\-]", name))
    if foreign:
        yield f"holds characters that are not allowed ({', '.join(map(_show_character, list(foreign)[:10]))})"
    if len(name) > _LONGEST:
        yield f"has {len(name)} characters (the specification advises at most {_LONGEST})"
    elif len(name) > _LONGEST_FOR_MODELS:
        yield f"has {len(name)} characters (common model APIs accept {_LONGEST_FOR_MODELS})"
    if "." in name:
        yield "holds a dot (allowed, but refused by common model APIs)"


def _show_character(char: str) -> str:
    return char if char.isprintable() and not char.isspace() else f"U+{ord(char):04X}"
