"""Rule: structured content breaks the outputSchema of the tool."""

from collections.abc import Iterator
from typing import Final

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.ending import Ending, ending
from toolvet.rules.quote import quote, show
from toolvet.rules.subject import ObservedCall
from toolvet.schema import compiled
from toolvet.schema.json_value import members

CARD = Card(
    id="output-schema-broken",
    title="The structured content breaks the outputSchema",
    severity=Severity.ERROR,
    looks_for="A successful result whose `structuredContent` does not satisfy the tool's outputSchema.",
    why=(
        "The official clients validate structured content and raise an exception where it does not fit: the model "
        "gets nothing, although the tool did its work."
    ),
    remedy=(
        "Build the result from the type that the schema is made of (a pydantic model, a TypedDict, a Zod schema), "
        "or correct the schema: mark as optional what may be absent and as nullable what may be null. Errors need "
        "no structured content: raise them."
    ),
)
_MOST: Final = 3  # Findings of one result.


def check_call(call: ObservedCall) -> Iterator[Finding]:
    """Report each place once, and at most three of them."""
    result = members(call.result)
    if ending(call) is not Ending.SUCCESS or call.tool.result_schema is None or "structuredContent" not in result:
        return
    content = result["structuredContent"]
    if content is None:
        # SDKs write null for "none": `structured-content-missing` reports it unless the schema allows null.
        return
    if call.excerpt is not None:
        yield from _check_whole(call)
        return
    for violation in compiled(call.tool.result_schema).violations(content)[:_MOST]:
        place, words = quote(violation.pointer or "the root", 80), quote(violation.message, 120)
        yield CARD.finding(
            message=f"The structured content breaks the outputSchema at {place}: {words}",
            pointer=f"/structuredContent{violation.pointer}",
            evidence=f"{quote(violation.message, 160)}; structuredContent: {show(content, 160)}",
        )


def _check_whole(call: ObservedCall) -> Iterator[Finding]:
    """What the verdict says of the whole: an excerpt may lack what the schema demands."""
    seen = call.verdict.metadata.output_schema_validation if call.verdict is not None else None
    if seen is not None and not seen.is_valid:
        yield CARD.finding(
            message=f"The structured content breaks the outputSchema: {quote(seen.error or '', 160)}",
            pointer="/structuredContent",
            evidence=quote(seen.error or "", 300),
        )
