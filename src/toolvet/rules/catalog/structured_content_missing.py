"""Rule: the tool declares an outputSchema and sends no structured content."""

from collections.abc import Iterator

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.ending import Ending, ending
from toolvet.rules.quote import show_answer
from toolvet.rules.subject import ObservedCall
from toolvet.schema import compiled
from toolvet.schema.json_value import members

CARD = Card(
    id="structured-content-missing",
    title="The tool declares an outputSchema and sends no structured content",
    severity=Severity.ERROR,
    looks_for="A successful result without `structuredContent`, from a tool that has an outputSchema.",
    why=(
        "With an outputSchema, structured content is a must (protocol 2025-06-18 and later). The official clients "
        "raise an exception when it is missing, so the text that is there reaches nobody."
    ),
    remedy=(
        "Send `structuredContent` beside the text, or drop the outputSchema. In Python return the value and let the "
        "SDK make both from it; results built by hand need both. A JSON text alone does not count."
    ),
)


def check_call(call: ObservedCall) -> Iterator[Finding]:
    """Report structured content that is absent, or null where the schema does not allow null."""
    result = members(call.result)
    if (
        ending(call) is not Ending.SUCCESS
        or call.tool.result_schema is None
        or result.get("structuredContent") is not None
    ):
        return
    schema = compiled(call.tool.result_schema)
    if "structuredContent" in result and schema.problem is None and schema.is_valid(None):
        return
    yield CARD.finding(
        message="The result has no structuredContent, although the tool declares an outputSchema.",
        evidence=show_answer(call.result, 200),
    )
