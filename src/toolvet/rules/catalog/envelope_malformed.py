"""Rule: a response envelope breaks its contract."""

from collections.abc import Iterator, Sequence

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.envelope import judge_envelopes
from toolvet.rules.subject import ObservedCall, ToolDefinition

CARD = Card(
    id="envelope-malformed",
    title="A response envelope is malformed",
    severity=Severity.ERROR,
    looks_for=(
        'An answer with `meta.version: "response-v2"` that the contract does not allow: a key that is missing '
        "or not known, a value of the wrong type, an error without a message, a level or a severity that does "
        "not exist."
    ),
    why=(
        "Clients read `success`, `error` and `meta` without looking at the tool. What is not where the "
        "contract has it is lost, or taken for something else."
    ),
    remedy=(
        "Build responses with `success_response` and `error_response`, which refuse what the contract does "
        "not allow, or check them with `toolvet check envelope`."
    ),
)


def check_calls(tool: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """Judge the answers of tools that answer with envelopes; see `toolvet.rules.envelope`."""
    del tool
    yield from judge_envelopes(calls, CARD)
