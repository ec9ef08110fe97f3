"""One replay under way: the calls of a record go to a new version, one after the other, and each end is compared.

The options and the tools of the new version decide which recorded calls are made again, and why the others are not.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import msgspec
import orjson

from toolvet.assess import Options
from toolvet.assess.connection import RenewableConnection
from toolvet.assess.exchange import PlannedCall, observe, shorten_payload
from toolvet.assess.judge import listed_tool
from toolvet.assess.replay.compare import (
    ORDER,
    CallSide,
    ResultOutline,
    best_of,
    compare_sides,
    live_side,
    recorded_side,
)
from toolvet.assess.replay.recorded import RecordedCall
from toolvet.assess.report.replay import Comparison, ReplayChange, ReplayedCall, ReplayReport, SkippedCalls
from toolvet.assess.reproduce import reproduce_call
from toolvet.assess.rules import Outcome, ToolDefinition
from toolvet.assess.workspace import Concealer, open_workspace
from toolvet.core.checks import ResultCheck
from toolvet.core.contract import Lock
from toolvet.core.json_value import members
from toolvet.core.redact import redact
from toolvet.core.tool_rules import habits_of, why_not_called, writing_parameters
from toolvet.mcp.transport import ConnectionLost, McpSession, Target, TimedOut
from toolvet.mcp.wire import DEFAULT_MESSAGE_BYTES
from toolvet.version import __version__


@dataclass(frozen=True, kw_only=True)
class ReplayOptions:
    """How to replay a record.

    `timeout` is in seconds per call, `deadline` in seconds for the whole run (None: none). `tools` and `exclude` are
    shell patterns of tool names; no `tools` means all. `include` are patterns of tools that are called although nothing
    shows that they only read, and `destructive="call"` includes every tool. `repeats` makes identical calls of one
    tool again each time instead of once. `limit` is the most calls to make (the first ones), `sample` spreads that many
    evenly over the record; None makes all. `era`, `keep_home` and `sandbox` are those of an assessment. `check` judges
    the results of both sides. `lock` has the contracts that new results have to keep.

        ReplayOptions(timeout=5, include=["render_*"])
    """

    timeout: float = 30.0
    deadline: float | None = None
    tools: Sequence[str] = ()
    exclude: Sequence[str] = ()
    include: Sequence[str] = ()
    destructive: Literal["skip", "call"] = "skip"
    repeats: bool = False
    limit: int | None = None
    sample: int | None = None
    era: Literal["auto", "legacy", "modern"] = "auto"
    keep_home: bool = False
    sandbox: bool = False
    check: ResultCheck = field(default_factory=ResultCheck)
    lock: Lock | None = None

    @property
    def guard(self) -> Options:
        """The same choice of tools, as an assessment makes it."""
        return Options(tools=self.tools, exclude=self.exclude, include=self.include, destructive=self.destructive)


@dataclass
class ReplayGroup:
    """Calls that are made once: `first` is sent, `calls` are all that are identical with it, itself among them.

    `tool` is None if the new version has no such tool. `reads` says that the tool plainly reads, so that a call may
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


class ReplayWatch(Protocol):
    """Receives the progress of a replay, for a progress bar."""

    def chosen(self, calls: int) -> None:
        """`calls` is the number of calls about to be made."""

    def compared(self, call: ReplayedCall) -> None:
        """One call was made and compared."""


class NoReplayWatch:
    """A `ReplayWatch` that ignores all progress."""

    def chosen(self, calls: int) -> None:
        """Ignored."""

    def compared(self, call: ReplayedCall) -> None:
        """Ignored."""


