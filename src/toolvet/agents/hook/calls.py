"""A call before it is made, or its result → what the client is to do; None: nothing."""

from typing import TYPE_CHECKING, Final

from toolvet.agents.hook.dialect import HookAnswer, HookEvent
from toolvet.core.json_value import is_array, is_object
from toolvet.proxy.session import Policy

if TYPE_CHECKING:
    from toolvet.core.checks import ResultCheck

_MOST_TEXT: Final = 6_000
_CONFIDENCES: Final = ("low", "medium", "high")


def before(event: HookEvent, definition: object, policy: Policy, *, merges: bool = False) -> HookAnswer | None:
    """Check the arguments of a call whose tool is known; `merges` is a client that keeps members of the old arguments.

    Total: a definition that cannot be read and arguments that cannot be checked pass.
    """
    if policy.arguments != "enforce":
        return None
    from toolvet.core.checks import check_arguments  # noqa: PLC0415 - a result needs none of it

    arguments: object = dict[str, object]() if event.arguments is None else event.arguments
    report = check_arguments(definition, arguments, unchecked="pass")
    if report.valid:
        return None
    if (
        policy.repair == "apply"
        and (repair := report.repair) is not None
        and _CONFIDENCES.index(repair.confidence) >= _CONFIDENCES.index(policy.repair_from)
    ):
        repaired = repair.arguments
        if is_object(repaired) and not (merges and is_object(arguments) and not set(arguments) <= set(repaired)):
            return HookAnswer("update", arguments=repaired)
    shown = report if policy.repair != "off" else report.without_repair()
    return HookAnswer("deny", shown.to_text(max_chars=_MOST_TEXT))


def after(event: HookEvent, definition: object, policy: Policy, check: "ResultCheck") -> HookAnswer | None:
    """Judge a result; return an answer only if it reports a failure but is not marked as an error."""
    if policy.results == "off" or event.failed or event.result is None:
        return None
    result = {"content": event.result} if is_array(event.result) else event.result
    verdict = check(definition, event.arguments, result)
    if not verdict.error_without_flag:
        return None
    state = f" ({verdict.state})" if verdict.state is not None else ""
    return HookAnswer(
        "context",
        f"toolvet: this result of {event.tool[:120]} reports a failure{state}, although it is not marked as an error."
        " Do not go on as if the call had worked.",
    )
