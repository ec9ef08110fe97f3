"""Vets the tools that a server lists: a definition may differ from the lock, or steer the model."""

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Final

import msgspec

from toolvet.core.json_value import members, same
from toolvet.core.poison import steering_in
from toolvet.mcp.wire import encode_members, encode_raw, split_member, split_members
from toolvet.proxy.session.catalogue import Catalogue, KnownTool
from toolvet.proxy.session.pending import PendingCall
from toolvet.proxy.session.policy import Policies, Policy
from toolvet.proxy.session.step import PolicyFault
from toolvet.proxy.session.vet import CallRefusal, error_result

if TYPE_CHECKING:
    from toolvet.core.contract import Lock

_MOST_NAMED: Final = 8


def vet_definitions(catalogue: Catalogue, policies: Policies, *, is_whole: bool = True) -> Iterator[PolicyFault]:
    """Note in each tool how it differs from the lock and how it steers; yield a fault for what was not reported yet.

    `is_whole` is whether the list has been read to its end: before, a tool of another server may be one of its own.
    """
    others = policies.others.difference(catalogue.tools) if is_whole else frozenset[str]()
    for tool in catalogue.tools.values():
        policy, definition = policies.of(tool.name), tool.definition
        if (tool.steers is None or (others and not tool.steers)) and policy.steering != "off":
            known = catalogue.steering.get(tool.name)
            is_known = known is not None and known[0] == definition and (bool(known[1]) or known[2] >= others)
            tool.steers = known[1] if known is not None and is_known else describe_steering(definition, others)
            catalogue.steering[tool.name] = (definition, tool.steers, others)
            if tool.steers and not is_known:
                yield PolicyFault("definition_steers", f"'{tool.name}' {tool.steers}", tool.name)
        # A lock without tools has contracts only.
        if policies.lock is not None and policies.lock.tools and tool.drift is None and policy.lock != "off":
            before = catalogue.drifts.get(tool.name)
            is_known = before is not None and before[0] == definition
            tool.drift = before[1] if before is not None and is_known else describe_drift(tool, policies.lock)
            catalogue.drifts[tool.name] = (definition, tool.drift)
            if tool.drift and not is_known:
                said = f"'{tool.name}' is not what the lock says: {tool.drift}"
                yield PolicyFault("definition_changed", said, tool.name)


def describe_steering(definition: Mapping[str, object], others: Collection[str] = ()) -> str:
    """Describe the first text of a definition that steers the model, with its location; empty if none does."""
    where, found = next(steering_in(definition, others=others), ("", None))
    return "" if found is None else f"{found.says}, at {where}"


def describe_drift(tool: KnownTool, lock: "Lock") -> str:
    """Return in words how the tool differs from the lock; empty if it does not.

    It names the members only: `toolvet lock check` says what they break, and a server must not make the proxy search.
    """
    from toolvet.core.contract import lock_of  # noqa: PLC0415 - most proxies have no lock

    before = members(next((each for each in lock.tools if each.get("name") == tool.name), None))
    if not before:
        return "the lock has no such tool"
    now = members(next(iter(lock_of([tool.definition]).tools), None))
    changed = [name for name in sorted({*before, *now}) if not same(before.get(name), now.get(name))]
    return f"other {', '.join(changed[:_MOST_NAMED])}" if changed else ""


def held_tools(catalogue: Catalogue, policies: Policies) -> frozenset[str]:
    """The tools whose definitions and calls are held back."""
    return frozenset(name for name, tool in catalogue.tools.items() if _why_held(tool, policies.of(name)))


def _why_held(tool: KnownTool, policy: Policy) -> str:
    return (policy.lock == "hold" and tool.drift) or (policy.steering == "hold" and tool.steers) or ""


def without_tools(data: bytes, names: Collection[str]) -> bytes:
    """Return a page of a tool list without these tools; the same bytes if it has none of them."""
    message = split_members(data)
    result = split_member(message, "result")
    listed = msgspec.json.decode(bytes(result["tools"]), type=list[msgspec.Raw])
    kept = [each for each in listed if members(msgspec.json.decode(each)).get("name") not in names]
    if len(kept) == len(listed):
        return data
    result["tools"] = encode_raw(kept)
    message["result"] = encode_raw(result)
    return encode_members(message)


def refuse_held(call: PendingCall, tool: KnownTool | None) -> CallRefusal | None:
    """Return the refusal of a call of a tool that the policy holds back."""
    # Nearly every tool is neither.
    if tool is None or not (tool.drift or tool.steers):
        return None
    why = _why_held(tool, call.policy)
    if not why:
        return None
    reason = "is not the one that was reviewed" if why == tool.drift else why
    text = (
        f"'{call.tool}' was not called: its definition {reason}. Use another tool, or tell the user what the server "
        "sent."
    )
    return CallRefusal("definition", why, error_result(text))
