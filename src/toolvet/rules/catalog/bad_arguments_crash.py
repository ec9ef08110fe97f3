"""Rule: wrong arguments crash the tool."""

from collections.abc import Iterator
from typing import Final

from toolvet.causes import State
from toolvet.checks.result import LeakKind
from toolvet.findings import Card, Finding, Severity
from toolvet.rules.cause import cause_of
from toolvet.rules.ending import OUTAGES, Ending, ending, is_bad, verdict_of, words_of
from toolvet.rules.fault import fault_of
from toolvet.rules.quote import quote, show
from toolvet.rules.subject import ObservedCall

CARD = Card(
    id="bad-arguments-crash",
    title="Wrong arguments crash the tool",
    severity=Severity.WARNING,
    looks_for=(
        "Arguments that break the schema (or one that it does not know), answered with the words of a crash or an "
        "internal error instead of a refusal."
    ),
    why=(
        "The error speaks of the server's code (`'NoneType' object has no attribute ...`), not of the argument. A "
        "model cannot correct its call from that, and what a wrong type can crash, a hostile caller will find."
    ),
    remedy=(
        "Check the arguments before using them. FastMCP validates against the signature when parameters are "
        "annotated, the TypeScript SDK against `inputSchema` when it is a Zod object; low-level servers validate by "
        "hand (`jsonschema.validate`)."
    ),
)

_CRASHES: Final = frozenset({State.CRASH, State.INTERNAL})
_ENDINGS: Final = frozenset({Ending.FAILURE, Ending.PROTOCOL_FAILURE})


def check_call(call: ObservedCall) -> Iterator[Finding]:
    """Report a crash where a refusal belongs. Unclear words prove no crash, and an outage is not the caller's fault."""
    verdict = verdict_of(call)
    if ending(call) not in _ENDINGS or not (is_bad(call) or call.breach is not None) or verdict is None:
        return
    leaked = any(leak.kind in {LeakKind.STACK_TRACE, LeakKind.CRASH_TEXT} for leak in verdict.leaks)
    if verdict.state not in _CRASHES and (not leaked or verdict.state in OUTAGES):
        return
    fault = fault_of(call)
    what = f"A wrong '{quote(fault.field, 60)}'" if fault.field else "Wrong arguments"
    form = f"protocol error {call.error.code}: " if call.error is not None else ""
    words = quote(words_of(call), 120)
    yield CARD.finding(
        message=f'{what} ({fault.keyword}) ended in a crash instead of a refusal: {form}"{words}"',
        evidence=f"{quote(words_of(call), 240)}; arguments: {show(call.arguments, 120)}",
        confidence=90 if leaked or verdict.state is State.CRASH else 75,
        cause=cause_of(call),
    )
