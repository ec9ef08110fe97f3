"""Rule: the server ended during a call."""

from collections.abc import Iterator

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.ending import Ending, ending
from toolvet.rules.quote import quote, show
from toolvet.rules.subject import ObservedCall

CARD = Card(
    id="server-died",
    title="The server ended during a call",
    severity=Severity.ERROR,
    looks_for="A call during which the server's process ended or its connection broke.",
    why=(
        "Every tool of the server is gone with it, for every conversation that uses it, and clients seldom start it "
        "again by themselves."
    ),
    remedy=(
        "Catch what the tool raises and answer with isError; the SDKs do this for ordinary exceptions, so look for "
        "`sys.exit`, `process.exit`, unhandled promise rejections, native crashes, and memory that runs out."
    ),
)


def check_call(call: ObservedCall) -> Iterator[Finding]:
    """Quote the last words of the server, or else the arguments."""
    if ending(call) is Ending.DIED:
        first, *_ = [*call.detail.strip().splitlines(), ""]
        yield CARD.finding(
            message=f"The server ended while it worked on this call{f': {quote(first, 160)}' if first else ''}.",
            evidence=quote(call.detail, 400) or f"arguments: {show(call.arguments, 160)}",
        )
