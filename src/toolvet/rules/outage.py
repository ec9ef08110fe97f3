"""Outages: answers that are about the surroundings of a server, which no argument and no author can change in a call.

    answer    "Tool execution failed: No project specified. Set KANBAN_PROJECT_DIR env var in MCP config"
    missing   "KANBAN_PROJECT_DIR", a variable (`checks.result.outage_of`)

Twelve tools that say this have one cause, and it is reported once, for the server (`catalog/environment_outage.py`).
"""

from typing import Literal, TypeAlias

import msgspec

from toolvet.checks.result import State, outage_of
from toolvet.rules.ending import ERRORS_IN_WORDS, OUTAGES, ending, is_bad, verdict_of, words_of
from toolvet.rules.subject import ObservedCall

MissingKind: TypeAlias = Literal["variable", "program", "host", "credential", "service"]


class Missing(msgspec.Struct, frozen=True):
    """What an outage says is missing: a `kind`, and its `name` if the text has one, else ""."""

    kind: MissingKind
    name: str = ""

    def __str__(self) -> str:
        """The words of a report: "the variable KANBAN_PROJECT_DIR", "a service"."""
        return f"the {self.kind} {self.name}" if self.name else f"a {self.kind}"


def outage_of_call(call: ObservedCall) -> Missing | None:
    """Return what the surroundings lack by the answer to `call`; None for a success and for any other error.

    A refusal for missing credentials counts only on arguments that the schema allows: it was the first thing that the
    tool looked at.
    """
    verdict = verdict_of(call)
    if verdict is None or ending(call) not in ERRORS_IN_WORDS:
        return None
    outage = outage_of(words_of(call))
    if outage is not None and not (outage.kind.value == "variable" and outage.subject in str(call.arguments)):
        return Missing(outage.kind.value, outage.subject)
    if verdict.state is State.UNAUTHORIZED and not is_bad(call):
        return Missing("credential")
    return Missing("service") if verdict.state in OUTAGES else None
