"""One replay under way: the calls of a record go to a new version, one after the other, and each end is compared."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Protocol

from toolvet.assess.conceal import Concealer
from toolvet.assess.exchange import observe, shorten_payload
from toolvet.assess.line import Line
from toolvet.assess.place import open_place
from toolvet.assess.plan import PlannedCall
from toolvet.assess.replay.choice import ReplayChoice, ReplayGroup, choose_calls
from toolvet.assess.replay.comparing import ORDER, CallSide, best_of, compare_sides, live_side, recorded_side
from toolvet.assess.replay.options import ReplayOptions
from toolvet.assess.replay.recorded import RecordedCall
from toolvet.assess.replay.shape import ResultOutline
from toolvet.assess.report.replay.document import Comparison, ReplayChange, ReplayedCall, ReplayReport, SkippedCalls
from toolvet.assess.reproduce import reproduce_call
from toolvet.assess.rules import Outcome, ToolDefinition
from toolvet.assess.tool_run import listed_tool
from toolvet.core.json_value import members
from toolvet.core.redact import redact
from toolvet.errors import ToolvetError, UnreachableError
from toolvet.mcp.transport import ConnectionLost, McpSession, Reply, Target, TimedOut
from toolvet.mcp.wire import DEFAULT_MESSAGE_BYTES
from toolvet.version import __version__


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
    compared until then. The server is ended in every case, and has a place of its own, as in an assessment.

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
    place = open_place(target, keep_home=options.keep_home, sandbox=options.sandbox)
    concealer = Concealer(place.target, place.folder)
    run, incomplete = _ReplayRun(place.target, calls, options, watch or NoReplayWatch()), None
    deadline = asyncio.timeout(options.deadline)
    try:
        async with deadline:
            await run.go()
    except UnreachableError as error:
        raise UnreachableError(concealer.text(place.explain(str(error)))) from error
    except ToolvetError as error:
        error.args = (concealer.text(str(error)),)
        raise
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
            await run.line.close(None if incomplete is None else asyncio.CancelledError())
        finally:
            place.close()
    return concealer.report(run.report(record, incomplete or run.gave_up))


class _ReplayRun:
    """The state of a replay. When it is stopped early, what was compared until then stays here."""

    def __init__(
        self, target: Target, calls: Sequence[RecordedCall], options: ReplayOptions, watch: ReplayWatch
    ) -> None:
        self.target = target
        self.line = Line(target, options.era, options.timeout, DEFAULT_MESSAGE_BYTES)
        self.session: McpSession | None = None
        self.gave_up: str | None = None
        self._recorded = calls
        self._options = options
        self._watch = watch
        self._choice = ReplayChoice()
        self._compared: list[ReplayedCall] = []
        self._usual: dict[str, ResultOutline] = {}

    async def go(self) -> None:
        """From the handshake to the last call. Raises ToolvetError for what keeps it from starting."""
        self.session = await self.line.open()
        listed: list[object] = []
        await self.line.list_tools(listed)
        tools = [listed_tool(raw, position).definition for position, raw in enumerate(listed)]
        self._choice = choose_calls(self._recorded, tools, self._options)
        self._watch.chosen(len(self._choice.groups))
        for group in self._choice.groups:
            compared = self._missing(group) if group.tool is None else await self._compare(group, group.tool)
            if compared is None:
                return
            self._compared.append(compared)
            self._watch.compared(compared)

    def report(self, record: str, incomplete: str | None) -> ReplayReport:
        """The report on what was compared until now."""
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

    def _missing(self, group: ReplayGroup) -> ReplayedCall:
        """The end of a call whose tool is gone: nobody can make it any more."""
        stub = ToolDefinition(raw={"name": group.first.tool}, name=group.first.tool)
        change = ReplayChange(kind="tool", comparison="worse", old="listed", new="gone", words="the tool is gone")
        return self._entry(group, recorded_side(group.first, stub, self._options.check), None, [change])

    async def _compare(self, group: ReplayGroup, tool: ToolDefinition) -> ReplayedCall | None:
        """Make a call and compare it; None where the server did not come back."""
        olds = self._recorded_sides(group, tool)
        usual = self._usual_shape(group.first.tool)
        # What is worse is made again, once, where that harms nothing: a hiccup of a service is no fault of a version.
        entry: ReplayedCall | None = None
        for attempt in range(2):
            new = await self._call(group.first, tool)
            if new is None:
                return entry
            comparison, changes, old = best_of((*compare_sides(old, new, usual), old) for old in olds)
            entry = self._entry(group, old, new, changes)
            if comparison != "worse" or attempt or not group.reads:
                break
        return entry

    def _recorded_sides(self, group: ReplayGroup, tool: ToolDefinition) -> list[CallSide]:
        return [recorded_side(call, tool, self._options.check) for call in group.calls]

    def _usual_shape(self, tool: str) -> ResultOutline:
        if tool not in self._usual:
            self._usual[tool] = ResultOutline(
                call.result for call in self._recorded if call.tool == tool and not call.skip and _succeeded(call)
            )
        return self._usual[tool]

    async def _call(self, recorded: RecordedCall, tool: ToolDefinition) -> CallSide | None:
        reply, session = await self.line.call(tool.name, recorded.arguments)
        if isinstance(reply, ConnectionLost) and not self.line.is_current(session):
            self.gave_up = "the server did not come back"
            return None
        plan = PlannedCall(name="replay", category="happy_path", arguments=recorded.arguments, origin="record")
        call = observe(tool, plan, reply, protocol_version=session.protocol_version, check=self._options.check)
        await self._recover(reply, session)
        return live_side(call)

    async def _recover(self, reply: Reply, session: McpSession) -> None:
        """After a call without an answer: replace the server if it answers nothing else."""
        if not isinstance(reply, TimedOut | ConnectionLost):
            return
        if isinstance(reply, TimedOut) and await self.line.responsive(session):
            return
        await self.line.renew(session)

    def _entry(
        self, group: ReplayGroup, old: CallSide, new: CallSide | None, changes: Iterable[ReplayChange]
    ) -> ReplayedCall:
        first, told = group.first, list(changes)
        found = {change.comparison for change in told}
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
            changes=told,
            old=old.end,
            new=None if new is None else new.end,
            reproduce=reproduce_call(self.target, first.tool, arguments),
        )


def _succeeded(call: RecordedCall) -> bool:
    return call.outcome is Outcome.RESULT and members(call.result).get("isError") is not True
