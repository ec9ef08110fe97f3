"""The answer to a call: judged, and changed where a policy says so. What is not changed stays as it stood."""

from collections.abc import Mapping
from typing import cast

import msgspec

from toolvet.checks.result import Classification, ResultVerdict, Retry, check_result
from toolvet.schema.json_value import elements, is_object, members
from toolvet.session.breaker import Breaker
from toolvet.session.call import REPAIR_KEY, VERDICT_KEY, PendingCall
from toolvet.session.catalogue import KnownTool
from toolvet.session.note import CallEnded, Change, Outcome, Reason
from toolvet.session.splice import Raws, closed, member, opened, raw
from toolvet.wire import ErrorReply, Result

_COMPLETE = (None, "complete")


class JudgedReply(msgspec.Struct, frozen=True, gc=False):
    """What goes to the client, and what the record is told."""

    data: bytes
    note: CallEnded


class _JudgedResult(msgspec.Struct, frozen=True):
    """What is known of a result once it was looked at."""

    outcome: Outcome
    result: object = None
    verdict: ResultVerdict | None = None
    unjudged: str | None = None
    breach: str | None = None
    blocked: Reason | None = None
    why: str = ""


_NOTHING = _JudgedResult("success")


def judged_result(call: PendingCall, tool: KnownTool | None, message: Result, breaker: Breaker) -> JudgedReply:
    """A result: what the policy wants of it."""
    found = _looked_at(call, tool, message)
    _count(call, tool, found, breaker)
    data = message.raw
    changed: tuple[Change, ...] = ()
    if found.blocked or call.repaired is not None or call.wants_verdict:
        data, changed = _changed(call, message, found)
    outcome: Outcome = "tool_error" if "is_error" in changed else found.outcome
    return JudgedReply(data, ended(call, outcome, found, changed=changed, size=len(message.raw)))


def judged_error(call: PendingCall, message: ErrorReply, breaker: Breaker) -> JudgedReply:
    """A protocol error; it always passes as it is."""
    verdict = None
    if call.policy.results != "off":
        error = {"code": message.code, "message": message.message}
        verdict = check_result({"name": call.tool}, call.arguments, error)
    found = _JudgedResult("protocol_error", verdict=verdict)
    _count(call, None, found, breaker)
    return JudgedReply(message.raw, ended(call, "protocol_error", found, code=message.code, size=len(message.raw)))


def ended(
    call: PendingCall,
    outcome: Outcome,
    found: _JudgedResult | None = None,
    *,
    blocked: Reason | None = None,
    why: str = "",
    changed: tuple[Change, ...] = (),
    code: int | None = None,
    size: int = 0,
) -> CallEnded:
    """The note on a call that is over."""
    policy = call.policy
    if found is None:
        found = _NOTHING
    keeps = policy.record == "calls"
    return CallEnded(
        call.number,
        call.id,
        call.tool,
        call.era,
        outcome,
        found.verdict,
        found.unjudged,
        call.issues,
        call.repaired,
        blocked or found.blocked,
        call.would_block,
        why or found.why or call.why,
        changed if call.repaired is None else ("repair", *changed),
        code,
        size,
        call.arguments if keeps else None,
        found.result if keeps else None,
        policy.redact,
        call.meta,
    )


def _looked_at(call: PendingCall, tool: KnownTool | None, message: Result) -> _JudgedResult:
    """Decoded only if somebody wants to know, and only if it is not too large."""
    policy = call.policy
    size = len(message.raw)
    has_promise = policy.output_schema != "off" and tool is not None and tool.promises_output
    if policy.results == "off" and not has_promise and not call.wants_verdict:
        return _glanced_at(message)
    if policy.results == "enforce" and size > policy.max_result_bytes:
        why = f"the result has {size} bytes, and the limit is {policy.max_result_bytes}"
        return _JudgedResult("success", unjudged=why, blocked="limits", why=why)
    if size > policy.max_judged_bytes:
        return _JudgedResult("success", unjudged=f"{size} bytes are more than are judged")
    result = _decoded(message)
    if not is_object(result):
        return _JudgedResult("unreadable", result, unjudged="the result is no object")
    kind = result.get("resultType")
    if kind == "input_required":
        return _JudgedResult("input_required", result)
    if kind == "task" or (call.is_task and is_object(result.get("task"))):
        return _JudgedResult("task", result)
    if kind not in _COMPLETE:
        return _JudgedResult("success", result, unjudged=f"nothing is known of the resultType {str(kind)[:40]!r}")
    verdict = check_result(_definition(call, tool, has_promise=has_promise), call.arguments, result)
    return _weighed(call, result, verdict)


