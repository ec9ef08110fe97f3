"""Checks a call before it is sent: its arguments against limits and schema, and whether it failed before."""

from collections.abc import Collection, Mapping
from typing import Final, cast

from toolvet.core.causes import State
from toolvet.core.checks import ArgumentCheck, render_repair
from toolvet.core.json_value import members
from toolvet.core.schema import Repair, depth
from toolvet.mcp.wire import encode_members, encode_raw, split_member, split_members
from toolvet.proxy.session.breaker import Breaker
from toolvet.proxy.session.catalogue import Catalogue, KnownTool
from toolvet.proxy.session.pending import PendingCall
from toolvet.proxy.session.refusal import (
    CallRefusal,
    bad_arguments,
    no_such_tool,
    nothing_new,
    repeated_failure,
    too_large,
)

_RANKS: Final = {"high": 2, "medium": 1, "low": 0}
# Containers with more items than that are measured, not skimmed.
_SHORT: Final = 16


_CHECK: Final = ArgumentCheck()


def vet_call(
    call: PendingCall, tool: KnownTool | None, catalogue: Catalogue, check: ArgumentCheck | None = None
) -> CallRefusal | None:
    """Return why the call is refused; None if it may be sent, perhaps repaired: then `call` holds the new bytes.

    `tool` is None where the tool is not known. `check` judges the arguments of all tools; None is
    `check_arguments`. What a policy on audit finds is noted in the call.
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
    elif policy.repair == "apply" and policy.arguments == "enforce" and _is_sure(report.repair, call, tool):
        _apply(call, report.repair)
        return None
    failures = breaker.count_failure(call.tool, call.arguments, State.INVALID_INPUT) if policy.break_after else 0
    repeated = failures if failures > policy.break_after else 0
    result = bad_arguments(report, repeated)
    return unless_audit(call, CallRefusal("arguments", report.summary, result, report=report))


def _is_sure(repair: Repair | None, call: PendingCall, tool: KnownTool) -> bool:
    """Whether the repair may be applied: it is sure enough, and changes nothing that an HTTP header repeats."""
    if repair is None or _RANKS[repair.confidence] < _RANKS[call.policy.repair_from]:
        return False
    after = members(repair.arguments)
    names = {*call.arguments, *after}
    return not any(call.arguments.get(name) != after.get(name) and tool.is_mirrored(name) for name in names)


def _apply(call: PendingCall, repair: Repair | None) -> None:
    """Put the corrected arguments into the message; everything else stays byte for byte."""
    if repair is None:
        return
    message = split_members(call.data)
    params = split_member(message, "params")
    params["arguments"] = encode_raw(repair.arguments)
    message["params"] = encode_raw(params)
    call.data = encode_members(message)
    call.repaired = render_repair(repair)
    call.arguments = members(repair.arguments)


def check_limits(call: PendingCall) -> CallRefusal | None:
    """Return the refusal of a call that is larger or deeper than its policy allows."""
    policy = call.policy
    if call.size > policy.max_arguments_bytes:
        excess = f"too large: {call.size} bytes, and the limit is {policy.max_arguments_bytes}"
    elif _is_deeper(call, policy.max_depth):
        excess = f"nested too deeply: the limit is {policy.max_depth} levels"
    else:
        return None
    return unless_audit(call, CallRefusal("limits", f"arguments {excess}", too_large(call, excess)))


def _is_deeper(call: PendingCall, limit: int) -> bool:
    """Whether the arguments are nested deeper than `limit`. Most are nearly flat, which a short look shows."""
    if limit > 1 and _is_shallow(call.arguments):
        return False
    # A value is at most as deep as it has brackets, and counting those is a hundred times faster.
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


def unless_audit(call: PendingCall, refusal: CallRefusal) -> CallRefusal | None:
    """Return the refusal; None where the policy is on audit, which only notes it in the call."""
    if call.policy.arguments != "audit":
        return refusal
    if call.would_block is None:
        call.would_block, call.why = refusal.reason, refusal.why
    return None
