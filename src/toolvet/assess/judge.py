"""A tool of a run with its scenarios, and what the rules find in it as soon as its calls are made.

Little is left to do at the end: a run may be ended at any moment (a deadline, Ctrl-C), and its report must then be
there within a second or two.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from typing import Final, Protocol

import msgspec

from toolvet.assess.exchange import (
    MOST_WHOLE,
    AssessedScenario,
    PlannedCall,
    judge_scenario,
    light,
    same_scenario,
    shorten_payload,
    unsent_scenario,
)
from toolvet.assess.reproduce import reproduce_definition, reproduce_server, reproduce_tool, reproduce_transport
from toolvet.assess.requests import AssessedRequest, assess_request
from toolvet.assess.rules import (
    ObservedCall,
    ObservedServer,
    ToolDefinition,
    judge_call,
    judge_calls,
    judge_server,
    judge_tool,
    tool_definition,
)
from toolvet.assess.rules.ending import SAME, Ending, ending, is_explained_by_outage, is_plain, outage_of_call, words_of
from toolvet.assess.rules.item import as_call
from toolvet.assess.rules.message import repeats_an_error
from toolvet.assess.tokens import count_definition
from toolvet.core.contract import Lock
from toolvet.core.redact import SecretMask
from toolvet.core.tool_rules import PROBE_POINTER
from toolvet.errors import ToolvetError, could_not_check
from toolvet.findings import Finding
from toolvet.mcp.transport import Answer, HttpTarget, Reply, Target

TOO_LARGE: Final = "its definition has more than 1 MiB, which no client can give to a model: all but its name is unread"
# Bytes of answers that stay as they came until the end; calls whose answers come later keep what a report shows.
_KEPT_WHOLE: Final = 64 * 1024 * 1024
_LONGEST_READ: Final = 100_000  # Characters of an answer in which a path is looked for.
_DEEP: Final = 3  # Parts of a path that is not everywhere the same: /home is, /home/ann is not.


@dataclass(eq=False)
class ToolRun:
    """One tool of the list and everything known of it so far.

    `skipped` says why it is not called, `changes` whether it may change things (and is called at the user's word),
    `findings` are those about its definition, and `scenarios` grows call by call. `judged` are the findings about the
    calls; None while calls may still be made. `tokens` is what the definition costs a model, about. `is_own` says that
    toolvet made up all values of the calls so far.
    """

    definition: ToolDefinition
    skipped: str | None = None
    changes: bool = False
    scenarios: list[AssessedScenario] = field(default_factory=list[AssessedScenario])
    findings: list[Finding] = field(default_factory=list[Finding])
    judged: list[Finding] | None = None
    tokens: int = 0
    is_own: bool = False

    @property
    def calls(self) -> list[ObservedCall]:
        """The calls that were made, in order."""
        return [scenario.call for scenario in self.scenarios if scenario.call is not None]

    @property
    def masks(self) -> list[SecretMask]:
        """What must not be quoted of the calls."""
        return [scenario.mask for scenario in self.scenarios if scenario.mask]

    def leave_out(self, plan: PlannedCall, reason: str) -> None:
        """Note a scenario that is not sent: with the outcome of the call that was made before, or with the reason."""
        if plan.made:
            calls = ((each.call, each.scenario) for each in self.scenarios if each.call is not None)
            same = (scenario for call, scenario in calls if call.intended is None and call.arguments == plan.arguments)
            made = next(same, None)
            if made is not None:
                self.scenarios.append(AssessedScenario(same_scenario(len(self.scenarios) + 1, plan, made)))
            return
        scenario = unsent_scenario(len(self.scenarios) + 1, plan, self.definition, reason)
        self.scenarios.append(AssessedScenario(scenario))


class Skippable(Protocol):
    """A tool, an item or a whole run: `skipped` says why it was not checked."""

    skipped: str | None


class CostsOnly:
    """Lets an exception of a check, which is a bug of ours, cost `part` only, which says so; the rest goes on."""

    def __init__(self, part: Skippable) -> None:
        self._part = part

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        if not isinstance(error, Exception) or isinstance(error, ToolvetError):
            return False
        self._part.skipped = could_not_check(error)
        return True


def listed_tool(raw: object, position: int, lock: Lock | None = None) -> ToolRun:
    """The tool in an entry of a list, with its contract in the lock.

    One whose entry is too large is not called, and judged by its name alone.
    """
    tool = ToolRun(ToolDefinition(raw={}, name="", position=position))
    with CostsOnly(tool):
        entry, is_excerpt = light(raw)
        read = tool_definition(entry, position)
        if lock is not None:
            read = msgspec.structs.replace(read, contract=lock.contract_of(read.name))
        if not is_excerpt:
            return ToolRun(read, tokens=count_definition(raw))
        stub = {"name": read.name, "description": read.description, "inputSchema": {"type": "object"}}
        return ToolRun(tool_definition(stub, position), skipped=TOO_LARGE, tokens=count_definition(raw))
    return tool


class RunJudge:
    """Judges the tools and calls of one run; `paths` are the absolute paths that the server has from the caller."""

    def __init__(self, target: Target) -> None:
        # The absolute paths that the server has from the caller: the working folder, its arguments and variables.
        given: tuple[str, ...] = ()
        if not isinstance(target, HttpTarget):
            given = (target.cwd or str(Path.cwd()), *target.args, *(target.env or {}).values())
        self.paths = tuple(path for path in given if Path(path).is_absolute() and path.strip("/"))
        self._target = target
        self._bytes = 0

    def take_definition(self, tool: ToolRun) -> None:
        """Judge how a tool is defined."""
        found = judge_tool(tool.definition)
        tool.findings.extend(_with_command(found, reproduce_definition(self._target, tool.definition.name)))

    def weigh(self, reply: Reply) -> None:
        """Count the bytes of an answer that is about to be kept; of a larger one only an excerpt is."""
        if isinstance(reply, Answer):
            self._bytes += min(len(reply.raw), MOST_WHOLE)

    def take_calls(self, tool: ToolRun) -> None:
        """Judge the calls of a tool, all of which have been made."""
        tool.judged = list(self._judge_calls(tool))
        if self._bytes > _KEPT_WHOLE:
            tool.scenarios = [
                replace(item, call=msgspec.structs.replace(item.call, result=shorten_payload(item.call.result)))
                if item.call is not None
                else item
                for item in tool.scenarios
            ]

    def excuse(self, tools: Sequence[ToolRun], asked: Iterable[list[AssessedRequest]] = ()) -> None:
        """Drop findings that other tools of the server explain; call it when all calls have been made.

        A path that a successful answer contains is not a leak. If a tool, a resource or a prompt reports an outage of
        the network, it also explains the timeouts and unclear errors of those that never succeeded. `asked` are the
        requests about each resource, template or prompt.
        """
        items = [requests for requests in asked if any(each.request.is_valid for each in requests)]
        calls = [call for tool in tools for call in tool.calls]
        successes = [words_of(call)[:_LONGEST_READ] for call in calls if ending(call) is Ending.SUCCESS]
        # As in `environment-outage`: an answer that calls itself a success may not be an outage.
        said = [call for call in calls if ending(call) is not Ending.UNFLAGGED_ERROR]
        said += [as_call(each.request) for requests in items for each in requests if each.request.error is not None]
        outages = map(outage_of_call, said)
        is_cut_off = any(missing is not None and missing.kind in {"host", "service"} for missing in outages)
        for tool in tools:
            tool.judged = tool.judged and [found for found in tool.judged if not _is_told(found, successes)]
            failed = is_cut_off and not any(ending(call) is Ending.SUCCESS for call in tool.calls)
            for position, item in enumerate(tool.scenarios if failed else ()):
                if item.call is not None and is_explained_by_outage(item.call):
                    call = msgspec.structs.replace(item.call, outage_nearby=True)
                    passed, note = judge_scenario(call)
                    scenario = msgspec.structs.replace(item.scenario, passed=passed, note=note, outage=True)
                    tool.scenarios[position] = replace(item, scenario=scenario, call=call)
                    tool.judged = None
        for requests in items if is_cut_off else ():
            if any(each.request.is_valid and each.request.succeeded for each in requests):
                continue
            for position, each in enumerate(requests):
                if is_explained_by_outage(as_call(each.request)):
                    request = msgspec.structs.replace(each.request, outage_nearby=True)
                    requests[position] = assess_request(each.plan, request, 0, request.known_paths)

    def find_in_tool(self, tool: ToolRun) -> Iterator[Finding]:
        """The findings about a tool; where the run ended between its calls, about those that were made."""
        yield from tool.findings
        yield from self._judge_calls(tool) if tool.judged is None else tool.judged

    def find_in_server(self, seen: ObservedServer, masks: Iterable[SecretMask]) -> Iterator[Finding]:
        """The findings about the server as a whole; `masks` are those of its calls."""
        for finding in _masked(judge_server(seen), SecretMask.joined(masks)):
            command = reproduce_tool(self._target, finding.tool) if finding.tool else reproduce_server(self._target)
            if finding.pointer.startswith(PROBE_POINTER):
                command = reproduce_transport(self._target)
            yield from _with_command([finding], command)

    def _judge_calls(self, tool: ToolRun) -> Iterator[Finding]:
        valid = [call for call in tool.calls if is_plain(call)]
        for item in tool.scenarios:
            if item.call is not None:
                repeats = repeats_an_error(item.call, valid)
                call = msgspec.structs.replace(item.call, known_paths=self.paths, repeats=repeats)
                found = _masked(judge_call(call), item.mask)
                yield from _with_command(found, item.scenario.reproduce, item.scenario.id)
        if tool.scenarios:
            found = _masked(judge_calls(tool.definition, tool.calls), SecretMask.joined(tool.masks))
            name = tool.definition.name
            command = reproduce_tool(self._target, name, *(("--include", name) if tool.changes else ()))
            yield from _with_command(found, command)


def _is_told(finding: Finding, answers: Sequence[str]) -> bool:
    """Whether a finding is about a path that an answer contains as a whole, or below a folder that it contains."""
    leak = PurePath(finding.cause.removeprefix(f"{SAME}path ") if finding.id == "path-leaked" else "")
    paths = [re.escape(str(path)) for path in (leak, *leak.parents) if len(path.parts) >= _DEEP]
    whole = re.compile(rf"(?<![\w/.-])(?:{'|'.join(paths)})(?![\w.-])")
    return bool(paths) and any(whole.search(answer) for answer in answers)


def _masked(findings: Iterable[Finding], mask: SecretMask) -> Iterator[Finding]:
    for finding in findings:
        message, evidence, cause = (mask.text(words) for words in (finding.message, finding.evidence, finding.cause))
        yield msgspec.structs.replace(finding, message=message, evidence=evidence, cause=cause) if mask else finding


def _with_command(findings: Iterable[Finding], command: str, scenario: str | None = None) -> Iterator[Finding]:
    for finding in findings:
        yield msgspec.structs.replace(finding, reproduce=command, scenario=scenario)
