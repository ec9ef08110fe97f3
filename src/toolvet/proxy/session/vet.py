"""Check a call before it is sent, and answer it if it is refused.

The check: arguments against limits and schema, and whether the call failed before. The answers are tool results with
`isError`, so that a model reads what to do (SEP-1303).
"""

import difflib
from collections.abc import Collection, Mapping
from itertools import islice
from typing import Final, NamedTuple, cast

from toolvet.core.causes import State
from toolvet.core.checks import EXTENSION_ID, ArgumentCheck, ArgumentReport, ResultCheck, ValidationReply, shown_repair
from toolvet.core.json_value import elements, members
from toolvet.core.schema import depth
from toolvet.mcp.wire import encode_error, encode_members, encode_raw, encode_result, split_member, split_members
from toolvet.proxy.session.catalogue import Catalogue, KnownTool
from toolvet.proxy.session.judge import JudgedReply, end_own, in_shape_of_others, judge_own_answer, own_notes
from toolvet.proxy.session.pending import PendingCall
from toolvet.proxy.session.repeats import Breaker
from toolvet.proxy.session.step import RefusalReason

_RANKS: Final = {"high": 2, "medium": 1, "low": 0}
# Containers with more items than that are measured, not skimmed.
_SHORT: Final = 16
_CHECK: Final = ArgumentCheck()
_INVALID_PARAMS: Final = -32602
_MOST_NAMED: Final = 20


class CallRefusal(NamedTuple):
    """Why a call must not be sent: a line for the record (`why`), and the tool result for the client.

    `state` is the cause if it is known beyond the reason; `report` lists the faults of the arguments.
    """

    reason: RefusalReason
    why: str
    result: dict[str, object]
    state: State | None = None
    report: ArgumentReport | None = None


def vet_call(
    call: PendingCall, tool: KnownTool | None, catalogue: Catalogue, check: ArgumentCheck | None = None
) -> CallRefusal | None:
    """Return why the call is refused; None if it may be sent, perhaps repaired: then `call` holds the new bytes.

    `tool` is None if the tool is not known. `check` judges the arguments of all tools; None is
    `check_arguments`. The findings of a policy on audit are noted in the call.
    """
    policy = call.policy
    if policy.arguments != "off":
        refused = check_limits(call) or (
            None if tool is None or call.is_unread else _check_schema(call, tool, catalogue.breaker, check or _CHECK)
        )
        if refused is not None:
            return refused
    if call.is_unread:
        return None
    return _check_circle(call, tool, catalogue)


def _check_circle(call: PendingCall, tool: KnownTool | None, catalogue: Catalogue) -> CallRefusal | None:
    """Return the refusal of a call that failed again and again, or is part of a circle of calls that bring nothing."""
    policy, breaker = call.policy, catalogue.breaker
    call.is_unlisted = tool is None and catalogue.is_complete
    failures = breaker.check(call.tool, call.arguments, policy.break_after)
    if failures:
        why = f"the same call failed {failures} times"
        state = breaker.cause(call.tool, call.arguments)
        return unless_audit(call, CallRefusal("repeated", why, repeated_failure(call, failures, state), state))
    if call.is_unlisted and (failures := breaker.check_name(call.tool, policy.break_after)):
        why = f"the server has no such tool, and {failures} calls of it failed"
        refusal = CallRefusal("repeated", why, no_such_tool(call, failures, catalogue.tools), State.NOT_FOUND)
        return unless_audit(call, refusal)
    calls = catalogue.repeats.check(call.tool, call.arguments, policy.break_repeats)
    if calls:
        return unless_audit(
            call, CallRefusal("unchanged", f"{calls} calls brought nothing new", nothing_new(call, calls))
        )
    return None


