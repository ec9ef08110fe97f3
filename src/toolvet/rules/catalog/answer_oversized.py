"""Rule: an answer is too large for a model."""

from collections.abc import Iterator
from typing import Final

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.subject import ObservedCall

CARD = Card(
    id="answer-oversized",
    title="An answer is too large for a model",
    severity=Severity.INFO,
    looks_for=(
        "An answer of more than 1 MiB. Of such an answer the other checks read an excerpt, its first 256 KiB at most; "
        "its verdict and its structured content are judged on the whole, unless it has millions of values."
    ),
    why="No model reads so much: hosts cut the answer, fail, or pay for a context that is full of it.",
    remedy="Return a page and a cursor, a summary, or a link to a resource that the client can read in parts.",
)
_MIB: Final = 1 << 20


def check_call(call: ObservedCall) -> Iterator[Finding]:
    """Say how large the answer is, and what was not judged."""
    if call.excerpt is None:
        return
    is_whole = call.excerpt.verdict_on == "whole"
    said = "an excerpt was judged, and for the verdict the whole" if is_whole else "only an excerpt was judged"
    if not is_whole and call.tool.result_schema is not None:
        said += ", and not whether its structured content satisfies the outputSchema"
    yield CARD.finding(
        message=f"The answer has {call.excerpt.size / _MIB:,.1f} MiB: {said}.",
        evidence=f"{call.excerpt.size:,} bytes",
        cause="larger than a model can read",
    )
