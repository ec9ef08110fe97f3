"""Two tools of one name."""

from collections import Counter
from collections.abc import Iterator

from toolvet.findings import Card, Severity
from toolvet.rules.judge import Observation
from toolvet.rules.quote import quoted
from toolvet.rules.subject import ServerSeen

CARD = Card(
    id="tool-name-duplicate",
    title="Two tools have the same name",
    severity=Severity.ERROR,
    looks_for="A name that stands more than once in the tool list, over all of its pages.",
    why=(
        "A call names its tool. Of two tools with one name only one can be called, which one is up to the client "
        "and the server, and some clients refuse the whole list."
    ),
    remedy=(
        "Give each tool a name of its own. When several modules or mounted servers register tools, give each a "
        "prefix (FastMCP: `mcp.mount(server, prefix=...)`)."
    ),
)


def check_server(server: ServerSeen) -> Iterator[Observation]:
    """One finding for each name that is there more than once."""
    for name, count in Counter(tool.name for tool in server.tools if tool.name).items():
        if count > 1:
            places = ", ".join(str(tool.position + 1) for tool in server.tools if tool.name == name)
            message = f"{count} tools are named '{quoted(name, 80)}'."
            yield Observation(
                message=message, evidence=f"entries {places} of the tool list", pointer="/name", tool=name
            )
