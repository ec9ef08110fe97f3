"""Recorded calls and the tools of the new version → which calls are made, and why the others are not."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec
import orjson

from toolvet.assess.replay.options import ReplayOptions
from toolvet.assess.replay.recorded import RecordedCall
from toolvet.assess.rules import ToolDefinition
from toolvet.core.tool_rules import habits_of, why_not_called, writing_parameters


@dataclass
class ReplayGroup:
    """Calls that are made once: `first` is sent, `calls` are all that are identical with it, itself among them.

    `tool` is None where the new version has no such tool. `reads` says that the tool plainly reads, so that a call may
    be made twice.
    """

    first: RecordedCall
    tool: ToolDefinition | None
    reads: bool
    calls: list[RecordedCall] = field(default_factory=list[RecordedCall])


@dataclass
class ReplayChoice:
    """What becomes of the calls of a record: `groups` are made, `skipped` counts the others by tool and reason."""

    groups: list[ReplayGroup] = field(default_factory=list[ReplayGroup])
    skipped: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])

    def skip(self, call: RecordedCall, reason: str, calls: int = 1) -> None:
        """Count a call that is not made."""
        key = (call.tool, reason)
        self.skipped[key] = self.skipped.get(key, 0) + calls


def choose_calls(
    calls: Iterable[RecordedCall], tools: Sequence[ToolDefinition], options: ReplayOptions
) -> ReplayChoice:
    """Choose as an assessment does: unasked, only tools that plainly read. The order is that of the record."""
    choice = ReplayChoice()
    reasons = _reasons(tools)
    known: Mapping[str, ToolDefinition] = {tool.name: tool for tool in reversed(tools)}
    guard, met = options.guard, dict[tuple[str, bytes], ReplayGroup]()
    for call in calls:
        tool = known.get(call.tool)
        reason = call.skip or guard.why_left_out(call.tool)
        risk = None if tool is None else reasons[tool.name] or _writes(tool, call)
        if reason is None or not reason:
            reason = f"{risk}; --include {call.tool} calls it" if risk and not guard.is_included(call.tool) else ""
        if reason:
            choice.skip(call, reason)
            continue
        key = (call.tool, _fingerprint(call))
        group = None if options.repeats or risk else met.get(key)
        if group is None:
            group = met[key] = ReplayGroup(call, tool, reads=risk is None)
            choice.groups.append(group)
        group.calls.append(call)
    _limit(choice, options)
    return choice


def _reasons(tools: Sequence[ToolDefinition]) -> Mapping[str, str | None]:
    habits = habits_of(tools)
    return {tool.name: why_not_called(tool, habits) for tool in reversed(tools)}


def _writes(tool: ToolDefinition, call: RecordedCall) -> str | None:
    """Why a reader is not called with these arguments: an assessment leaves such a parameter out, a record has it."""
    named = next((name for name in writing_parameters(tool) if name in call.arguments), None)
    return None if named is None else f"the call gives '{named}', which names a place to write"


def _limit(choice: ReplayChoice, options: ReplayOptions) -> None:
    groups = choice.groups
    kept = groups
    if options.sample is not None and len(groups) > options.sample:
        kept = [groups[index * len(groups) // options.sample] for index in range(options.sample)]
        _skip_others(choice, kept, f"left out by --sample {options.sample}")
    if options.limit is not None and len(kept) > options.limit:
        kept = kept[: options.limit]
        _skip_others(choice, kept, f"left out by --limit {options.limit}")


def _skip_others(choice: ReplayChoice, kept: Sequence[ReplayGroup], reason: str) -> None:
    wanted = set(map(id, kept))
    for group in choice.groups:
        if id(group) not in wanted:
            choice.skip(group.first, reason, len(group.calls))
    choice.groups = list(kept)


def _fingerprint(call: RecordedCall) -> bytes:
    try:
        return orjson.dumps(dict(call.arguments), option=orjson.OPT_SORT_KEYS)
    except TypeError:
        # An integer over 64 bits, or half a surrogate pair.
        return repr(msgspec.to_builtins(call.arguments)).encode(errors="replace")
