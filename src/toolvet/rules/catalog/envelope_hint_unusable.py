"""Rule: a hint for the next call cannot be followed."""

from collections.abc import Iterator, Sequence

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.envelope import judge_envelopes
from toolvet.rules.subject import ObservedCall, ToolDefinition

CARD = Card(
    id="envelope-hint-unusable",
    title="A hint for the next call cannot be followed",
    severity=Severity.WARNING,
    looks_for="`has_more: true` without a cursor, or a `reset_at` that is a bare number.",
    why="The client knows that there is more, or that it has to wait, and not how to go on.",
    remedy="Give the cursor of the next page, and moments as RFC 3339 has them.",
)


def check_calls(tool: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """Judge the answers of tools that answer with envelopes; see `toolvet.rules.envelope`."""
    del tool
    yield from judge_envelopes(calls, CARD)