def _decoded(message: Result) -> object:
    """The result; None for what is no JSON. Not through `Result.result`, which remembers it at twice the price."""
    try:
        return cast("object", _ANY.decode(message.body))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


_ANY = msgspec.json.Decoder()


def _definition(call: PendingCall, tool: KnownTool | None, *, has_promise: bool) -> Mapping[str, object]:
    if tool is None:
        return {"name": call.tool}
    return tool.definition if has_promise else tool.without_output_schema


def _weighed(call: PendingCall, result: object, verdict: ResultVerdict) -> _JudgedResult:
    """What the policies make of a verdict."""
    policy = call.policy
    outcome: Outcome = "tool_error" if verdict.is_error else "success"
    promise = verdict.metadata.output_schema_validation
    breach = promise.error if promise is not None and not promise.is_valid else None
    blocked: Reason | None = None
    why = breach or ""
    if policy.results == "enforce" and (verdict.error_without_flag or verdict.classification is Classification.BROKEN):
        blocked, why = "result", verdict.issues[0]
    elif breach is not None and policy.output_schema == "enforce":
        blocked = "output_schema"
    return _JudgedResult(outcome, result, verdict, None, breach, blocked, why)


def _glanced_at(message: Result) -> _JudgedResult:
    """Whether it is a plain success, found out without decoding it where that is possible."""
    data = message.raw
    if b'"isError"' not in data and b'"input_required"' not in data and b'"task"' not in data:
        return _JudgedResult("success")
    result = members(_decoded(message))
    if result.get("isError") is True:
        return _JudgedResult("tool_error", result)
    kind = result.get("resultType")
    if kind == "input_required":
        return _JudgedResult("input_required", result)
    return _JudgedResult("task" if kind == "task" or is_object(result.get("task")) else "success", result)


def _count(call: PendingCall, tool: KnownTool | None, found: _JudgedResult, breaker: Breaker) -> None:
    """Tell the breaker. What may work later (a timeout, a rate limit) is no reason to break anything."""
    if not call.policy.break_after or found.unjudged is not None:
        return
    verdict = found.verdict
    failed = found.outcome in ("tool_error", "protocol_error") or (verdict is not None and verdict.error_without_flag)
    if not failed:
        if found.outcome == "success":
            breaker.succeeded(call.tool, call.arguments, changes_things=tool is None or not tool.read_only)
    elif verdict is None or verdict.retry is not Retry.BACKOFF:
        breaker.failed(call.tool, call.arguments)


def _changed(call: PendingCall, message: Result, found: _JudgedResult) -> tuple[bytes, tuple[Change, ...]]:
    """The message with what has to be added or replaced; as it came, if that is nothing."""
    notes: dict[str, object] = {}
    if call.repaired is not None:
        notes[REPAIR_KEY] = call.repaired
    changed: list[Change] = []
    if call.wants_verdict and (found.verdict is not None or found.unjudged is not None):
        changed.append("verdict")
        notes[VERDICT_KEY] = {"unjudged": found.unjudged} if found.verdict is None else found.verdict.to_dict()
    # A result that was too large to be decoded can still be an object; what is none carries no `_meta`.
    if (found.blocked is None and not notes) or not bytes(message.body).startswith(b"{"):
        return message.raw, ()
    whole = opened(message.raw)
    result = member(whole, "result")
    if found.blocked is not None:
        changed += _blocked(call, result, found)
    if notes:
        result["_meta"] = raw({**member(result, "_meta"), **notes})
    whole["result"] = raw(result)
    return closed(whole), tuple(changed)


def _blocked(call: PendingCall, result: Raws, found: _JudgedResult) -> list[Change]:
    """Replace what must not pass; the text of a result that only breaks its schema stays readable."""
    result["isError"] = raw(True)  # noqa: FBT003 - a JSON value
    verdict = found.verdict
    if found.blocked == "result" and verdict is not None and verdict.error_without_flag:
        return ["is_error"]
    if found.blocked == "output_schema":
        lead = (
            f"The result of '{call.tool}' breaks the tool's own outputSchema, so its structured content was held back. "
            f"{found.why}"
        )
    elif found.blocked == "limits":
        lead = f"The result of '{call.tool}' was held back: {found.why}. Ask for less."
    else:
        lead = f"'{call.tool}' sent no usable result: {found.why}."
    kept = elements(members(found.result).get("content")) if found.blocked == "output_schema" else ()
    result["content"] = raw([{"type": "text", "text": lead}, *kept])
    had = result.pop("structuredContent", None) is not None
    return ["is_error", "content", "structured_content"] if had else ["is_error", "content"]
