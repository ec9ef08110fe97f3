"""Rule: the server sends a request that the client did not offer to answer."""

from collections.abc import Iterator

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.quote import quote_each
from toolvet.rules.subject import ServerSeen

CARD = Card(
    id="unexpected-request",
    title="The server asks for what the client did not offer",
    severity=Severity.WARNING,
    looks_for=(
        "A request from the server (sampling, elicitation, roots) although the client announced no such capability; "
        "from protocol 2026-07-28 on, any request."
    ),
    why=(
        "Clients without the capability answer with an error or not at all, and the tool that waits for it fails or "
        "hangs."
    ),
    remedy=(
        "Look at the client's capabilities first (FastMCP: `ctx.session.check_client_capability`), and do without, "
        "or answer with an error that says what is needed. From 2026-07-28 on, return an `input_required` result "
        "instead."
    ),
)


def check_server(server: ServerSeen) -> Iterator[Finding]:
    """One finding for all such requests."""
    found = server.anomalies_of("unexpected_request")
    if found:
        yield CARD.finding(
            message="The server sent a request that nothing we announced allows."
            if len(found) == 1
            else f"{len(found)} requests came that nothing we announced allows.",
            evidence=quote_each(found),
        )
