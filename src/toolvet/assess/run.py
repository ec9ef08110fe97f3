"""One assessment under way: which tools are called, in which order, and what becomes of a server that breaks.

Tools are called in waves. A wave holds the tools whose required arguments need no guessing; what they return feeds the
next wave. Within a wave at most `concurrency` tools are called at once. A tool that times out or takes the server down
while others were being called is called again alone, before it is held against it.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Protocol

import msgspec

from toolvet.assess.exchange import call_of, not_run, scenario_of
from toolvet.assess.harvest import Harvest
from toolvet.assess.line import Line
from toolvet.assess.options import Options
from toolvet.assess.plan import PlannedCall
from toolvet.assess.reproduce import reproduce
from toolvet.assess.scenarios import planned
from toolvet.assess.validation import ValidationProbe
from toolvet.assess.values import Values, settled
from toolvet.errors import Unsatisfiable, UsageError
from toolvet.findings import Finding
from toolvet.report.document import Scenario
from toolvet.rules import ObservedCall, Preview, ServerSeen, ToolDefinition, judge_tool, tool_definition
from toolvet.rules.destructive import why_not_called
from toolvet.schema import compiled
from toolvet.transport import ConnectionLost, Listing, McpSession, Reply, Target, TimedOut

UNKNOWN_TOOL = "toolvet_no_such_tool"
_MOST_SILENT = 2  # Calls without an answer, after which a tool's other scenarios are not worth the wait.


class Watch(Protocol):
    """Who wants to see an assessment make progress."""

    def planned(self, tools: int) -> None:
        """So many tools will be called."""

    def began(self, tool: str) -> None:
        """The calls of this tool begin."""

    def called(self, tool: str, scenario: Scenario) -> None:
        """One call of this tool is over."""

    def ended(self, tool: str) -> None:
        """The calls of this tool are over."""


class Silent:
    """Watches nothing."""

    def planned(self, tools: int) -> None:
        """Nothing."""

    def began(self, tool: str) -> None:
        """Nothing."""

    def called(self, tool: str, scenario: Scenario) -> None:
        """Nothing."""

    def ended(self, tool: str) -> None:
        """Nothing."""


@dataclass
class ToolRun:
    """One tool of the list and all that is known of it so far."""

    definition: ToolDefinition
    skipped: str | None = None
    scenarios: list[Scenario] = field(default_factory=list[Scenario])
    calls: list[ObservedCall] = field(default_factory=list[ObservedCall])
    findings: list[Finding] = field(default_factory=list[Finding])


@dataclass(frozen=True)
class _UnjudgedReply:
    """A reply that nobody has judged yet."""

    plan: PlannedCall
    reply: Reply
    protocol_version: str
    detail: str
    preview: Preview | None


class _WentSilentError(Exception):
    """A call went silent while others were under way: nobody knows yet whose fault it is."""


class Run:
    """An assessment's state. Whatever stops it, what was seen until then stays here."""

    def __init__(self, target: Target, options: Options, watch: Watch) -> None:
        self.target = target
        self.options = options
        self.line = Line(target, options.era, options.timeout)
        self.session: McpSession | None = None
        self.tools: list[ToolRun] = []
        self.listing: Listing | None = None
        self.unknown_tool: ObservedCall | None = None
        self.validation: ValidationProbe | None = None
        self.gave_up: str | None = None
        self.started_at = datetime.now(UTC)
        self.began = time.perf_counter()
        self._watch = watch
        self._harvest = Harvest()
        self._under_way = 0

    @property
    def seen(self) -> ServerSeen:
        """The server as a whole, for the rules."""
        return ServerSeen(
            tools=tuple(run.definition for run in self.tools),
            protocol_version=self.session.protocol_version if self.session else "",
            unknown_tool=self.unknown_tool,
            oddities=self.line.oddities,
            listing_problems=tuple(f"{problem.kind}: {problem.evidence}" for problem in self.listing.problems)
            if self.listing
            else (),
            validation=self.validation.seen if self.validation else None,
        )

    async def go(self) -> None:
        """From the handshake to the last call. Raises ToolvetError for what keeps it from starting."""
        self.session = await self.line.open()
        self.validation = ValidationProbe(self.line, self.session.capabilities)
        self.listing = await self.line.list_tools()
        self.tools = [ToolRun(tool_definition(raw, position)) for position, raw in enumerate(self.listing.tools)]
        self._choose()
        for run in self.tools:
            if not run.skipped or not self.options.why_left_out(run.definition.name):
                run.findings.extend(judge_tool(run.definition))
        waiting = [run for run in self.tools if run.skipped is None]
        self._watch.planned(len(waiting))
        if self.options.plan_only:
            for run in waiting:
                self._plan_only(run)
            return
        if self.options.arguments is None:
            await self._ask_for_unknown_tool()
        while waiting and self.gave_up is None:
            wave = [run for run in waiting if self._is_settled(run)] or waiting[:1]
            waiting = [run for run in waiting if run not in wave]
            await self._call_together(wave)
            for run in wave:
                self._harvest.gather(run.calls)
        if self.gave_up is None:
            await self.validation.ask_at_least_once([run.definition for run in self.tools])

    def _choose(self) -> None:
        """Decide which tools are called, and say of each other one why not."""
        options, names = self.options, [run.definition.name for run in self.tools]
        for pattern in options.tools:
            if not any(options.why_left_out(name) is None for name in names):
                close = get_close_matches(pattern, names, n=3, cutoff=0.4)
                hint = (
                    f"; did you mean {' or '.join(close)}?" if close else f"; it has {', '.join(names) or 'no tools'}"
                )
                raise UsageError(f"--tool {pattern}: the server has no such tool{hint}")
        met = set[str]()
        for run in self.tools:
            tool = run.definition
            run.skipped = self._why_skipped(tool, met)
            met.add(tool.name)

    def _why_skipped(self, tool: ToolDefinition, met: set[str]) -> str | None:
        if not tool.name:
            return "it has no name, so it cannot be called"
        left_out = self.options.why_left_out(tool.name)
        if left_out:
            return left_out
        if tool.name in met:
            return "a second tool of the same name cannot be called"
        if tool.runs_as_task:
            return "it runs only as a task (execution.taskSupport: required)"
        if self.validation and self.validation.validates_as(tool.name) and not self.options.tools:
            return "it validates the calls of the other tools, and is asked about each; --tool calls it"
        if self.options.arguments is None and self.options.destructive == "skip":
            reason = why_not_called(tool)
            if reason:
                return f"{reason}; --include-destructive calls it"
        return None

    def _is_settled(self, run: ToolRun) -> bool:
        options = self.options
        return settled(run.definition, self._harvest, options.fixtures.get(run.definition.name), options.values)

    async def _call_together(self, wave: Sequence[ToolRun]) -> None:
        """Call the tools of a wave, then those alone that went silent in company."""
        gate, alone = asyncio.Semaphore(self.options.concurrency), list[ToolRun]()

        async def one(run: ToolRun) -> None:
            async with gate:
                try:
                    await self._call_tool(run)
                except _WentSilentError:
                    alone.append(run)

        tasks = [asyncio.create_task(one(run)) for run in wave]
        try:
            await asyncio.gather(*tasks)
        finally:
            # Not a TaskGroup: what goes wrong here reaches the caller as it is, not wrapped.
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for run in sorted(alone, key=wave.index):
            await self._call_tool(run)

    async def _call_tool(self, run: ToolRun) -> None:
        run.scenarios.clear()
        run.calls.clear()
        self._watch.began(run.definition.name)
        self._under_way += 1
        try:
            await self._scenarios(run)
        finally:
            self._under_way -= 1
        self._watch.ended(run.definition.name)

    async def _scenarios(self, run: ToolRun) -> None:
        """Send one plan after the other. What came back is judged while the server works on the next."""
        silent, answered = 0, None
        for plan in self._plans(run):
            if self.gave_up or silent >= _MOST_SILENT:
                self._judge(run, answered)
                answered = None
                reason = self.gave_up or f"not sent: {silent} calls in a row brought no answer"
                run.scenarios.append(not_run(plan, reason))
                continue
            preview = await self.validation.ask(run.definition.name, plan.arguments) if self.validation else None
            asking = asyncio.ensure_future(self.line.call(run.definition.name, plan.arguments))
            try:
                await asyncio.sleep(0)  # Now it is on its way.
                self._judge(run, answered)
                reply, session = await asking
            finally:
                asking.cancel()
            detail = ""
            if isinstance(reply, TimedOut | ConnectionLost):
                others = self._under_way > 1 or not self.line.is_current(session)
                detail = await self._recover(reply, session)
                if others and self.gave_up is None:
                    raise _WentSilentError
                silent += 1
            else:
                silent = 0
            answered = _UnjudgedReply(plan, reply, session.protocol_version, detail, preview)
        self._judge(run, answered)

    def _judge(self, run: ToolRun, answered: "_UnjudgedReply | None") -> None:
        if answered is None:
            return
        tool, plan = run.definition, answered.plan
        call = call_of(tool, plan, answered.reply, answered.protocol_version, answered.detail)
        call = msgspec.structs.replace(call, preview=answered.preview)
        scenario = scenario_of(plan, call, reproduce(self.target, tool.name, plan.arguments))
        run.calls.append(call)
        run.scenarios.append(scenario)
        self._watch.called(tool.name, scenario)

    async def _recover(self, reply: TimedOut | ConnectionLost, session: McpSession) -> str:
        """After a silent call: see whether the server still lives, and replace it if not. Returns what that showed."""
        if isinstance(reply, TimedOut) and await self.line.responsive(session):
            return ""
        if not await self.line.renew(session):
            self.gave_up = "not sent: the server did not come back"
        return "meanwhile the server answered nothing else" if isinstance(reply, TimedOut) else ""

    def _plans(self, run: ToolRun) -> Sequence[PlannedCall]:
        tool, options = run.definition, self.options
        if options.arguments is not None:
            return (
                PlannedCall(
                    name="the given arguments", category="happy_path", arguments=options.arguments, origin="--arguments"
                ),
            )
        fixtures = options.fixtures.get(tool.name, ())
        schema = compiled(tool.input_schema)
        if schema.problem is not None:
            run.skipped = f"its inputSchema does not compile: {schema.problem.message}"
            return ()
        try:
            plans = list(
                planned(Values(tool, self._harvest, fixtures[0] if fixtures else None, options.values), options.seed)
            )
        except Unsatisfiable as error:
            run.skipped = f"no arguments satisfy its inputSchema: {error}"
            return ()
        for number, fixture in enumerate(fixtures[1:], start=2):
            plans.insert(
                number,
                PlannedCall(name=f"fixture {number}", category="happy_path", arguments=fixture, origin="fixture"),
            )
        return plans

    def _plan_only(self, run: ToolRun) -> None:
        run.scenarios = [not_run(plan, "not sent: --plan-only") for plan in self._plans(run)]

    async def _ask_for_unknown_tool(self) -> None:
        plan = PlannedCall(name="a tool that does not exist", category="error_case", arguments={}, origin="generator")
        reply, session = await self.line.call(UNKNOWN_TOOL, plan.arguments)
        if isinstance(reply, TimedOut | ConnectionLost):
            await self._recover(reply, session)
        tool = ToolDefinition(raw={"name": UNKNOWN_TOOL}, name=UNKNOWN_TOOL)
        self.unknown_tool = call_of(tool, plan, reply, session.protocol_version)
