"""A result → what the model is to know beside it; None: nothing."""

from toolvet.agents.hook.dialect import HookAnswer, HookEvent
from toolvet.core.checks import ResultCheck
from toolvet.core.json_value import is_array
from toolvet.proxy.session import Policy


def after(event: HookEvent, definition: object, policy: Policy, check: ResultCheck) -> HookAnswer | None:
    """Judge a result; an answer only where it is an error that does not say so."""
    if policy.results == "off" or event.failed or event.result is None:
        return None
    verdict = check(definition, event.arguments, _as_result(event.result))
    if not verdict.error_without_flag:
        return None
    state = f" ({verdict.state})" if verdict.state is not None else ""
    return HookAnswer(
        "context",
        f"toolvet: this result of {event.tool[:120]} reports a failure{state}, although it is not marked as an error."
        " Do not go on as if the call had worked.",
    )


def _as_result(result: object) -> object:
    return {"content": result} if is_array(result) else result