def _check_schema(call: PendingCall, tool: KnownTool, breaker: Breaker, check: ArgumentCheck) -> CallRefusal | None:
    if tool.schema.is_valid(call.arguments):
        return None
    report = check(tool.handle, call.arguments, unchecked="pass")
    if report.valid:
        return None
    call.issues = report.issues
    policy = call.policy
    if policy.repair == "off":
        report = report.without_repair()
    elif (
        policy.repair == "apply"
        and policy.arguments == "enforce"
        and (repair := report.repair) is not None
        and _RANKS[repair.confidence] >= _RANKS[policy.repair_from]
    ):
        after = members(repair.arguments)
        names = {*call.arguments, *after}
        # Arguments that an HTTP header repeats must not change.
        if not any(call.arguments.get(name) != after.get(name) and tool.is_mirrored(name) for name in names):
            # Everything but the arguments stays byte for byte.
            message = split_members(call.data)
            params = split_member(message, "params")
            params["arguments"] = encode_raw(repair.arguments)
            message["params"] = encode_raw(params)
            call.data = encode_members(message)
            call.repaired = shown_repair(repair).to_dict()
            call.arguments = after
            return None
    failures = breaker.count_failure(call.tool, call.arguments, State.INVALID_INPUT) if policy.break_after else 0
    repeated = failures if failures > policy.break_after else 0
    result = bad_arguments(report, repeated)
    return unless_audit(call, CallRefusal("arguments", report.summary, result, report=report))


def check_limits(call: PendingCall) -> CallRefusal | None:
    """Return the refusal of a call that is larger or deeper than its policy allows."""
    policy = call.policy
    limit = policy.max_depth
    if call.size > policy.max_arguments_bytes:
        excess = f"too large: {call.size} bytes, and the limit is {policy.max_arguments_bytes}"
    elif (
        # Most arguments are nearly flat, which a short look shows.
        (limit <= 1 or not _is_shallow(call.arguments))
        # A value is at most as deep as it has brackets, and counting those is a hundred times faster.
        and call.data.count(b"{") + call.data.count(b"[") > limit
        and depth(call.arguments, limit + 1) > limit
    ):
        excess = f"nested too deeply: the limit is {limit} levels"
    else:
        return None
    return unless_audit(call, CallRefusal("limits", f"arguments {excess}", too_large(call, excess)))


def _is_shallow(arguments: Mapping[str, object]) -> bool:
    """Whether a short look shows that nothing is nested deeper than two levels."""
    for value in arguments.values():
        if type(value) is dict:
            inner = cast("Collection[object]", value.values())
        elif type(value) is list:
            inner = cast("Collection[object]", value)
        else:
            continue
        if len(inner) > _SHORT:
            return False
        for item in inner:
            if type(item) is dict or type(item) is list:
                return False
    return True


def unless_audit(call: PendingCall, refusal: CallRefusal) -> CallRefusal | None:
    """Return the refusal; None if the policy is on audit, which only notes it in the call."""
    if call.policy.arguments != "audit":
        return refusal
    if call.would_block is None:
        call.would_block, call.why = refusal.reason, refusal.why
    return None


def answer_refusal(call: PendingCall, refused: CallRefusal, catalogue: Catalogue, check: ResultCheck) -> JudgedReply:
    """Return the answer to a call that is not sent, and its note."""
    verdict = judge_own_answer(
        refused.reason, refused.why, tool=call.tool, result=refused.result, check=check, state=refused.state
    )
    result = in_shape_of_others(
        call, refused.result, catalogue, text=_text_of(refused.result), state=verdict.state, report=refused.report
    )
    data = encode_own_result(call, result, catalogue.stamp, own_notes(call, verdict))
    note = end_own(call, "refused", verdict, blocked=refused.reason, why=refused.why, size=len(data))
    return JudgedReply(data, note)


