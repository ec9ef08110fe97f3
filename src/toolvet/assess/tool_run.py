"""One tool of an assessment: whether it is called, its scenarios so far, and what was found."""

from dataclasses import dataclass, field
from typing import Final

from toolvet.assess.excerpt import light
from toolvet.assess.exchange import AssessedScenario, same_scenario, unsent_scenario
from toolvet.assess.plan import PlannedCall
from toolvet.assess.rules import ObservedCall, ToolDefinition, tool_definition
from toolvet.core.redact import SecretMask
from toolvet.findings import Finding

TOO_LARGE: Final = "its definition has more than 1 MiB, which no client can give to a model: all but its name is unread"


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
            self._show_again(plan)
            return
        scenario = unsent_scenario(len(self.scenarios) + 1, plan, self.definition, reason)
        self.scenarios.append(AssessedScenario(scenario))

    def _show_again(self, plan: PlannedCall) -> None:
        calls = ((each.call, each.scenario) for each in self.scenarios if each.call is not None)
        same = (scenario for call, scenario in calls if call.breach is None and call.arguments == plan.arguments)
        made = next(same, None)
        if made is not None:
            self.scenarios.append(AssessedScenario(same_scenario(len(self.scenarios) + 1, plan, made)))


def listed_tool(raw: object, position: int) -> ToolRun:
    """The tool in an entry of a list; one whose entry is too large is not called, and judged by its name alone."""
    entry, is_excerpt = light(raw)
    if not is_excerpt:
        return ToolRun(tool_definition(raw, position))
    read = tool_definition(entry, position)
    stub = {"name": read.name, "description": read.description, "inputSchema": {"type": "object"}}
    return ToolRun(tool_definition(stub, position), skipped=TOO_LARGE)
