"""Rule: stdout holds something that is not a message."""

from collections.abc import Iterator

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.quote import quote_each
from toolvet.rules.subject import ServerSeen

CARD = Card(
    id="stdout-noise",
    title="Something that is no message stands on stdout",
    severity=Severity.WARNING,
    looks_for="Lines on stdout (or events on the stream) that are no JSON-RPC message.",
    why=(
        "Stdout belongs to the protocol: the specification forbids anything else on it. Some clients log the noise, "
        "some end the connection, and a line without a newline spoils the message behind it."
    ),
    remedy=(
        "Send logs and prints to stderr: `print(..., file=sys.stderr)`, `logging.basicConfig(stream=sys.stderr)`, "
        "`console.error` instead of `console.log`. Look for libraries and child processes that print; give child "
        "processes a stdout of their own."
    ),
)


def check_server(server: ServerSeen) -> Iterator[Finding]:
    """One finding for all of it, with the first lines quoted."""
    found = server.anomalies_of("noise")
    if found:
        yield CARD.finding(
            message="Something that is no message stands on stdout."
            if len(found) == 1
            else f"{len(found)} times something that is no message stood on stdout.",
            evidence=quote_each(found),
        )