async def replay(
    target: Target,
    calls: Sequence[RecordedCall],
    options: ReplayOptions | None = None,
    watch: ReplayWatch | None = None,
    *,
    record: str = "",
) -> ReplayReport:
    """Make the calls of a record again, and compare how they end.

    Cancelling it (Ctrl-C) and the deadline end it early: the report then says so in `incomplete` and holds what was
    compared until then. The server is ended in every case, and has a workspace of its own, as in an assessment.

    Args:
        target: The new version: a command to start (`StdioTarget`) or a URL (`HttpTarget`).
        calls: The calls of the record (`read_recorded`).
        options: Which calls are made again, and how long; all defaults without it.
        watch: Receives the progress.
        record: The name of the record, for the report.

    Returns:
        The report, as `toolvet.assess.report.replay` renders it.

    Raises:
        UnreachableError: No session could be opened.
        AuthenticationError: The server refused the credentials.
        UsageError: A sandbox is wanted that cannot be made.
    """
    options = options or ReplayOptions()
    workspace = open_workspace(target, keep_home=options.keep_home, sandbox=options.sandbox)
    concealer = Concealer(workspace.target, workspace.folder)
    run, incomplete = _ReplayRun(workspace.target, calls, options, watch or NoReplayWatch()), None
    deadline = asyncio.timeout(options.deadline)
    try:
        with concealer.errors(workspace.explain):
            async with deadline:
                await run.go()
    except TimeoutError:
        if not deadline.expired():
            raise
        incomplete = f"the deadline of {options.deadline:g} s passed"
    except asyncio.CancelledError:
        if run.session is None:
            raise
        incomplete = "interrupted"
        task = asyncio.current_task()
        if task is not None:
            task.uncancel()
    finally:
        try:
            await run.connection.close(None if incomplete is None else asyncio.CancelledError())
        finally:
            workspace.close()
    return concealer.report(run.report(record, incomplete or run.gave_up))


class _ReplayRun:
    """The state of a replay. When it is stopped early, what was compared until then stays here."""

    def __init__(
        self, target: Target, calls: Sequence[RecordedCall], options: ReplayOptions, watch: ReplayWatch
    ) -> None:
        self.target = target
        self.connection = RenewableConnection(target, options.era, options.timeout, DEFAULT_MESSAGE_BYTES)
        self.session: McpSession | None = None
        self.gave_up: str | None = None
        self._recorded = calls
        self._options = options
        self._watch = watch
        self._choice = ReplayChoice()
        self._compared: list[ReplayedCall] = []
        self._usual: dict[str, ResultOutline] = {}

    async def go(self) -> None:
        self.session = await self.connection.open()
        listed: list[object] = []
        await self.connection.list_tools(listed)
        tools = [listed_tool(raw, position, self._options.lock).definition for position, raw in enumerate(listed)]
        self._choice = choose_calls(self._recorded, tools, self._options)
        self._watch.chosen(len(self._choice.groups))
        for group in self._choice.groups:
            if group.tool is None:
                stub = ToolDefinition(raw={"name": group.first.tool}, name=group.first.tool)
                gone = ReplayChange(kind="tool", comparison="worse", old="listed", new="gone", words="the tool is gone")
                side = recorded_side(group.first, stub, self._options.check)
                compared: ReplayedCall | None = self._entry(group, side, None, [gone])
            else:
                compared = await self._compare(group, group.tool)
            if compared is None:
                return
            self._compared.append(compared)
            self._watch.compared(compared)

    def report(self, record: str, incomplete: str | None) -> ReplayReport:
        counts = {"same": 0, "better": 0, "changed": 0, "worse": 0}
        for call in self._compared:
            counts[call.comparison] += call.calls
        skipped = [
            SkippedCalls(tool=tool, reason=reason, calls=calls)
            for (tool, reason), calls in sorted(self._choice.skipped.items())
        ]
        session = self.session
        return ReplayReport(
            record=record,
            command=self.target.describe(),
            server=session.server_name if session else "",
            server_version=session.server_version if session else "",
            protocol_version=session.protocol_version if session else "",
            recorded=len(self._recorded),
            replayed=sum(counts.values()),
            same=counts["same"],
            better=counts["better"],
            changed=counts["changed"],
            worse=counts["worse"],
            calls=list(self._compared),
            skipped=skipped,
            incomplete=incomplete,
            toolvet_version=__version__,
        )

    async def _compare(self, group: ReplayGroup, tool: ToolDefinition) -> ReplayedCall | None:
        olds = [recorded_side(call, tool, self._options.check) for call in group.calls]
        name = group.first.tool
        if name not in self._usual:
            self._usual[name] = ResultOutline(
                call.result
                for call in self._recorded
                if call.tool == name and not call.skip
                if call.outcome is Outcome.RESULT and members(call.result).get("isError") is not True
            )
        # A worse call is made again, once, if that harms nothing: a service may have had a hiccup.
        entry: ReplayedCall | None = None
        plan = PlannedCall(name="replay", category="happy_path", arguments=group.first.arguments, origin="record")
        for attempt in range(2):
            reply, session = await self.connection.call(tool.name, group.first.arguments)
            if isinstance(reply, ConnectionLost) and not self.connection.is_current(session):
                self.gave_up = "the server did not come back"
                return entry
            new = live_side(
                observe(tool, plan, reply, protocol_version=session.protocol_version, check=self._options.check)
            )
            if isinstance(reply, TimedOut | ConnectionLost):
                await self.connection.recover(reply, session)
            comparison, changes, old = best_of((*compare_sides(old, new, self._usual[name]), old) for old in olds)
            entry = self._entry(group, old, new, changes)
            if comparison != "worse" or attempt or not group.reads:
                break
        return entry

    def _entry(
        self, group: ReplayGroup, old: CallSide, new: CallSide | None, changes: Iterable[ReplayChange]
    ) -> ReplayedCall:
        first, listed = group.first, list(changes)
        found = {change.comparison for change in listed}
        comparison: Comparison = "same"
        for worse in ORDER:
            comparison = worse if worse in found else comparison
        arguments = members(redact(first.arguments))
        return ReplayedCall(
            number=first.number,
            tool=first.tool,
            comparison=comparison,
            arguments=shorten_payload(arguments),
            conversation=first.conversation,
            calls=len(group.calls),
            changes=listed,
            old=old.end,
            new=None if new is None else new.end,
            reproduce=reproduce_call(self.target, first.tool, arguments),
        )


