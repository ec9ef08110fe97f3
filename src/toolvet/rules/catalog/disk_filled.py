"""Rule: the server wrote more to the disk than it may."""

from collections.abc import Iterator

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.subject import ServerSeen

CARD = Card(
    id="disk-filled",
    title="The server fills the disk",
    severity=Severity.ERROR,
    looks_for="More in the server's working, home and temporary folders than --disk allows, during one assessment.",
    why=(
        "A server runs for days beside the user's files. What it writes without an end takes the disk from every other "
        "program, and a full disk breaks those that have nothing to do with it."
    ),
    remedy=(
        "Bound caches, logs and downloads by size and not by time alone; delete temporary files when the call that "
        "made them ends; refuse arguments that ask for files of any size. If the server needs that much, raise --disk."
    ),
)


def check_server(server: ServerSeen) -> Iterator[Finding]:
    """One finding, with how much there was when the server was ended."""
    if server.overfilled:
        yield CARD.finding(message=f"The server {server.overfilled}, and was ended.")
