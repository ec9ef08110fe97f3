"""Rule: a tool ignores arguments that its schema does not declare."""

from collections.abc import Iterator
from typing import Final

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.ending import Ending, ending, is_bad
from toolvet.rules.quote import list_names, show
from toolvet.rules.subject import ObservedCall
from toolvet.schema.json_value import members

CARD = Card(
    id="unknown-argument-ignored",
    title="Unknown arguments are silently ignored",
    severity=Severity.INFO,
    looks_for=(
        "A call with an argument that the schema does not declare (and does not forbid), answered with a success."
    ),
    why=(
        "A model that misspells an optional argument (`max_result` for `max_results`) gets a success that ignored "
        "its wish, and no hint. Most servers are like this."
    ),
    remedy=(
        "Forbid unknown arguments in the schema and refuse them: `additionalProperties: false`; in pydantic "
        '`ConfigDict(extra="forbid")`, in Zod `z.strictObject`.'
    ),
)

# Any of these may declare arguments that are not in `properties`.
_OPEN: Final = frozenset(
    {
        "$ref",
        "allOf",
        "anyOf",
        "oneOf",
        "if",
        "patternProperties",
        "additionalProperties",
        "unevaluatedProperties",
        "dependentSchemas",
    }
)


def check_call(call: ObservedCall) -> Iterator[Finding]:
    """Report a success in spite of an argument that the schema does not mention."""
    if ending(call) is Ending.SUCCESS and not is_bad(call):
        unknown = list(_find_unknown(call))
        if unknown:
            yield CARD.finding(
                message=f"The tool ignored the unknown argument {list_names(unknown)}.",
                evidence=f"arguments: {show(call.arguments, 160)}",
            )


def _find_unknown(call: ObservedCall) -> Iterator[str]:
    if call.breach is not None:
        if call.breach.keyword == "additionalProperties" and call.breach.property is not None:
            yield call.breach.property
        return
    # A schema without properties describes an object that is free on purpose.
    if call.tool.schema is not None and call.tool.properties and _OPEN.isdisjoint(call.tool.schema):
        yield from (name for name in members(call.arguments) if name not in call.tool.properties)