def choose_calls(
    calls: Iterable[RecordedCall], tools: Sequence[ToolDefinition], options: ReplayOptions
) -> ReplayChoice:
    """Choose as an assessment does: unasked, only tools that plainly read. The order is that of the record."""
    choice = ReplayChoice()
    habits = habits_of(tools)
    reasons = {tool.name: why_not_called(tool, habits) for tool in reversed(tools)}
    known: Mapping[str, ToolDefinition] = {tool.name: tool for tool in reversed(tools)}
    guard, met = options.guard, dict[tuple[str, bytes], ReplayGroup]()
    for call in calls:
        tool = known.get(call.tool)
        reason = call.skip or guard.why_left_out(call.tool)
        risk = None if tool is None else reasons[tool.name]
        if tool is not None and not risk:
            # An assessment leaves out a parameter that names a place to write; the record has it.
            writes = next((name for name in writing_parameters(tool) if name in call.arguments), None)
            risk = None if writes is None else f"the call gives '{writes}', which names a place to write"
        if reason is None or not reason:
            reason = f"{risk}; --include {call.tool} calls it" if risk and not guard.is_included(call.tool) else ""
        if reason:
            choice.skip(call, reason)
            continue
        try:
            arguments = orjson.dumps(dict(call.arguments), option=orjson.OPT_SORT_KEYS)
        except TypeError:
            # An integer over 64 bits, or half a surrogate pair.
            arguments = repr(msgspec.to_builtins(call.arguments)).encode(errors="replace")
        key = (call.tool, arguments)
        group = None if options.repeats or risk else met.get(key)
        if group is None:
            group = met[key] = ReplayGroup(call, tool, reads=risk is None)
            choice.groups.append(group)
        group.calls.append(call)
    groups = kept = choice.groups
    if options.sample is not None and len(groups) > options.sample:
        kept = [groups[index * len(groups) // options.sample] for index in range(options.sample)]
        _skip_others(choice, kept, f"left out by --sample {options.sample}")
    if options.limit is not None and len(kept) > options.limit:
        kept = kept[: options.limit]
        _skip_others(choice, kept, f"left out by --limit {options.limit}")
    return choice


def _skip_others(choice: ReplayChoice, kept: Sequence[ReplayGroup], reason: str) -> None:
    wanted = set(map(id, kept))
    for group in choice.groups:
        if id(group) not in wanted:
            choice.skip(group.first, reason, len(group.calls))
    choice.groups = list(kept)
