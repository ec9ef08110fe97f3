"""One assessment under way: which tools are called, in which order, and what becomes of a server that breaks.

Tools are called in waves (`assess/waves.py`). Within a wave at most `concurrency` tools are called at once. A tool that
times out or takes the server down while others were being called is called again alone, before it is held against it.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from toolvet.assess.connection import RenewableConnection, ValidationProbe
from toolvet.assess.exchange import PlannedCall, assess_call, observe
from toolvet.assess.folder import Folder, file_changes, list_folder, snapshot
from toolvet.assess.guard import ArgumentGuard, guard_of, note_creations
from toolvet.assess.harvest import Harvest
from toolvet.assess.items import LISTS, ItemsRun, is_without_tools
from toolvet.assess.judge import CostsOnly, RunJudge, ToolRun, listed_tool
from toolvet.assess.options import Options
from toolvet.assess.report.document import Scenario
from toolvet.assess.rereading import Rereading
from toolvet.assess.rules import IntendedViolation, ObservedCall, ObservedServer, ToolDefinition
from toolvet.assess.scenarios import FORMATIVE, plan_calls
from toolvet.assess.values import VALUE_KEYWORDS, Values
from toolvet.assess.waves import Waves
from toolvet.assess.workspace import WorkspaceTarget
from toolvet.core.contract import ContractChange, compare_locks, lock_of
from toolvet.core.schema import compiled, subschemas
from toolvet.core.tool_rules import habits_of, only_computes, why_not_called
from toolvet.errors import ToolvetError, Unsatisfiable, UsageError
from toolvet.mcp.transport import ConnectionLost, Era, HttpTarget, Listing, McpSession, StdioTarget, Target, TimedOut

if TYPE_CHECKING:
    from toolvet.assess.http_probes import HttpProbing

MOST_CALLED: Final = 2_000  # Tools, unless the user names some: more than any client offers a model.
UNKNOWN_TOOL: Final = "toolvet_no_such_tool"
_ODD_ARGUMENTS: Final = (None, ["toolvet"])  # For `arguments`, which must be an object.
_WITHOUT_PAUSE: Final = 0.02  # Seconds in which tools are judged or chosen in one go.
_MADE_UP: Final = frozenset({"schema", "generator"})  # Origins of arguments that toolvet made up.
_MOST_SILENT: Final = 2  # Calls without an answer, after which a tool's other scenarios are not worth the wait.


class Watch(Protocol):
    """Receives the progress of an assessment, for a progress bar or a log."""

    def planned(self, tools: int) -> None:
        """`tools` is the number of tools about to be called."""

    def began(self, tool: str) -> None:
        """The calls of this tool begin."""

    def called(self, tool: str, scenario: Scenario) -> None:
        """One call of this tool has ended; `scenario` is how the report will show it."""

    def ended(self, tool: str) -> None:
        """All calls of this tool have ended."""


class Silent:
    """A `Watch` that ignores all progress."""

    def planned(self, tools: int) -> None:
        """Ignored."""

    def began(self, tool: str) -> None:
        """Ignored."""

    def called(self, tool: str, scenario: Scenario) -> None:
        """Ignored."""

    def ended(self, tool: str) -> None:
        """Ignored."""


class _WentSilentError(ToolvetError):
    """A call was not answered while others were under way, so it is not known yet which of them is to blame."""


class Run:
    """The state of an assessment. When it is stopped early, what was seen until then stays here.

    `skipped` says what could not be checked of the server as a whole, because of a bug of ours.
    """

    def __init__(self, target: Target, options: Options, watch: Watch) -> None:
        self.target = target
        self.options = options
        self.connection = RenewableConnection(target, options.era, options.timeout, options.max_message_bytes)
        self.judge = RunJudge(target)
        self.session: McpSession | None = None
        self.tools: list[ToolRun] = []
        self.listing: Listing | None = None
        self.unknown_tool: ObservedCall | None = None
        self.odd_arguments: list[ObservedCall] = []
        self.validation: ValidationProbe | None = None
        self.http: HttpProbing | None = None
        self.items: ItemsRun | None = None
        self.gave_up: str | None = None
        self.skipped: str | None = None
        self.overfilled = ""
        self.started_at = datetime.now(UTC)
        self.began = time.perf_counter()
        self._watch = watch
        self._harvest = Harvest()
        self._rereading = Rereading(self._ask, self._harvest)
        self._folder: Folder | None = None
        self._under_way = 0
        self._callable: frozenset[str] = frozenset()

    @property
    def seen(self) -> ObservedServer:
        """The server as a whole, for the rules."""
        return ObservedServer(
            tools=tuple(run.definition for run in self.tools),
            protocol_version=self.session.protocol_version if self.session else "",
            unknown_tool=self.unknown_tool,
            anomalies=self.connection.anomalies,
            listing_problems=tuple(f"{problem.kind}: {problem.evidence}" for problem in self.listing.problems)
            if self.listing and not self._is_without_tools
            else (),
            is_without_tools=self._is_without_tools,
            validation=self.validation.seen if self.validation else None,
            odd_arguments=tuple(self.odd_arguments),
            http=self.http.seen([run.definition for run in self.tools]) if self.http else None,
            overfilled=self.overfilled,
            consequences=tuple(self._rereading.seen),
            changes=self._changes,
            version=self.session.server_version if self.session else "",
            providers=tuple(self.options.providers),
            profiles=tuple(self.options.profiles),
            manifests=self.options.manifests,
        )

    @property
    def _changes(self) -> tuple[ContractChange, ...]:
        """The changes since the lock was written. A list that did not come whole proves no removal."""
        lock, items = self.options.lock, self.items
        if lock is None or self.listing is None or self.listing.failure is not None:
            return ()
        read = {
            kind
            for kind, (_, method, _) in LISTS.items()
            for each in (items.listings if items else ())
            if each.method == method and each.error_code is None
        }
        listed = {
            kind: [run.item.raw for run in (items.runs if items else ()) if run.item.kind == kind]
            if kind in read
            else lock.listed(kind)
            for kind in LISTS
        }
        new = lock_of(
            [run.definition.raw for run in self.tools],
            listed["prompt"],
            listed["resource"],
            listed["resource_template"],
            skills=listed["skill"],
        )
        return compare_locks(lock, new)

    @property
    def _is_without_tools(self) -> bool:
        if self.session is None or self.listing is None:
            return False
        return is_without_tools(self.session.capabilities, self.listing)

    def is_filtered(self, tool: ToolRun) -> bool:
        """Whether the user's own choice (--tool, --exclude) leaves a tool out of the report."""
        return self.options.why_left_out(tool.definition.name) is not None

    async def go(self) -> None:
        """From the handshake to the last call. Raises ToolvetError for what keeps it from starting."""
        self.session = await self.connection.open()
        self.validation = ValidationProbe(self.connection, self.session.capabilities)
        listed: list[object] = []
        try:
            self.listing = await self.connection.list_tools(listed)
        finally:
            # Also when the run ends between two pages: the report then shows the tools of those that came.
            self.tools = [listed_tool(raw, position, self.options.lock) for position, raw in enumerate(listed)]
        await self._choose()
        if isinstance(self.target, StdioTarget):
            is_own = isinstance(self.target, WorkspaceTarget) and self.target.given.cwd is None
            self._folder = list_folder(self.target.cwd, is_own=is_own)
        self.items = ItemsRun(self.connection, self.options, self.session.capabilities, self.judge.paths)
        with CostsOnly(self):
            await self.items.list_all()
        async for run in _with_pauses(self.tools):
            if not run.skipped or not self.options.why_left_out(run.definition.name):
                with CostsOnly(run):
                    self.judge.take_definition(run)
        waiting = [run for run in self.tools if run.skipped is None]
        self._callable = frozenset(run.definition.name for run in waiting)
        self._watch.planned(len(waiting))
        if self.options.plan_only:
            async for run in _with_pauses(waiting):
                with CostsOnly(run):
                    for plan in self._plan(run, self._values(run)):
                        run.leave_out(plan, "not sent: --plan-only")
            return
        if self.options.arguments is None and not self._is_without_tools:
            with CostsOnly(self):
                await self._call_unknown_tool()
        for run in waiting:
            with CostsOnly(run):
                self._waves([run])
        waiting = [run for run in waiting if run.skipped is None]
        waves = self._waves(waiting)
        readers = [run for run in waiting if not run.changes]
        while self.gave_up is None and (wave := [waiting[position] for position in waves.next()]):
            await self._call_together(wave)
            for run in wave:
                with CostsOnly(run):
                    if run.changes:
                        note_creations(self._harvest, run.calls)
                        await self._rereading.of_change(run, readers)
                    self._harvest.gather(run.calls)
        asks: list[Callable[[], Awaitable[None]]] = [
            partial(self._rereading.of_conflicts, readers if self.options.arguments is None else ()),
            self._send_odd_arguments,
            partial(self.validation.ask_at_least_once, [run.definition for run in self.tools]),
            partial(self.items.ask_all, self._harvest, self._folder),
            partial(self.items.ask_from_unknown_cursors, self.listing),
            self._probe_transport,
        ]
        if self.options.arguments is None and len(readers) == len(waiting):
            asks.insert(0, partial(self._rereading.of_readers, readers))
        for ask in asks:
            if self.gave_up is None:
                with CostsOnly(self):
                    await ask()

    async def _call_unknown_tool(self) -> None:
        plan = PlannedCall(name="a tool that does not exist", category="error_case", arguments={}, origin="generator")
        reply, session = await self.connection.call(UNKNOWN_TOOL, plan.arguments)
        if isinstance(reply, TimedOut | ConnectionLost):
            await self._recover(reply, session)
        tool = ToolDefinition(raw={"name": UNKNOWN_TOOL}, name=UNKNOWN_TOOL)
        self.unknown_tool = observe(tool, plan, reply, protocol_version=session.protocol_version)

    def _waves(self, runs: Sequence[ToolRun]) -> Waves:
        changing = frozenset(position for position, run in enumerate(runs) if run.changes)
        definitions = [run.definition for run in runs]
        return Waves(definitions, self._harvest, self.options.fixtures, self.options.values, changing)

    async def _choose(self) -> None:
        options, names = self.options, [run.definition.name for run in self.tools]
        for pattern in options.tools:
            if not any(options.why_left_out(name) is None for name in names):
                close = get_close_matches(pattern, names, n=3, cutoff=0.4)
                hint = (
                    f"; did you mean {' or '.join(close)}?" if close else f"; it has {', '.join(names) or 'no tools'}"
                )
                raise UsageError(f"--tool {pattern}: the server has no such tool{hint}")
        met = set[str]()
        called = 0
        habits = None
        with CostsOnly(self):
            habits = habits_of([run.definition for run in self.tools])
        async for run in _with_pauses(self.tools):
            tool = run.definition
            run.skipped = self.options.why_left_out(tool.name) or run.skipped or self._why_skipped(tool, met)
            if run.skipped is None and options.arguments is None:
                reason = run.skipped = self.skipped
                with CostsOnly(run):
                    reason = why_not_called(tool, habits) if habits is not None else reason
                run.changes = reason is not None and not (habits is not None and only_computes(tool, habits))
                if reason and not options.is_included(tool.name):
                    run.skipped = f"{reason}; --include {tool.name} calls it"
            called += run.skipped is None
            if called > MOST_CALLED and run.skipped is None and not options.tools:
                run.skipped = f"only the first {MOST_CALLED:,} tools are called; --tool NAME calls others"
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
        return None

    async def _call_together(self, wave: Sequence[ToolRun]) -> None:
        gate, again = asyncio.Semaphore(self.options.concurrency), list[int]()

        async def call_one(position: int) -> None:
            async with gate:
                try:
                    await self._call_tool(wave[position])
                except _WentSilentError:
                    again.append(position)

        tasks = [asyncio.create_task(call_one(position)) for position in range(len(wave))]
        try:
            await asyncio.gather(*tasks)
        finally:
            # Not a TaskGroup: what goes wrong here reaches the caller as it is, not wrapped.
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        for position in sorted(again):
            await self._call_tool(wave[position])

    async def _call_tool(self, run: ToolRun) -> None:
        run.scenarios.clear()
        run.judged = None
        self._watch.began(run.definition.name)
        self._under_way += 1
        try:
            with CostsOnly(run):
                run.is_own = self._may_be_own(run.definition)
                await self._send_scenarios(run)
                self.judge.take_calls(run)
        finally:
            self._under_way -= 1
        self._watch.ended(run.definition.name)

    async def _send_scenarios(self, run: ToolRun) -> None:
        """While the server works on a call, the reply before it is judged and the next planned, if it can be."""
        silent = 0
        judge_last_reply: Callable[[], None] = _do_nothing
        values = self._values(run)
        plans = self._plan(run, values)
        plan = next(plans, None)
        while plan is not None:
            if plan.made or self.gave_up or silent >= _MOST_SILENT:
                judge_last_reply()
                judge_last_reply = _do_nothing
                run.leave_out(plan, self.gave_up or f"not sent: {silent} calls in a row brought no answer")
                plan = next(plans, None)
                continue
            is_formative = values is not None and plan.category in FORMATIVE
            upcoming: PlannedCall | None = None
            if plan.first:
                judge_last_reply()
                judge_last_reply = _do_nothing
                await self._call_first(plan.first)
            preview = await self.validation.ask(run.definition.name, plan.arguments) if self.validation else None
            before = self._folder_now()
            # A plan may write a sample file, which would look like the server's.
            is_late = is_formative or before is not None
            asking = asyncio.ensure_future(self.connection.call(run.definition.name, plan.arguments))
            try:
                await asyncio.sleep(0)  # Let it write the call.
                judge_last_reply()
                # It holds an answer, which may take hundreds of megabytes: that must not stay while the next one comes.
                judge_last_reply = _do_nothing
                if not is_late:
                    upcoming = next(plans, None)
                reply, session = await asking
                files = file_changes(before, self._folder_now())
                self.judge.weigh(reply)
            finally:
                asking.cancel()
            if isinstance(reply, TimedOut | ConnectionLost):
                detail = await self._recover_alone(reply, session)
                silent += 1
            else:
                silent, detail = 0, ""
            read_reply = partial(
                observe,
                run.definition,
                plan,
                reply,
                protocol_version=session.protocol_version,
                detail=detail,
                preview=preview,
                check=self.options.check,
                files=files,
            )
            if is_formative and values is not None:
                call = read_reply()
                values.learn(call)
                read_reply = partial(_return, call)
            judge_last_reply = partial(self._judge_reply, run, plan, read_reply)
            del read_reply, reply
            plan = next(plans, None) if is_late else upcoming
        judge_last_reply()

    async def _call_first(self, name: str) -> None:
        """Call the tool that a refusal asks for, once, with what it needs; what it returns feeds the calls after it."""
        run = next(run for run in self.tools if run.definition.name == name and run.skipped is None)
        values = self._values(run)
        run.skipped = None  # Whether it has arguments is judged again when its own turn comes.
        if values is None:
            return
        call = await self._ask(run.definition, values.required_only().arguments)
        self._harvest.gather([call] if call is not None else [])

    async def _ask(self, tool: ToolDefinition, arguments: Mapping[str, object]) -> ObservedCall | None:
        """Make a call that is none of the tool's scenarios; None without an answer."""
        if self.gave_up:
            return None
        reply, session = await self.connection.call(tool.name, arguments)
        if isinstance(reply, TimedOut | ConnectionLost):
            await self._recover(reply, session)
            return None
        plan = PlannedCall(name="again", category="happy_path", arguments=arguments, origin="earlier call")
        return observe(tool, plan, reply, protocol_version=session.protocol_version)

    def _folder_now(self) -> Mapping[str, tuple[int, int]] | None:
        """The working folder, if a directory's hints are to be justified, and no other call is under way."""
        return snapshot(self._folder.path) if self.options.profiles and self._folder and self._under_way == 1 else None

    def _judge_reply(self, run: ToolRun, plan: PlannedCall, read_reply: Callable[[], ObservedCall]) -> None:
        # Later calls are made from the values of earlier ones.
        run.is_own = run.is_own and plan.origin in _MADE_UP
        call = msgspec.structs.replace(read_reply(), is_own=run.is_own)
        assessed = assess_call(len(run.scenarios) + 1, plan, call, self.target)
        run.scenarios.append(assessed)
        self._watch.called(run.definition.name, assessed.scenario)

    def _may_be_own(self, tool: ToolDefinition) -> bool:
        """Whether all values of a call can be made up: the user gives none, and the schema has no text for one."""
        options = self.options
        if options.arguments is not None or options.values or tool.name in options.fixtures:
            return False
        given = (
            here.get(word) for _, here in subschemas(tool.input_schema) for word in VALUE_KEYWORDS if word != "enum"
        )
        return not any(isinstance(value, str | list | dict) for value in given)

    async def _recover(self, reply: TimedOut | ConnectionLost, session: McpSession) -> str:
        is_back, detail = await self.connection.recover(reply, session)
        if not is_back:
            self.gave_up = "not sent: the server did not come back"
        return detail

    async def _recover_alone(self, reply: TimedOut | ConnectionLost, session: McpSession) -> str:
        """As `_recover`; raises _WentSilentError if a call of another tool may be to blame."""
        others = self._under_way > 1 or not self.connection.is_current(session)
        detail = await self._recover(reply, session)
        if others and self.gave_up is None:
            raise _WentSilentError
        return detail

    def _values(self, run: ToolRun) -> Values | None:
        tool, options = run.definition, self.options
        fixtures = options.fixtures.get(tool.name, ())
        if options.arguments is not None:
            return None
        schema = compiled(tool.input_schema)
        if schema.problem is not None:
            run.skipped = f"its inputSchema does not compile: {schema.problem.message}"
            return None
        guard: ArgumentGuard | None = None
        if run.changes:
            guard = guard_of(tool, self._harvest, known=options.values, fixtures=fixtures, folder=self._folder)
            if guard.missing and not options.plan_only:
                run.skipped = (
                    "destructive, and this run made nothing that could be given as "
                    f"{' or '.join(map(repr, guard.missing))}: give it a fixture"
                )
                return None
        try:
            return Values(
                tool,
                self._harvest,
                fixtures[0] if fixtures else None,
                options.values,
                folder=self._folder,
                guard=guard,
                others=self._callable,
            )
        except Unsatisfiable as error:
            run.skipped = f"no arguments satisfy its inputSchema: {error}"
            return None

    def _plan(self, run: ToolRun, values: Values | None) -> Iterator[PlannedCall]:
        options = self.options
        if options.arguments is not None:
            yield PlannedCall(
                name="the given arguments", category="happy_path", arguments=options.arguments, origin="--arguments"
            )
        if values is None:
            return
        more = [
            PlannedCall(name=f"fixture {number}", category="happy_path", arguments=fixture, origin="fixture")
            for number, fixture in enumerate(options.fixtures.get(run.definition.name, ())[1:], start=2)
        ]
        for plan in plan_calls(values, options.seed):
            if plan.category not in FORMATIVE:
                yield from more
                more = []
            yield plan
        yield from more

    async def _probe_transport(self) -> None:
        """Over Streamable HTTP, send the odd requests. Last, because they may break what cannot bear them."""
        options, era = self.options, self.session.era if self.session else "legacy"
        if not isinstance(self.target, HttpTarget) or self.target.kind == "sse":
            return
        if options.transport_checks and options.arguments is None:
            # A server that speaks the modern era may speak the older one as well.
            eras: tuple[Era, ...] = ("legacy", "modern") if options.era == "auto" and era == "modern" else (era,)
            from toolvet.assess.http_probes import HttpProbing  # noqa: PLC0415 - httpx2, for servers over HTTP alone

            self.http = HttpProbing(self.target, eras=eras, timeout=options.timeout)
            await self.http.run()

    async def _send_odd_arguments(self) -> None:
        """Call one reader with `arguments` that are not an object: a server's reaction does not depend on the tool."""
        if self.options.arguments is not None:
            return
        readers = [run for run in self.tools if not run.changes and run.skipped is None and run.calls]
        readers.sort(key=lambda run: not run.definition.required)
        for value in _ODD_ARGUMENTS if readers else ():
            tool = readers[0].definition
            shown = "null" if value is None else "a list"
            intended = IntendedViolation(keyword="type", detail=f"arguments: {shown}")
            plan = PlannedCall(
                name=f"arguments: {shown}", category="error_case", arguments={}, origin="generator", intended=intended
            )
            reply, session = await self.connection.send("tools/call", {"name": tool.name, "arguments": value})
            detail = await self._recover(reply, session) if isinstance(reply, TimedOut | ConnectionLost) else ""
            call = observe(tool, plan, reply, protocol_version=session.protocol_version, detail=detail)
            self.odd_arguments.append(msgspec.structs.replace(call, arguments=value))
            del reply


async def _with_pauses(runs: Sequence[ToolRun]) -> AsyncIterator[ToolRun]:
    """The runs, with pauses in which the deadline and Ctrl-C take effect: judging 20,000 definitions takes seconds."""
    paused = 0.0
    for run in runs:
        if time.perf_counter() - paused >= _WITHOUT_PAUSE:
            await asyncio.sleep(0)
            paused = time.perf_counter()
        yield run


def _return(call: ObservedCall) -> ObservedCall:
    return call


def _do_nothing() -> None:
    """Judges no reply, as long as the first has not come."""
