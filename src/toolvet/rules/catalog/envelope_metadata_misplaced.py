"""Rule: metadata is among the payload, where clients do not look."""

from collections.abc import Iterator, Sequence

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.envelope import judge_envelopes
from toolvet.rules.subject import ObservedCall, ToolDefinition

CARD = Card(
    id="envelope-metadata-misplaced",
    title="Metadata stands where clients do not look",
    severity=Severity.WARNING,
    looks_for=(
        "Members of `data` that the contract keeps in `meta` (`pagination`, `rate_limit`, `has_more`, …), and "
        "members of `meta` that are a reserved name misspelt."
    ),
    why=("A client that pages, waits or warns by `meta` does not see them, and a model takes them for the answer."),
    remedy="Move them into `meta` under their reserved names.",
)


def check_calls(tool: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """Judge the answers of tools that answer with envelopes; see `toolvet.rules.envelope`."""
    del tool
    yield from judge_envelopes(calls, CARD)
