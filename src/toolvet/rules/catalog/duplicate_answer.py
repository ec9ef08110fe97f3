"""Rule: the server answered a request twice."""

from collections.abc import Iterator

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.quote import quote_each
from toolvet.rules.subject import ServerSeen

CARD = Card(
    id="duplicate-answer",
    title="A request was answered twice",
    severity=Severity.WARNING,
    looks_for="A second response with the id of a request that was already answered.",
    why=(
        "Clients drop the second answer, or take it for the answer to something else; either way one of the two is "
        "lost."
    ),
    remedy=(
        "Answer each request once. Look for a handler that sends a response itself and returns one as well, or for "
        "an error path that runs on after it answered."
    ),
)


def check_server(server: ServerSeen) -> Iterator[Finding]:
    """One finding for all such answers."""
    found = server.anomalies_of("duplicate_answer")
    if found:
        yield CARD.finding(
            message="A request was answered twice."
            if len(found) == 1
            else f"{len(found)} requests were answered twice.",
            evidence=quote_each(found),
        )
