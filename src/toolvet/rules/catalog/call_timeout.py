"""Rule: a call was not answered in time."""

from collections.abc import Iterator

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.ending import Ending, ending, is_bad
from toolvet.rules.quote import show
from toolvet.rules.subject import ObservedCall

CARD = Card(
    id="call-timeout",
    title="A call was not answered in time",
    severity=Severity.ERROR,
    looks_for="A call that brought neither a result nor an error within the time limit.",
    why=(
        "The client gives up, the model learns nothing, and the agent stands still for as long as the client's "
        "limit is. A retry usually meets the same fate."
    ),
    remedy=(
        "Set a timeout inside the tool, shorter than the client's, on every network call, lock and subprocess, and "
        "answer with isError and a sentence when it strikes. Await what blocks in a thread "
        "(`anyio.to_thread.run_sync`), so that one slow call does not stop the others; send progress notifications "
        "for work that takes long. If the tool is meant to be slow, raise --timeout."
    ),
)


def check_call(call: ObservedCall) -> Iterator[Finding]:
    """A warning for extreme values, which may ask for much work; an error for ordinary ones."""
    if ending(call) is Ending.TIMEOUT:
        asked_for_it = call.category in {"edge_case", "boundary"} or is_bad(call)
        waited = f" within {call.duration_ms / 1000:.3g} s" if call.duration_ms > 0 else ""
        yield CARD.finding(
            message=f"No answer{waited}.",
            severity=Severity.WARNING if asked_for_it else None,
            confidence=80 if asked_for_it else 95,
            evidence=f"arguments: {show(call.arguments, 160)}",
        )
