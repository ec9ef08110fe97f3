"""Rule: an answer names a request that was never made."""

from collections.abc import Iterator

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.quote import quote_each
from toolvet.rules.subject import ServerSeen

CARD = Card(
    id="unknown-id-answer",
    title="An answer names a request that was never made",
    severity=Severity.WARNING,
    looks_for="A response whose id belongs to no request of ours, or an error without an id.",
    why=(
        "The client cannot tell what was answered: it drops the message, and waits for the real answer until its "
        "time is up."
    ),
    remedy='Send the id of the request back unchanged, with its JSON type: `1` is not `"1"`.',
)


def check_server(server: ServerSeen) -> Iterator[Finding]:
    """One finding for all such answers."""
    found = server.anomalies_of("unknown_id", "null_id")
    if found:
        yield CARD.finding(
            message="An answer names a request that was never made."
            if len(found) == 1
            else f"{len(found)} answers name requests that were never made.",
            evidence=quote_each(found),
        )
