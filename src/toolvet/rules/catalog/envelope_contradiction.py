"""Rule: a response envelope contradicts itself or the result around it."""

from collections.abc import Iterator, Sequence

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.envelope import envelopes, judge_envelopes
from toolvet.rules.subject import ObservedCall, ToolDefinition
from toolvet.schema.json_value import members

CARD = Card(
    id="envelope-contradiction",
    title="A response envelope contradicts itself",
    severity=Severity.ERROR,
    looks_for=(
        "An envelope with two members that exclude each other: an error on success, an `error_code` of "
        "another `error_type`, dropped items at full fidelity, two retry delays, or `success: true` in a "
        "result that says isError."
    ),
    why=(
        "Programs look at one of the two, people at the other: one retries what will never work, or reports a "
        "success that was none."
    ),
    remedy="Let the library derive the type from the code, and set `success` by what happened.",
)


def check_calls(tool: ToolDefinition, calls: Sequence[ObservedCall]) -> Iterator[Finding]:
    """Judge the answers of tools that answer with envelopes; see `toolvet.rules.envelope`."""
    del tool
    yield from judge_envelopes(calls, CARD)
    for call, (place, envelope) in envelopes(calls):
        # `error-without-flag` reports the reverse: a failure without the flag.
        if members(call.result).get("isError") is True and envelope.get("success") is True:
            yield CARD.finding(
                message=f"The result says isError, and the envelope in {place[1:]} says success.",
                evidence="success: true",
                pointer="/success",
            )
