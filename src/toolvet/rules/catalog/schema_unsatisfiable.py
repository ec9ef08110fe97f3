"""Rule: no value satisfies the inputSchema, or a part of it."""

from collections.abc import Iterator

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.catalog.required_unknown import check_tool as required_but_unknown
from toolvet.rules.quote import list_names, quote
from toolvet.rules.subject import ToolDefinition
from toolvet.schema import unsatisfiable_parts

CARD = Card(
    id="schema-unsatisfiable",
    title="No arguments can satisfy the inputSchema",
    severity=Severity.ERROR,
    looks_for=(
        "An inputSchema, or a part of it, that contradicts itself: a minimum above the maximum, a const that the "
        "type forbids, an allOf whose branches exclude each other."
    ),
    why=(
        "Where the whole schema is affected, every call is invalid and the tool cannot be called by a client that "
        "checks. Where a part is, that parameter or that branch can never be used."
    ),
    remedy=(
        "Correct the contradicting keywords at the place named. `additionalProperties: false` inside the branches "
        "of an allOf is a common cause: each branch forbids what the others require; `unevaluatedProperties: false` "
        "beside the allOf says what is meant."
    ),
)


def check_tool(tool: ToolDefinition) -> Iterator[Finding]:
    """An error for the whole schema, a warning for parts; `required-unknown` reports a forbidden required name."""
    if tool.schema is None:
        return
    parts = unsatisfiable_parts(tool.schema)
    # A part inside of one that cannot be satisfied follows from that one.
    roots = [part for part in parts if not any(part.startswith(f"{other}/") for other in parts if other != part)]
    if "" in roots:
        if not any(required_but_unknown(tool)):
            yield CARD.finding(
                message="No arguments can satisfy the inputSchema: it contradicts itself.", pointer="/inputSchema"
            )
    elif roots:
        yield CARD.finding(
            message=f"No value can satisfy these parts of the inputSchema: {list_names(roots)}.",
            pointer=f"/inputSchema{roots[0]}",
            severity=Severity.WARNING,
            evidence=quote(", ".join(roots)),
        )
