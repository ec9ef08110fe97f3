"""A tool of a run with its scenarios, and what the rules find in it as soon as its calls are made.

Little is left to do at the end: a run may be ended at any moment (a deadline, Ctrl-C), and its report must then be
there within a second or two.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol

import msgspec

from toolvet.assess.exchange import (
    MOST_WHOLE,
    AssessedScenario,
    PlannedCall,
    light,
    same_scenario,
    shorten_payload,
    unsent_scenario,
)
from toolvet.assess.reproduce import reproduce_definition, reproduce_server, reproduce_tool, reproduce_transport
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
from toolvet.core.redact import SecretMask
from toolvet.core.tool_rules import PROBE_POINTER
from toolvet.errors import ToolvetError, could_not_check
from toolvet.findings import Finding
from toolvet.mcp.transport import Answer, HttpTarget, Reply, Target

TOO_LARGE: Final = "its definition has more than 1 MiB, which no client can give to a model: all but its name is unread"
# Bytes of answers that stay as they came until the end; calls whose answers come later keep what a report shows.
_KEPT_WHOLE: Final = 64 * 1024 * 1024


@dataclass(eq=False)
class ToolRun:
    """One tool of the list and all that is known of it so far.

    `skipped` says why it is not called, `changes` whether it may change things (and is called at the user's word),
    `findings` are those about its definition, and `scenarios` grows call by call. `judged` are the findings about the
    calls; None while calls may still be made.
    """

    definition: ToolDefinition
    skipped: str | None = None
    changes: bool = False
    scenarios: list[AssessedScenario] = field(default_factory=list[AssessedScenario])
    findings: list[Finding] = field(default_factory=list[Finding])
    judged: list[Finding] | None = None

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


def listed_tool(raw: object, position: int) -> ToolRun:
    """The tool in an entry of a list; one whose entry is too large is not called, and judged by its name alone."""
    tool = ToolRun(ToolDefinition(raw={}, name="", position=position))
    with CostsOnly(tool):
        entry, is_excerpt = light(raw)
        read = tool_definition(entry, position)
        if not is_excerpt:
            return ToolRun(read)
        stub = {"name": read.name, "description": read.description, "inputSchema": {"type": "object"}}
        return ToolRun(tool_definition(stub, position), skipped=TOO_LARGE)
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
        for item in tool.scenarios:
            if item.call is not None:
                call = msgspec.structs.replace(item.call, known_paths=self.paths)
                found = _masked(judge_call(call), item.mask)
                yield from _with_command(found, item.scenario.reproduce, item.scenario.id)
        if tool.scenarios:
            found = _masked(judge_calls(tool.definition, tool.calls), SecretMask.joined(tool.masks))
            yield from _with_command(found, reproduce_tool(self._target, tool.definition.name))


def _masked(findings: Iterable[Finding], mask: SecretMask) -> Iterator[Finding]:
    for finding in findings:
        message, evidence, cause = (mask.text(words) for words in (finding.message, finding.evidence, finding.cause))
        yield msgspec.structs.replace(finding, message=message, evidence=evidence, cause=cause) if mask else finding


def _with_command(findings: Iterable[Finding], command: str, scenario: str | None = None) -> Iterator[Finding]:
    for finding in findings:
        yield msgspec.structs.replace(finding, reproduce=command, scenario=scenario)
