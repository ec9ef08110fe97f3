"""Rule: the tool failed to answer a valid call."""

from collections.abc import Iterator
from typing import Final

from toolvet.checks.result import ResultVerdict, State, is_foreign
from toolvet.findings import Card, Finding, Severity
from toolvet.rules.ending import OUTAGES, Ending, ending, is_bad, verdict_of, words_of
from toolvet.rules.quote import quote, show, show_answer
from toolvet.rules.subject import ObservedCall
from toolvet.schema.json_value import members

CARD = Card(
    id="valid-call-failed",
    title="A valid call failed",
    severity=Severity.ERROR,
    looks_for=(
        "Arguments that satisfy the tool's own schema, answered with a failure of the tool: a crash, an internal "
        "error, an error without words. What depends on the surroundings (an unreachable backend, missing "
        "credentials, a timeout behind the tool) is a warning."
    ),
    why="The model did everything right and can do nothing better. It will retry, give up, or make something up.",
    remedy=(
        "Reproduce the call with the command below and handle the case: return a result, or an error that says what "
        "the caller can do. If the tool cannot take these arguments, its schema should not allow them."
    ),
)

_ENVIRONMENT_REMEDY: Final = (
    "Start what the tool depends on and give it its configuration and credentials (--env, --header), then assess "
    "again. For the server: check at start that they are there, and let the error say which service did not answer and "
    "whether a retry helps."
)
_FAILURES: Final = frozenset({Ending.FAILURE, Ending.WORDLESS, Ending.PROTOCOL_FAILURE})
_CRASHES: Final = frozenset({State.CRASH, State.INTERNAL})
_SHORTEST: Final = 2  # Characters; a text this short is in an error by chance.


def check_call(call: ObservedCall) -> Iterator[Finding]:
    """Report a failure on valid arguments; a warning where its words are unclear and may be meant as a refusal."""
    ended = ending(call)
    if ended not in _FAILURES or is_bad(call) or (call.breach is not None and ended is Ending.WORDLESS):
        return
    verdict = verdict_of(call)
    # An argument that the schema does not know: `bad-arguments-crash` reports the crash.
    if call.breach is not None and verdict is not None and verdict.state in _CRASHES:
        return
    if verdict is not None and verdict.state is State.UNKNOWN and _may_refuse(words_of(call), call):
        return
    words = quote(words_of(call), 140)
    problem = f"an error without words, for {show(call.arguments, 80)}" if ended is Ending.WORDLESS else f'"{words}"'
    form = f"protocol error {call.error.code}: " if call.error is not None else ""
    severity, confidence, remedy = _grade(ended, verdict)
    yield CARD.finding(
        message=f"A call that the schema allows failed: {form}{problem}",
        severity=severity,
        confidence=confidence,
        remedy=remedy,
        evidence=quote(words_of(call), 300) or show_answer(call.result),
    )


def _may_refuse(words: str, call: ObservedCall) -> bool:
    """Whether unclear words may refuse the call: in another language, or about what was sent ("Ref 'a1b2' is gone")."""
    if is_foreign(words):
        return True
    values = (value for value in members(call.arguments).values() if isinstance(value, str))
    return any(len(value.strip()) > _SHORTEST and value in words for value in values)


def _grade(ended: Ending, verdict: ResultVerdict | None) -> tuple[Severity | None, int, str | None]:
    """Severity, confidence and remedy of a failure; None where the card's holds."""
    if verdict is not None and verdict.state in OUTAGES:
        return Severity.WARNING, 80, _ENVIRONMENT_REMEDY
    if ended is Ending.FAILURE and verdict is not None and verdict.state is State.UNKNOWN:
        return Severity.WARNING, 60, None
    return None, 90, None
