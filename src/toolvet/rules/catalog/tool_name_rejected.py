"""Names that model APIs or clients refuse."""

import re
from collections.abc import Iterator

from toolvet.findings import Card, Severity
from toolvet.rules.judge import Seen
from toolvet.rules.quote import quoted
from toolvet.rules.subject import ToolDefinition

CARD = Card(
    id="tool-name-rejected",
    title="A tool's name is refused by clients",
    severity=Severity.WARNING,
    looks_for="A tool name outside of the specification's guidance (1 to 128 letters, digits, `_`, `-` and `.`, SEP-986), or outside "
    "of what common model APIs accept as the name of a function (1 to 64 letters, digits, `_` and `-`).",
    why="Clients pass the name on to a model API, which refuses the whole request when one name is not allowed there; or they rewrite "
    "it, so that prompts and allow lists that name the tool no longer fit.",
    remedy="Rename the tool to at most 64 ASCII letters, digits, `_` and `-`, with room for a prefix that clients put in front, "
    'for example `@mcp.tool(name="search_books")`.',
)

_GUIDANCE = re.compile(r"[A-Za-z0-9_.\-]{1,128}\Z")
_MODEL_APIS = re.compile(r"[A-Za-z0-9_\-]{1,64}\Z")
_LONGEST = 128
_LONGEST_FOR_MODELS = 64


def check_tool(tool: ToolDefinition) -> Iterator[Seen]:
    """A name that the specification advises against is an error, one that only model APIs refuse a warning."""
    name = tool.name
    if not name or _MODEL_APIS.match(name):
        return
    foreign = "".join(dict.fromkeys(re.findall(r"[^A-Za-z0-9_.\-]", name)))
    if foreign:
        yield Seen(
            message=f"The name '{quoted(name, 80)}' holds characters that are not allowed: {quoted(' '.join(foreign), 40) or 'white space'}.",
            severity=Severity.ERROR,
            pointer="/name",
            evidence=quoted(name),
        )
    elif not _GUIDANCE.match(name):
        yield Seen(
            message=f"The name has {len(name)} characters; the specification advises at most {_LONGEST}, model APIs accept {_LONGEST_FOR_MODELS}.",
            severity=Severity.ERROR,
            pointer="/name",
            evidence=quoted(name),
        )
    elif len(name) > _LONGEST_FOR_MODELS:
        yield Seen(
            message=f"The name has {len(name)} characters; common model APIs accept {_LONGEST_FOR_MODELS}.",
            pointer="/name",
            evidence=quoted(name),
        )
    else:
        yield Seen(
            message=f"The name '{name}' holds a dot, which the specification allows and common model APIs refuse.",
            severity=Severity.INFO,
            pointer="/name",
            evidence=name,
        )
