"""The server card under `/.well-known/mcp/server-card.json`, compared with the live server (SEP-2127)."""

from collections.abc import Iterator

from toolvet.assess.rules.quote import list_names, quote
from toolvet.assess.rules.rule import of_server
from toolvet.core.json_value import elements, members, names
from toolvet.core.tool_rules import ObservedServer
from toolvet.findings import Card, Finding, Severity

SERVER_CARD_DIFFERS = Card(
    id="server-card-differs",
    title="The server card differs from the live server",
    severity=Severity.WARNING,
    looks_for=(
        "A card whose version, endpoint, protocol versions or (in cards that have them) tools are not those of the "
        "server that answers. A server without a card is not reported."
    ),
    why="Clients and directories decide by the card whether and where to connect, before they ask the server.",
    remedy="Generate the card from the running server with each release.",
)


@of_server(SERVER_CARD_DIFFERS)
def check_server_card(server: ObservedServer) -> Iterator[Finding]:
    """One finding for each member that differs."""
    http = server.http
    if http is None or not (card := members(http.card)):
        return
    # Earlier drafts have the identity under `serverInfo`.
    version = card.get("version", members(card.get("serverInfo")).get("version"))
    if isinstance(version, str) and server.version and version != server.version:
        yield SERVER_CARD_DIFFERS.finding(
            message=f"The card says version {quote(version, 40)}, and the server {quote(server.version, 40)}.",
            pointer="/version",
        )
    remotes = [members(each) for each in elements(card.get("remotes"))]
    urls = [url.rstrip("/") for remote in remotes if isinstance(url := remote.get("url"), str)]
    # A server on this machine is assessed before it is deployed under the URL of its card.
    if urls and not http.is_local and http.url.rstrip("/") not in urls and not any("{" in url for url in urls):
        yield SERVER_CARD_DIFFERS.finding(
            message=f"The card names {list_names(urls, 3)}, and the server was reached at {quote(http.url, 120)}.",
            pointer="/remotes",
        )
    spoken = {name for remote in remotes for name in names(remote.get("supportedProtocolVersions"))}
    if spoken and server.protocol_version and server.protocol_version not in spoken:
        yield SERVER_CARD_DIFFERS.finding(
            message=f"The server speaks {server.protocol_version}, which the card does not list.",
            evidence=", ".join(sorted(spoken))[:300],
            pointer="/remotes",
        )
    listed = {name for each in elements(card.get("tools")) if isinstance(name := members(each).get("name"), str)}
    live = {tool.name for tool in server.tools}
    if listed and listed != live:
        gone, new = sorted(listed - live), sorted(live - listed)
        parts = [f"the server lacks {list_names(gone, 3)}"] if gone else []
        parts += [f"the card lacks {list_names(new, 3)}"] if new else []
        yield SERVER_CARD_DIFFERS.finding(message=f"Tools: {'; '.join(parts)}.", pointer="/tools")
