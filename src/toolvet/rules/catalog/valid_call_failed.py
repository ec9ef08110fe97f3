"""Rule: the tool failed to answer a valid call."""

from collections.abc import Iterator
from typing import Final

from toolvet.causes import State
from toolvet.findings import Card, Finding, Severity
from toolvet.rules.cause import cause_of
from toolvet.rules.ending import Ending, ending, is_bad, verdict_of, words_of
from toolvet.rules.exercise import fails_by_itself
from toolvet.rules.quote import quote, show, show_answer
from toolvet.rules.subject import ObservedCall

CARD = Card(
    id="valid-call-failed",
    title="A valid call failed",
    severity=Severity.ERROR,
    looks_for=(
        "Arguments that satisfy the tool's own schema, answered with a failure of the tool: a crash, an internal "
        "error, an error without words. What the surroundings lack (a backend, a program, credentials) is "
        "`environment-outage`, and an unknown argument that crashes the tool is `bad-arguments-crash`."
    ),
    why="The model did everything right and can do nothing better. It will retry, give up, or make something up.",
    remedy=(
        "Reproduce the call with the command below and handle the case: return a result, or an error that says what "
        "the caller can do. If the tool cannot take these arguments, its schema should not allow them."
    ),
)

_FAILURES: Final = frozenset({Ending.FAILURE, Ending.WORDLESS, Ending.PROTOCOL_FAILURE})


def check_call(call: ObservedCall) -> Iterator[Finding]:
    """Report a failure on valid arguments; a warning where its words are unclear and may be meant as a refusal."""
    ended = ending(call)
    if ended not in _FAILURES or is_bad(call) or call.breach is not None or not fails_by_itself(call):
        return
    verdict = verdict_of(call)
    words = quote(words_of(call), 140)
    problem = f"an error without words, for {show(call.arguments, 80)}" if ended is Ending.WORDLESS else f'"{words}"'
    form = f"protocol error {call.error.code}: " if call.error is not None else ""
    unclear = ended is Ending.FAILURE and verdict is not None and verdict.state is State.UNKNOWN
    yield CARD.finding(
        message=f"A call that the schema allows failed: {form}{problem}",
        severity=Severity.WARNING if unclear else None,
        confidence=60 if unclear else 75,
        evidence=quote(words_of(call), 300) or show_answer(call.result),
        cause=cause_of(call) or "an error without words",
    )
