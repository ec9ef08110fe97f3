"""Rule: a shortened response does not say properly that it is shortened."""

from collections.abc import Iterator, Sequence

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.envelope import judge_envelopes
from toolvet.rules.subject import ObservedCall, ToolDefinition

CARD = Card(
    id="envelope-fidelity-unclear",
    title="A shortened response does not say so properly",
    severity=Severity.WARNING,
    looks_for=(
        "Dropped items without `content_fidelity`, a level below full without "
        "`content_fidelity_schema_version`, an id dropped twice, an archive hash that is not whole."
    ),
    why=(
        "A reader who does not see that something is missing answers from the rest as if it were all, and "
        "cannot fetch what was left out."
    ),
    remedy=("Set `content_fidelity` and its schema version whenever something was left out, and give whole hashes."),
)


def check_calls(tool: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """Judge the answers of tools that answer with envelopes; see `toolvet.rules.envelope`."""
    del tool
    yield from judge_envelopes(calls, CARD)
