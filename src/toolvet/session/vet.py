"""A call before it goes out: its arguments against limits, schema, and what failed before."""

from collections.abc import Collection, Mapping
from typing import NamedTuple, cast

from toolvet.checks.arguments import ArgumentReport, check_arguments
from toolvet.checks.arguments.correction import render_repair
from toolvet.schema import Repair
from toolvet.schema.json_value import members
from toolvet.schema.weight import depth
from toolvet.session.breaker import Breaker
from toolvet.session.call import PendingCall
from toolvet.session.catalogue import KnownTool
from toolvet.session.note import Reason
from toolvet.session.refusal import bad_arguments, repeated_failure, too_large
from toolvet.session.splice import closed, member, opened, raw

_RANKS = {"high": 2, "medium": 1, "low": 0}
_SHORT = 16


class CallRefusal(NamedTuple):
    """Why a call must not go out: the tool result that says so, and a line for the record."""

    reason: Reason
    why: str
    result: dict[str, object]


def vetted(call: PendingCall, tool: KnownTool | None, breaker: Breaker) -> CallRefusal | None:
    """None for a call that may go out, perhaps repaired: then `call` holds the new bytes and arguments.

    What a policy on audit has against it is left in the call.
    """
    policy = call.policy
    if policy.arguments != "off":
        found = beyond_limits(call) or (
            None if tool is None or call.is_unread else _against_schema(call, tool, breaker)
        )
        if found is not None:
            return found
    if call.is_unread:
        return None
    failures = breaker.blocks(call.tool, call.arguments, policy.break_after)
    if failures:
        why = f"the same call failed {failures} times"
        return _on_audit(call, CallRefusal("repeated", why, repeated_failure(call, failures)))
    return None


def _against_schema(call: PendingCall, tool: KnownTool, breaker: Breaker) -> CallRefusal | None:
    if tool.schema.is_valid(call.arguments):
        return None
    report = check_arguments(tool.definition, call.arguments)
    if report.valid:
        return None
    call.issues = report.issues
    policy = call.policy
    if policy.repair == "off":
        # The same report, without the correction.
        report = ArgumentReport(tool.definition, tool.schema, call.arguments, report.issues)
    elif policy.repair == "apply" and policy.arguments == "enforce" and _is_sure(report.repair, call, tool):
        _apply(call, report.repair)
        return None
    failures = breaker.failed(call.tool, call.arguments) if policy.break_after else 0
    repeated = failures if failures > policy.break_after else 0
    return _on_audit(call, CallRefusal("arguments", report.summary, bad_arguments(report, repeated)))


def _is_sure(repair: Repair | None, call: PendingCall, tool: KnownTool) -> bool:
    """Whether the repair may be made: sure enough, and of nothing that an HTTP header repeats."""
    if repair is None or _RANKS[repair.confidence] < _RANKS[call.policy.repair_from]:
        return False
    after = members(repair.arguments)
    names = {*call.arguments, *after}
    return not any(call.arguments.get(name) != after.get(name) and tool.is_mirrored(name) for name in names)


def _apply(call: PendingCall, repair: Repair | None) -> None:
    """Put the corrected arguments into the message; everything else stays as it stands."""
    if repair is None:
        return
    message = opened(call.data)
    params = member(message, "params")
    params["arguments"] = raw(repair.arguments)
    message["params"] = raw(params)
    call.data = closed(message)
    call.repaired = render_repair(repair)
    call.arguments = members(repair.arguments)


def beyond_limits(call: PendingCall) -> CallRefusal | None:
    """Larger or deeper than the policy admits."""
    policy = call.policy
    if call.size > policy.max_arguments_bytes:
        what = f"too large: {call.size} bytes, and the limit is {policy.max_arguments_bytes}"
    elif _is_deeper(call, policy.max_depth):
        what = f"nested too deeply: the limit is {policy.max_depth} levels"
    else:
        return None
    return _on_audit(call, CallRefusal("limits", f"arguments {what}", too_large(call, what)))


def _is_deeper(call: PendingCall, limit: int) -> bool:
    """Measured only where there may be something to measure: most arguments are flat, or nearly so."""
    if limit > 1 and _is_shallow(call.arguments):
        return False
    # No value is nested deeper than it has brackets, and counting those is a hundred times faster.
    brackets = call.data.count(b"{") + call.data.count(b"[")
    return brackets > limit and depth(call.arguments, limit + 1) > limit


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


def _on_audit(call: PendingCall, refusal: CallRefusal) -> CallRefusal | None:
    """The refusal, or None where the policy is to record only."""
    if call.policy.arguments != "audit":
        return refusal
    if call.would_block is None:
        call.would_block, call.why = refusal.reason, refusal.why
    return None