def encode_own_result(
    call: PendingCall, result: Mapping[str, object], stamp: Mapping[str, object], notes: Mapping[str, object]
) -> bytes:
    """Encode `result`, a tool result of the legacy era, as the answer to this call, with `notes` in its `_meta`.

    In the modern era `resultType` and the server's identity (`stamp`) are added. A client that asked for a task expects
    a task and could not read a tool result: its answer is a JSON-RPC error with the same text.
    """
    meta = {**members(result.get("_meta")), **notes}
    if call.is_task:
        return encode_error(call.id, _INVALID_PARAMS, _text_of(result), meta)
    if call.era == "legacy":
        return encode_result(call.id, {**result, "_meta": meta})
    return encode_result(call.id, {"resultType": "complete", **result, "_meta": {**meta, **stamp}})


def error_result(text: str, meta: Mapping[str, object] | None = None) -> dict[str, object]:
    """Return a tool result that is an error with this text."""
    result: dict[str, object] = {"content": [{"type": "text", "text": text}], "isError": True}
    return {**result, "_meta": meta} if meta else result


def bad_arguments(report: ArgumentReport, repeated: int) -> dict[str, object]:
    """Return a result with what is wrong with the arguments. `repeated` is how often the call was refused before."""
    result = report.to_result("legacy")
    if not repeated:
        return result
    lead = {
        "type": "text",
        "text": f"This same call was refused {repeated} times. Change the arguments as told below.",
    }
    return {**result, "content": [lead, *elements(result.get("content"))]}


def repeated_failure(call: PendingCall, failures: int, state: State | None) -> dict[str, object]:
    """Return a result for a call that was not sent because it failed `failures` times in a row, because of `state`."""
    cause = "" if state in (None, State.UNKNOWN) else f" ({state})"
    return error_result(
        f"This same call failed {failures} times in a row{cause}. "
        "It was not sent again: the same call will fail the same way. "
        f"Change the arguments of '{call.tool}', use another tool, or tell the user what does not work."
    )


def nothing_new(call: PendingCall, calls: int) -> dict[str, object]:
    """Return a result for a call that was not sent because the last `calls` brought nothing new."""
    return error_result(
        f"The last {calls} calls, this one among them, had the results that they had before, and nothing was changed "
        f"meanwhile. '{call.tool}' was not called again: it would say the same. Go on with the results that you have, "
        "change the arguments, use another tool, or tell the user what is missing."
    )


def no_such_tool(call: PendingCall, failures: int, known: Collection[str]) -> dict[str, object]:
    """Return a result for a call of a tool that the server does not have, and that failed `failures` times."""
    near = difflib.get_close_matches(call.tool, list(known), n=1)
    meant = f" Did you mean '{near[0]}'?" if near else ""
    names = ", ".join(f"'{name}'" for name in islice(known, _MOST_NAMED))
    more = f", and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
    has = f" The server's tools are: {names}{more}." if known else " The server has no tools."
    return error_result(
        f"There is no tool '{call.tool}': {failures} calls of it failed, and other arguments will not help. "
        f"It was not called again.{meant}{has}"
    )


def too_large(call: PendingCall, excess: str) -> dict[str, object]:
    """Return a result for arguments beyond a limit; `excess` says which, as in "too large: …"."""
    return error_result(f"The arguments of '{call.tool}' are {excess}. Send less, or send it in several calls.")


def refused_by_server(call: PendingCall, reply: ValidationReply) -> dict[str, object]:
    """Return a result for a call that the server's own validator refuses."""
    lines = [f"❌ Tool '{call.tool}' cannot be called with these arguments: its server refuses them.", ""]
    reasons = reply.errors or ("The server does not say why.",)
    lines += [f"{number}. {reason}" for number, reason in enumerate(reasons, 1)]
    further = (*reply.warnings, *reply.suggestions)
    if further:
        lines += ["", "## Suggestions:", "", *(f"- {each}" for each in further)]
    return error_result("\n".join(lines), {EXTENSION_ID: reply.to_dict()})


def _text_of(result: Mapping[str, object]) -> str:
    """Return the text blocks of a result as one text."""
    return "\n\n".join(str(members(block).get("text", "")) for block in elements(result.get("content")))
