"""Rule: the error code of an envelope is misspelt or missing."""

from collections.abc import Iterator, Sequence

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.envelope import judge_envelopes
from toolvet.rules.subject import ObservedCall, ToolDefinition

CARD = Card(
    id="envelope-code-unclear",
    title="An error code is misspelt or missing",
    severity=Severity.WARNING,
    looks_for=(
        "An `error_code`, `error_type` or warning code that is nearly a documented one, another name for it, "
        "not in SCREAMING_SNAKE_CASE, or missing."
    ),
    why=(
        "Clients decide by the code whether to mend the call, to wait or to give up. A code that they do not "
        "know is an unknown error."
    ),
    remedy=(
        "Use the documented code where there is one; write codes of your own in SCREAMING_SNAKE_CASE and give "
        "their `error_type`."
    ),
)


def check_calls(tool: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """Judge the answers of tools that answer with envelopes; see `toolvet.rules.envelope`."""
    del tool
    yield from judge_envelopes(calls, CARD)
