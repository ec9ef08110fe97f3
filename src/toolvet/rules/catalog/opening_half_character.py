"""Rule: the server introduces itself with half a character."""

from collections.abc import Iterator

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.quote import quote_each
from toolvet.rules.subject import ServerSeen

CARD = Card(
    id="opening-half-character",
    title="The server introduces itself with half a character",
    severity=Severity.ERROR,
    looks_for=(
        "An answer to `initialize` or `server/discover` whose texts contain one half of a surrogate pair (`\\ud800`) "
        "without the other."
    ),
    why=(
        "UTF-8 cannot hold half a pair, so strict JSON parsers refuse the whole message (RFC 8259, section 8.2): such "
        "a client opens no session, and none of the tools can be used."
    ),
    remedy=(
        "Cut texts between characters, not inside them: in JavaScript with `Array.from(text)` or "
        "`text.toWellFormed()`, in Python by decoding bytes only when they are complete."
    ),
)


def check_server(server: ServerSeen) -> Iterator[Finding]:
    """One finding for all such answers."""
    found = server.anomalies_of("half_character")
    if found:
        yield CARD.finding(
            message="The answer that opens the session contains half of a surrogate pair, which is no character.",
            evidence=quote_each(found),
        )
