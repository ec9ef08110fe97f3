"""Rule: the server's validator says one thing, and the tool does the other."""

from collections.abc import Iterator
from typing import Final

from toolvet.causes import State
from toolvet.checks.capability import ValidationReply
from toolvet.findings import Card, Finding, Severity
from toolvet.rules.ending import Ending, ending, is_bad, speaks_of_absence, verdict_of, words_of
from toolvet.rules.quote import quote, show
from toolvet.rules.subject import ObservedCall, Preview

CARD = Card(
    id="validation-disagrees",
    title="What validate says and what the tool does are not the same",
    severity=Severity.WARNING,
    looks_for=(
        "A call that the announced validator calls valid and the tool then refuses for its arguments, or one that it "
        "calls invalid and the tool answers with a success. Each call is validated just before it is made. Not found, "
        "not allowed and the like are no disagreement; nor is a tool that takes what its own schema forbids, or one "
        "with rules beyond the schema on a server that announces the level `syntax` only."
    ),
    why=(
        "Clients ask so that they can schedule a call, or keep a model from making it. A wrong yes fails later, when "
        "nobody is there; a wrong no forbids what would have worked."
    ),
    remedy=(
        "Let validator and tool read one schema and run the same checks: call the validator at the start of the tool, "
        "too. A check that cannot be made beforehand is a warning of the validator, not an error."
    ),
)

_REFUSED: Final = frozenset({Ending.REFUSAL, Ending.PROTOCOL_REFUSAL, Ending.UNFLAGGED_ERROR})


def check_call(call: ObservedCall) -> Iterator[Finding]:
    """Compare the two; the confidence depends on what the schema says of the arguments."""
    if call.preview is None:
        return
    answer = call.preview.reply
    if answer.valid and _refused_for_its_arguments(call, call.preview):
        yield CARD.finding(
            message=f'The validator calls the arguments valid, and the tool refuses them: "{_quote_answer(call, 120)}"',
            pointer="/valid",
            evidence=f"{_quote_answer(call, 240)}; arguments: {show(call.arguments, 160)}",
            confidence=95 if is_bad(call) else 70,
        )
    if not answer.valid and call.accepted and not is_bad(call) and call.breach is None:
        yield CARD.finding(
            message=f'The validator calls the arguments invalid, and the tool takes them: "{_quote_reason(answer)}"',
            pointer="/invalid",
            evidence=f"{_quote_reason(answer)}; arguments: {show(call.arguments, 160)}",
            confidence=85,
        )


def _refused_for_its_arguments(call: ObservedCall, preview: Preview) -> bool:
    """Whether the tool refused the arguments; for those that the schema allows, its words must leave no doubt."""
    if ending(call) not in _REFUSED or not call.rejected:
        return False
    if is_bad(call):
        return True
    verdict = verdict_of(call)
    return (
        preview.levels != ("syntax",)
        and call.breach is None
        and verdict is not None
        and verdict.state is State.INVALID_INPUT
        and not speaks_of_absence(words_of(call))
    )


def _quote_answer(call: ObservedCall, limit: int) -> str:
    return quote(words_of(call), limit) or "no reason given"


def _quote_reason(answer: ValidationReply) -> str:
    return quote("; ".join(answer.errors), 160) or "no reason given"
