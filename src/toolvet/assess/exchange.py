"""A reply from the wire → the call that rules judge → the scenario that the report shows."""

import msgspec

from toolvet.assess.plan import PlannedCall
from toolvet.checks.result import ResultVerdict, check_result
from toolvet.redact import redact
from toolvet.report.document import Scenario, Verdict
from toolvet.rules import IntendedViolation, ObservedCall, Outcome, ProtocolError, ToolDefinition
from toolvet.rules.ending import Ending, ending, verdict_of
from toolvet.schema import compiled
from toolvet.schema.json_value import is_array, is_object
from toolvet.transport import Answer, ConnectionLost, Malformed, Reply, RpcError, TimedOut

_LONGEST_STRING = 4_000  # Characters of one string in a report; the whole answer was judged.
_MOST_ITEMS = 200


def call_of(
    tool: ToolDefinition, plan: PlannedCall, reply: Reply, protocol_version: str, detail: str = ""
) -> ObservedCall:
    """What came of a plan. Only an answer that is a tool result gets a verdict."""
    facts = msgspec.structs.replace(
        ObservedCall(tool=tool, arguments=plan.arguments, outcome=Outcome.INVALID_MESSAGE),
        category=plan.category,
        breach=plan.breach,
        violations=compiled(tool.input_schema).violations(plan.arguments),
        protocol_version=protocol_version,
        duration_ms=round(reply.duration * 1000, 3),
    )
    replace = msgspec.structs.replace
    match reply:
        case Answer():
            verdict = check_result(tool.raw, plan.arguments, reply.result, plan.category)
            return replace(facts, outcome=Outcome.RESULT, result=reply.result, verdict=verdict)
        case RpcError():
            error = ProtocolError(code=reply.code, message=reply.message, data=reply.data)
            return replace(facts, outcome=Outcome.PROTOCOL_ERROR, error=error)
        case TimedOut():
            return replace(facts, outcome=Outcome.TIMEOUT, detail=detail)
        case ConnectionLost():
            code = "" if reply.exit_code is None else f" with exit code {reply.exit_code}"
            words = f"{reply.reason}{code}\n{reply.stderr_tail}".strip()
            return replace(facts, outcome=Outcome.SERVER_DIED, detail=words)
        case Malformed():
            return replace(facts, detail=reply.reason)


def judged(call: ObservedCall) -> tuple[bool, str]:
    """Whether a scenario passed, and why, in a sentence.

    A call with valid arguments passes when its result is fully working: a success without issues, or an error of the
    business kind (the tool works, and what was asked for is not there). An error case passes only when the server
    really refused the arguments; where the schema does not forbid what was sent, accepting it is as good.
    """
    ended = ending(call)
    if ended in _WITHOUT_ANSWER:
        return False, f"{_WITHOUT_ANSWER[ended]}: {call.detail}".rstrip(": ").splitlines()[0]
    if ended is Ending.UNFINISHED:
        return True, "wants input or a task first, which an assessment cannot give"
    if call.breach is not None:
        return _judged_breach(call, call.breach, ended)
    if ended in {Ending.PROTOCOL_REFUSAL, Ending.PROTOCOL_FAILURE}:
        return False, "a protocol error for a call that its schema allows"
    verdict = verdict_of(call)
    if verdict is None or verdict.classification != "fully_working":
        return False, verdict.issues[0] if verdict and verdict.issues else f"the call ended in a {ended.value}"
    return True, f"answered: {verdict.state or 'an expected error'}" if verdict.is_error else "answered"


_WITHOUT_ANSWER = {
    Ending.TIMEOUT: "no answer in time",
    Ending.DIED: "the server died",
    Ending.MALFORMED: "the answer is no tool result",
}
_REFUSED = frozenset({Ending.REFUSAL, Ending.PROTOCOL_REFUSAL})


def _judged_breach(call: ObservedCall, breach: IntendedViolation, ended: Ending) -> tuple[bool, str]:
    if ended in _REFUSED:
        return True, "refused, as it should be"
    if ended is Ending.UNFLAGGED_ERROR and call.rejected:
        return True, "refused, though without isError"
    if ended is Ending.SUCCESS and not breach.declared:
        return True, "accepted; the schema does not forbid it"
    if ended is Ending.SUCCESS:
        return False, "accepted although invalid"
    if not breach.declared:
        return False, "the call failed, and the schema allows it"
    return False, "the tool failed instead of refusing the arguments"


def scenario_of(plan: PlannedCall, call: ObservedCall, reproduce: str) -> Scenario:
    """The call as the report shows it: secrets masked, long payloads cut."""
    passed, note = judged(call)
    verdict = verdict_of(call)
    shown = call.result if call.error is None else {"error": msgspec.to_builtins(call.error)}
    return Scenario(
        name=plan.name,
        category=plan.category,
        arguments=shortened(redact(plan.arguments)),
        outcome=call.outcome.value,
        passed=passed,
        result=shortened(redact(shown)),
        verdict=_verdict(verdict),
        duration_ms=call.duration_ms,
        breaks=plan.breach.keyword if plan.breach else None,
        note=note,
        origin=plan.origin,
        reproduce=reproduce,
    )


def not_run(plan: PlannedCall, reason: str) -> Scenario:
    """A scenario that was planned and never sent."""
    return Scenario(
        name=plan.name,
        category=plan.category,
        arguments=shortened(redact(plan.arguments)),
        outcome="not_run",
        passed=False,
        breaks=plan.breach.keyword if plan.breach else None,
        note=reason,
        origin=plan.origin,
    )


def _verdict(verdict: ResultVerdict | None) -> Verdict | None:
    if verdict is None:
        return None
    return Verdict(
        classification=verdict.classification,
        confidence=verdict.confidence,
        is_valid=verdict.is_valid,
        is_error=verdict.is_error,
        error_kind=verdict.error_kind,
        state=verdict.state,
        retry=verdict.retry,
        issues=list(verdict.issues),
        evidence=list(verdict.evidence),
    )


def shortened(value: object, depth: int = 0) -> object:
    """A payload small enough for a report; what was cut says how much it was."""
    if isinstance(value, str):
        return (
            value
            if len(value) <= _LONGEST_STRING
            else f"{value[:_LONGEST_STRING]}… ({len(value) - _LONGEST_STRING} more characters)"
        )
    if depth > 40 and (is_object(value) or is_array(value)):
        return "… (nested deeper)"
    if is_object(value):
        return {str(key): shortened(entry, depth + 1) for key, entry in value.items()}
    if is_array(value):
        kept = [shortened(entry, depth + 1) for entry in value[:_MOST_ITEMS]]
        return kept if len(value) <= _MOST_ITEMS else [*kept, f"… ({len(value) - _MOST_ITEMS} more items)"]
    return value
