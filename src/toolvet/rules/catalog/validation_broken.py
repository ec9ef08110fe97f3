"""Rule: the validator that a server announces does not work."""

from collections.abc import Iterator
from typing import Final

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.quote import quote
from toolvet.rules.subject import ServerSeen, ValidationSeen

CARD = Card(
    id="validation-broken",
    title="The announced validation does not work",
    severity=Severity.ERROR,
    looks_for=(
        "`toolValidation` among the capabilities, and an announced method that does not exist, fails, does not answer "
        "or answers with something that is no verdict. Also an announcement that is none: official clients cannot even "
        "connect to a server that announces a bare `true`. An option that cannot be read is a warning."
    ),
    why=(
        "A client that asks first falls back to the schema, and pays a round trip for it each time, or refuses to "
        "schedule anything. One that does not look twice takes the failure for a verdict."
    ),
    remedy=(
        'Announce `"experimental": {"toolValidation": {"supported": true}}` and offer a tool of the announced name '
        "(`validate` without one) that takes `tool` and `arguments` and answers `valid`, `errors`, `warnings` and "
        "`suggestions`. Or announce nothing."
    ),
)
_PLACE: Final = "/capabilities/experimental/toolValidation"


def check_server(server: ServerSeen) -> Iterator[Finding]:
    """One finding about the announcement, one about the answers of the validator."""
    seen = server.validation
    if seen is None:
        return
    if seen.announcement_problems:
        yield CARD.finding(
            message=f"The announcement is wrong: {quote(' '.join(seen.announcement_problems), 300)}",
            severity=Severity.WARNING if seen.announced else None,
            pointer=_PLACE,
            evidence=quote(" ".join(seen.announcement_problems), 400),
        )
    if seen.failures:
        yield CARD.finding(
            message=f"Asked about a call, '{quote(seen.method, 60)}' gave no verdict{_count_failures(seen)}: "
            f"{quote(seen.failures[0], 200)}",
            evidence=quote("; ".join(dict.fromkeys(seen.failures)), 400),
        )


def _count_failures(seen: ValidationSeen) -> str:
    failed = len(seen.failures)
    return "" if failed == seen.asked == 1 else f" ({failed} of {seen.asked} times)"
