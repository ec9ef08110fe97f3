"""Rule: two tools have the same name."""

from collections.abc import Iterator
from typing import Final

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.quote import quote
from toolvet.rules.subject import ServerSeen

CARD = Card(
    id="tool-name-duplicate",
    title="Two tools have the same name",
    severity=Severity.ERROR,
    looks_for="A name that appears more than once in the tool list, over all of its pages.",
    why=(
        "A call names its tool. Of two tools with one name only one can be called, which one is up to the client "
        "and the server, and some clients refuse the whole list."
    ),
    remedy=(
        "Give each tool a name of its own. When several modules or mounted servers register tools, give each a "
        "prefix (FastMCP: `mcp.mount(server, prefix=...)`)."
    ),
)

_SHOWN: Final = 20


def check_server(server: ServerSeen) -> Iterator[Finding]:
    """One finding for each name that occurs more than once."""
    places: dict[str, list[str]] = {}
    for tool in server.tools:
        if tool.name:
            places.setdefault(tool.name, []).append(str(tool.position + 1))
    for name, entries in places.items():
        if len(entries) > 1:
            more = f" and {len(entries) - _SHOWN:,} more" if len(entries) > _SHOWN else ""
            yield CARD.finding(
                message=f"{len(entries)} tools are named '{quote(name, 80)}'.",
                evidence=f"entries {', '.join(entries[:_SHOWN])}{more} of the tool list",
                pointer="/name",
                tool=name,
            )
