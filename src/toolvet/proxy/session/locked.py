"""Compares the tools that a server lists with its lock: a definition that changed is not what was reviewed."""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Final

import msgspec

from toolvet.core.json_value import members, same
from toolvet.mcp.wire import encode_members, encode_raw, split_member, split_members
from toolvet.proxy.session.catalogue import Catalogue, KnownTool
from toolvet.proxy.session.pending import PendingCall
from toolvet.proxy.session.policy import Policies
from toolvet.proxy.session.step import PolicyFault
from toolvet.proxy.session.vet import CallRefusal, error_result

if TYPE_CHECKING:
    from toolvet.core.contract import Lock

_MOST_NAMED: Final = 8


def compare_tools(catalogue: Catalogue, policies: Policies) -> Iterator[PolicyFault]:
    """Note in each tool how it differs from the lock, and yield a fault for a difference that was not reported yet."""
    if policies.lock is None:
        return
    for tool in catalogue.tools.values():
        if tool.drift is not None or policies.of(tool.name).lock == "off":
            continue
        known = catalogue.drifts.get(tool.name)
        if known is not None and known[0] == tool.definition:
            tool.drift = known[1]
            continue
        tool.drift = describe_drift(tool, policies.lock)
        catalogue.drifts[tool.name] = (tool.definition, tool.drift)
        if tool.drift:
            yield PolicyFault("definition_changed", f"'{tool.name}' is not what the lock says: {tool.drift}", tool.name)


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
    return frozenset(name for name, tool in catalogue.tools.items() if tool.drift and policies.of(name).lock == "hold")


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


def refuse_changed(call: PendingCall, tool: KnownTool | None) -> CallRefusal | None:
    """Return the refusal of a call whose tool is not what was reviewed, if the policy holds such calls back."""
    if tool is None or not tool.drift or call.policy.lock != "hold":
        return None
    text = (
        f"'{call.tool}' was not called: its definition is not the one that was reviewed. Use another tool, or tell the "
        "user that the server changed it."
    )
    return CallRefusal("definition", tool.drift, error_result(text))
