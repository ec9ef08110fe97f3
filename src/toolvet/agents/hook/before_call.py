"""A call before it is made → what the client is to do; None: nothing."""

from typing import Final

from toolvet.agents.hook.dialect import HookAnswer, HookEvent
from toolvet.core.checks import ArgumentReport, check_arguments
from toolvet.core.json_value import is_object
from toolvet.proxy.session import Policy

_MOST_TEXT: Final = 6_000
_CONFIDENCES: Final = ("low", "medium", "high")


def before(event: HookEvent, definition: object, policy: Policy, *, merges: bool = False) -> HookAnswer | None:
    """Check the arguments of a call whose tool is known; `merges` is a client that keeps members of the old arguments.

    Total: a definition that cannot be read and arguments that cannot be checked pass.
    """
    if policy.arguments != "enforce":
        return None
    arguments: object = dict[str, object]() if event.arguments is None else event.arguments
    report = check_arguments(definition, arguments, unchecked="pass")
    if report.valid:
        return None
    repaired = _repaired(report, policy)
    if is_object(repaired) and not (merges and is_object(arguments) and not set(arguments) <= set(repaired)):
        return HookAnswer("update", arguments=repaired)
    shown = report if policy.repair != "off" else report.without_repair()
    return HookAnswer("deny", shown.to_text(max_chars=_MOST_TEXT))


def _repaired(report: ArgumentReport, policy: Policy) -> object:
    if policy.repair != "apply":
        return None
    repair = report.repair
    if repair is None or _CONFIDENCES.index(repair.confidence) < _CONFIDENCES.index(policy.repair_from):
        return None
    return repair.arguments
