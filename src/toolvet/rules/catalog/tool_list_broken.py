"""Rule: the tool list cannot be read as it should."""

from collections.abc import Iterator

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.quote import quote
from toolvet.rules.subject import ServerSeen

CARD = Card(
    id="tool-list-broken",
    title="The tool list cannot be read as it should",
    severity=Severity.ERROR,
    looks_for=(
        "A page of tools/list that is missing, refused or no object with a `tools` array, or that contains half of a "
        "surrogate pair; a cursor that comes twice; a list without end, with more than 20,000 tools or of more than "
        "64 MiB."
    ),
    why="Clients show the tools of the pages that they could read, or none, or ask for pages forever.",
    remedy=(
        "Answer each page with `tools` and, only when there are more, a `nextCursor` string that leads on. Servers "
        "with a few hundred tools need no pages at all."
    ),
)


def check_server(server: ServerSeen) -> Iterator[Finding]:
    """One finding for all problems, the first in its message."""
    problems = [problem.strip() for problem in server.listing_problems if problem.strip()]
    if problems:
        more = f" And {len(problems) - 1} more." if len(problems) > 1 else ""
        sentence = quote(problems[0])
        yield CARD.finding(
            message=f"tools/list: {sentence}{'' if sentence.endswith(('.', '…')) else '.'}{more}",
            evidence=quote("; ".join(problems), 400),
        )
