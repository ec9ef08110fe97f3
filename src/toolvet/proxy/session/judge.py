"""Judges the answer to a call and changes it where a policy says so; all other members stay byte for byte.

An answer that toolvet gives in place of a tool gets a verdict too: what was stopped, why, and whose fault it is.

    refused arguments → business, invalid_input; retry: fix_arguments
    a dead server     → tool_failure, unavailable; retry: backoff

The state comes from the table of causes (`[stopped]` in `causes.toml`).

The session's own answers in the shape of the tool's other results: as an envelope (response-v2) where those are.

A tool's results are envelopes where an earlier one was, or where its `outputSchema` asks for one. A client can also ask
for envelopes, for all calls or for one, and for the contract that the text follows:

    capabilities.experimental.response_contract_v2        in `initialize`, or in the `_meta` of a request (2026-07-28)
    _meta["dev.toolvet/contract"] = "v2"                  in a call; "v1" asks for the bare payload as text
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

import msgspec

from toolvet.core.causes import Retry, State, cause_of, state_of_stop
from toolvet.core.checks import ArgumentReport, Classification, ResultCheck, ResultVerdict, contract_drift
from toolvet.core.json_value import elements, is_object, members
from toolvet.core.meta import MCP_META_PREFIX, META_PREFIX
from toolvet.core.poison import result_steering
from toolvet.core.redact import SecretMask
from toolvet.core.schema import compiled
from toolvet.core.tools import ToolView, has_outputs, read_outputs
from toolvet.errors import EnvelopeError
from toolvet.mcp.wire import (
    ErrorReply,
    Raws,
    Result,
    encode_error,
    encode_members,
    encode_raw,
    parse,
    split_member,
    split_members,
)
from toolvet.proxy.session.catalogue import Catalogue, KnownTool
from toolvet.proxy.session.pending import REPAIR_KEY, VERDICT_KEY, PendingCall
from toolvet.proxy.session.repeats import goes_on, says_no_tool
from toolvet.proxy.session.step import CallEnded, Change, Outcome, Reason
from toolvet.proxy.session.trace import TRACE_KEY

if TYPE_CHECKING:
    from toolvet.core.envelope import Envelope


Stop: TypeAlias = Literal[
    "arguments",  # refused: they break the tool's schema
    "limits",  # refused: they are too large or nested too deeply
    "repeated",  # refused: the same call failed too often in a row
    "unchanged",  # refused: the same calls brought the same results again and again
    "server_validation",  # refused: the server's own validator says no
    "definition",  # refused: the tool is not what the lock says, or its texts steer the model
    "interceptor",  # refused or held back: an interceptor blocks the message
    "result",  # held back: not a usable result
    "output_schema",  # held back: structured content that breaks the outputSchema
    "contract",  # held back: a result that leaves its contract in the lock
    "steering",  # held back: a text that steers the model
    "large_result",  # held back: too large
    "unanswered",  # the server ended, or cannot be reached
]
"""Why toolvet answers in place of a tool."""

_COMPLETE: Final = (None, "complete")
_VAGUE: Final = (None, State.UNKNOWN, State.INTERNAL)
_SAYS: Final[Mapping[Stop, str]] = {
    "arguments": "Refused by toolvet, not sent to the server: the arguments are wrong",
    "limits": "Refused by toolvet, not sent to the server: the arguments are beyond a limit",
    "repeated": "Refused by toolvet, not sent to the server: the same call failed too often in a row",
    "unchanged": "Refused by toolvet, not sent to the server: the last calls brought nothing new",
    "server_validation": "Refused by toolvet, not called: the server's own validator says that it is wrong",
    "definition": "Refused by toolvet, not sent to the server: the tool's definition is held back",
    "interceptor": "Answered by toolvet, because an interceptor blocked the message",
    "result": "Held back by toolvet, because the server sent no usable result",
    "output_schema": "Held back by toolvet, because the structured content breaks the tool's outputSchema",
    "contract": "Held back by toolvet, because the result leaves the tool's contract",
    "steering": "Held back by toolvet, because the result steers the model",
    "large_result": "Held back by toolvet, because the result is beyond a limit",
    "unanswered": "Answered by toolvet, because the server did not",
}


class JudgedReply(msgspec.Struct, frozen=True, gc=False):
    """The answer for the client, and the note for the record."""

    data: bytes
    note: CallEnded


class _JudgedResult(msgspec.Struct, frozen=True):
    """The findings on a result. `violation` says how it breaks the tool's outputSchema, `why` explains `blocked`.

    `said` is the text of a protocol error. With `is_own`, all text is toolvet's, and nothing of the call is in it.
    """

    outcome: Outcome
    result: object = None
    verdict: ResultVerdict | None = None
    unjudged: str | None = None
    violation: str | None = None
    blocked: Reason | None = None
    why: str = ""
    said: str = ""
    is_own: bool = False


_NOTHING: Final = _JudgedResult("success")
_UNREAD: Final = ResultVerdict(is_valid=False, is_error=False, classification=Classification.BROKEN, confidence=0)
_ANY: Final = msgspec.json.Decoder()
_NO_SECRETS: Final = SecretMask()


def judge_result(
    call: PendingCall, tool: KnownTool | None, message: Result, catalogue: Catalogue, check: ResultCheck
) -> JudgedReply:
    """Judge a result as the policy of its call says. `tool` is None if the tool is not known."""
    found = _inspect(call, tool, message, check)
    _count(call, tool, found, catalogue, message)
    data = message.raw
    changed: tuple[Change, ...] = ()
    if found.blocked or call.repaired is not None or call.wants_notes:
        data, changed = _change(call, message, found, catalogue)
    if call.policy.fit and catalogue.result_cache is not None and found.outcome in ("success", "tool_error"):
        from toolvet.proxy.session.fit import FitRoom, fit_result  # noqa: PLC0415 - most policies shorten nothing

        data, shortened = fit_result(
            data, FitRoom.of(call.policy.fit), tool, catalogue.result_cache, catalogue.retrieval_tool
        )
        changed = tuple(dict.fromkeys((*changed, *shortened)))
    outcome: Outcome = "tool_error" if "is_error" in changed else found.outcome
    return JudgedReply(data, end_call(call, outcome, found, changed=changed, size=len(message.raw)))


def judge_error(call: PendingCall, message: ErrorReply, catalogue: Catalogue, check: ResultCheck) -> JudgedReply:
    """Judge a protocol error, which always passes unchanged."""
    verdict = None
    if call.policy.results != "off":
        error = {"code": message.code, "message": message.message}
        verdict = check({"name": call.tool}, call.arguments, error, shape="mcp")
    found = _JudgedResult("protocol_error", verdict=verdict, said=message.message)
    _count(call, None, found, catalogue)
    return JudgedReply(message.raw, end_call(call, "protocol_error", found, code=message.code, size=len(message.raw)))


def judge_unanswered(
    call: PendingCall,
    message: ErrorReply,
    check: ResultCheck,
    stop: Stop = "unanswered",
    prepared: dict[str, ResultVerdict] | None = None,
) -> JudgedReply:
    """Judge an error of the proxy's own, in place of the server's answer. Its `data` gets the trace id.

    `prepared` keeps the verdict of each tool, for many calls that get the same words, all of them our own.
    """
    verdict = None if prepared is None else prepared.get(call.tool)
    if verdict is None:
        error = {"code": message.code, "message": message.message}
        verdict = judge_own_answer(stop, message.message, tool=call.tool, result=error, check=check)
        if prepared is not None:
            prepared[call.tool] = verdict
    notes = own_notes(call, verdict)
    data = encode_error(call.id, message.code, message.message, {**members(message.data), **notes})
    found = _JudgedResult("protocol_error", verdict=verdict, why=message.message, is_own=prepared is not None)
    return JudgedReply(data, end_call(call, "protocol_error", found, code=message.code, size=len(data)))


def end_unjudged(call: PendingCall, why: str, size: int) -> CallEnded:
    """Return the note for a call whose answer passed unread; `size` is in bytes."""
    return end_call(call, "success", _JudgedResult("success", unjudged=why), size=size)


def end_unchecked(call: PendingCall, outcome: Outcome, blocked: Reason | None = None, size: int = 0) -> CallEnded:
    """Return the note for a call where a check raised an exception. It quotes nothing, and needs no mask of secrets."""
    return CallEnded(
        call.number,
        call.id,
        call.tool,
        call.era,
        outcome,
        unjudged="could not be checked",
        blocked=blocked,
        size=size,
        meta=call.meta,
        traces=call.traces,
    )


def own_notes(call: PendingCall, verdict: ResultVerdict) -> dict[str, object]:
    """Return the members of `_meta` in an answer of our own: the trace id, and the verdict if it is asked for."""
    trace_id = call.trace_id
    notes: dict[str, object] = {TRACE_KEY: trace_id}
    if call.wants_verdict:
        notes[VERDICT_KEY] = {**verdict.to_dict(), "trace_id": trace_id}
    return notes


def end_own(
    call: PendingCall,
    outcome: Outcome,
    verdict: ResultVerdict,
    *,
    blocked: Reason | None = None,
    why: str = "",
    size: int = 0,
) -> CallEnded:
    """Return the note for a call that was answered by us."""
    found = _JudgedResult(outcome, verdict=verdict, blocked=blocked, why=why)
    return end_call(call, outcome, found, size=size)


def end_call(
    call: PendingCall,
    outcome: Outcome,
    found: _JudgedResult | None = None,
    *,
    why: str = "",
    changed: tuple[Change, ...] = (),
    code: int | None = None,
    size: int = 0,
) -> CallEnded:
    """Return the note for a call that ended; the keywords are fields of the note, in place of what was found."""
    policy = call.policy
    if found is None:
        found = _NOTHING
    verdict = found.verdict
    quotes_result = verdict is not None and (
        verdict.is_error
        or not verdict.is_valid
        or verdict.error_without_flag
        or bool(verdict.factors or verdict.leaks or verdict.metadata.warnings)
    )
    # Most notes quote nothing of the arguments and the answer, and need no look for their secrets.
    mask = _NO_SECRETS
    quotes_found = (quotes_result or found.why or found.unjudged) and not found.is_own
    if quotes_found or call.why or call.issues or call.repaired or (found.is_own and "calls" in policy.record):
        mask = SecretMask.learned(call.arguments, found.result, found.said)
    # With more values in one call CPython builds a dict for them, which costs a microsecond.
    note = CallEnded(
        call.number,
        call.id,
        call.tool,
        call.era,
        outcome,
        verdict,
        unjudged=found.unjudged,
        issues=call.issues,
        repaired=call.repaired,
        blocked=found.blocked,
        would_block=call.would_block,
        why=why or found.why or call.why,
        changed=changed if call.repaired is None else ("repair", *changed),
        code=code,
        size=size,
        hidden=policy.redact,
        mask=mask,
        meta=call.meta,
        traces=call.traces,
    )
    if policy.record in ("calls", "required_calls"):
        return msgspec.structs.replace(note, arguments=call.arguments, result=found.result)
    return note


def _inspect(call: PendingCall, tool: KnownTool | None, message: Result, check: ResultCheck) -> _JudgedResult:
    """Judge a result. It is decoded only if the policy needs that, and only if it is not too large."""
    policy = call.policy
    size = len(message.raw)
    has_promise = policy.output_schema != "off" and tool is not None and tool.promises_output
    is_looked_at = has_promise or call.contract is not None or call.wants_verdict
    if policy.results == "off" and policy.steering != "hold" and not is_looked_at:
        return _skim(message)
    if policy.results == "enforce" and size > policy.max_result_bytes:
        why = f"the result has {size} bytes, and the limit is {policy.max_result_bytes}"
        verdict = stopped_verdict("large_result", why, _UNREAD)
        return _JudgedResult("success", verdict=verdict, unjudged=why, blocked="limits", why=why)
    if size > policy.max_judged_bytes:
        return _JudgedResult("success", unjudged=f"{size} bytes are more than are judged")
    result = _decode(message)
    if not is_object(result):
        return _JudgedResult("unreadable", result, unjudged="the result is not an object")
    if tool is not None and tool.unread_form:
        tool.note_form(envelope_form(result))
    kind = result.get("resultType")
    if kind == "input_required":
        return _JudgedResult("input_required", result)
    if kind == "task" or (call.is_task and is_object(result.get("task"))):
        return _JudgedResult("task", result)
    if kind not in _COMPLETE:
        return _JudgedResult("success", result, unjudged=f"nothing is known of the resultType {str(kind)[:40]!r}")
    defined: object = {"name": call.tool} if tool is None else tool.handle_for_result(has_promise=has_promise)
    verdict = check(defined, call.arguments, result, shape="mcp_json")
    return _apply_policy(call, result, verdict)


def _decode(message: Result) -> object:
    """Return the result; None if it is not JSON. Not through `Result.result`, which remembers it at twice the cost."""
    if message.value is not msgspec.UNSET:
        return message.value
    try:
        return cast("object", _ANY.decode(message.body))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _apply_policy(call: PendingCall, result: object, verdict: ResultVerdict) -> _JudgedResult:
    """Decide by the policy whether a result with this verdict is blocked."""
    policy = call.policy
    outcome: Outcome = "tool_error" if verdict.is_error else "success"
    promise = verdict.metadata.output_schema_validation
    violation = promise.error if promise is not None and not promise.is_valid else None
    blocked: Reason | None = None
    why = violation or ""
    if policy.results == "enforce" and verdict.error_without_flag:
        blocked, why = "result", verdict.issues[0]
    elif policy.results == "enforce" and verdict.classification is Classification.BROKEN:
        blocked, why = "result", verdict.issues[0]
        verdict = stopped_verdict("result", why, verdict)
    elif violation is not None and policy.output_schema == "enforce":
        blocked = "output_schema"
        verdict = stopped_verdict("output_schema", why, verdict)
    is_good = verdict.is_valid and outcome == "success" and not verdict.error_without_flag
    if call.contract is not None and blocked is None and is_good and (drift := contract_drift(call.contract, result)):
        said = f"the result leaves the tool's contract: {drift}"
        if policy.lock == "hold":
            blocked, why = "contract", said
            verdict = stopped_verdict("contract", why, verdict)
        else:
            verdict = msgspec.structs.replace(verdict, issues=(*verdict.issues, f"Contract: {said}"))
    if policy.steering != "off" and blocked is None and (steering := result_steering(result)):
        said = f"a text {steering[0].says}"
        if policy.steering == "hold":
            blocked, why = "steering", said
            verdict = stopped_verdict("steering", why, verdict)
        else:
            verdict = msgspec.structs.replace(verdict, issues=(*verdict.issues, f"Steers the model: {said}"))
    return _JudgedResult(outcome, result, verdict, violation=violation, blocked=blocked, why=why)


def _skim(message: Result) -> _JudgedResult:
    """Find the outcome of a result that is not judged, without decoding it where that is possible."""
    data = message.raw
    if b'"isError"' not in data and b'"input_required"' not in data and b'"task"' not in data:
        return _JudgedResult("success")
    result = members(_decode(message))
    if result.get("isError") is True:
        return _JudgedResult("tool_error", result)
    kind = result.get("resultType")
    if kind == "input_required":
        return _JudgedResult("input_required", result)
    return _JudgedResult("task" if kind == "task" or is_object(result.get("task")) else "success", result)


def _count(
    call: PendingCall, tool: KnownTool | None, found: _JudgedResult, catalogue: Catalogue, message: Result | None = None
) -> None:
    """Count a failure or a success. What may work later (a timeout, a rate limit) does not count as a failure."""
    policy = call.policy
    if found.unjudged is not None:
        catalogue.repeats.note_quiet()
        return
    verdict = found.verdict
    failed = found.outcome in ("tool_error", "protocol_error") or (verdict is not None and verdict.error_without_flag)
    counts_repeats = bool(policy.break_repeats) and catalogue.is_one_conversation
    if failed:
        if verdict is not None and verdict.retry is Retry.BACKOFF:
            return
        if policy.break_after:
            catalogue.breaker.count_failure(call.tool, call.arguments, None if verdict is None else verdict.state)
            if call.is_unlisted and catalogue.is_one_conversation:
                blocks = elements(members(found.result).get("content"))[:8]
                words = found.said or "\n".join(str(members(block).get("text", "")) for block in blocks)
                if says_no_tool(words, call.tool):
                    catalogue.breaker.count_name(call.tool)
        if counts_repeats:
            catalogue.repeats.note_failure(call.tool, call.arguments)
        return
    if found.outcome != "success":
        return
    if policy.break_after:
        changes = tool is None or not tool.read_only
        catalogue.breaker.note_success(call.tool, call.arguments, changes_things=changes)
    if not counts_repeats:
        return
    if message is None or verdict is None:
        # A result that was not inspected may be news.
        catalogue.repeats.note_quiet()
        return

    def digest() -> int | None:
        """Return a number for what the result says, whatever id it answers; None if something goes on."""
        parsed = None if goes_on(found.result) else parse(message.raw)
        # The hash of bytes is keyed by a secret of the process: a peer cannot make another result that counts the same.
        return hash(bytes(parsed.body)) if isinstance(parsed, Result) else None

    catalogue.repeats.note_result(call.tool, call.arguments, effect=lambda: catalogue.effect_of(tool), digest=digest)


def _change(
    call: PendingCall, message: Result, found: _JudgedResult, catalogue: Catalogue
) -> tuple[bytes, tuple[Change, ...]]:
    """Add and replace what the policy says. Returns the message, the very same bytes if unchanged, and the changes."""
    notes: dict[str, object] = {}
    if call.repaired is not None:
        notes[REPAIR_KEY] = call.repaired
    changed: list[Change] = []
    if call.wants_verdict and (found.verdict is not None or found.unjudged is not None):
        changed.append("verdict")
        said: Mapping[str, object] = {"unjudged": found.unjudged} if found.verdict is None else found.verdict.to_dict()
        notes[VERDICT_KEY] = {**said, "trace_id": call.trace_id}
    if call.wants_trace:
        changed.append("trace")
    if found.blocked is None and not notes and not changed:
        return message.raw, ()
    # A result that was too large to be decoded can still be an object; anything else has no `_meta`.
    is_decoded = message.value is not msgspec.UNSET
    if not (is_object(message.value) if is_decoded else bytes(message.body).startswith(b"{")):
        return message.raw, ()
    notes[TRACE_KEY] = call.trace_id
    reply = split_members(message.raw)
    result = split_member(reply, "result")
    if found.blocked is not None:
        changed += _block(call, result, found, catalogue)
    result["_meta"] = encode_raw({**split_member(result, "_meta"), **notes})
    reply["result"] = encode_raw(result)
    return encode_members(reply), tuple(changed)


_NO_TOOL: Final = ToolView("", "", None, None)


def _block(call: PendingCall, result: Raws, found: _JudgedResult, catalogue: Catalogue) -> list[Change]:
    """Replace in `result` what must not pass; the text of a result that only breaks its schema stays.

    Returns the members that were changed.
    """
    result["isError"] = encode_raw(True)  # noqa: FBT003 - a JSON value
    verdict = found.verdict
    if found.blocked == "result" and verdict is not None and verdict.error_without_flag:
        return ["is_error"]
    if found.blocked == "output_schema":
        lead = (
            f"Output validation error: the structured content of '{call.tool}' breaks the tool's own outputSchema, "
            f"so it was held back. {found.why}"
        )
    elif found.blocked == "limits":
        lead = f"The result of '{call.tool}' is too large, so it was held back: {found.why}. Ask for less."
    elif found.blocked == "contract":
        lead = f"'{call.tool}' ran, and its result was held back: {found.why}. Tell the user; do not call it again."
    elif found.blocked == "steering":
        lead = f"The result of '{call.tool}' was held back: {found.why}. Tell the user, and go on without it."
    else:
        lead = f"Output validation error: '{call.tool}' sent no usable result: {found.why}."
    is_draft = has_outputs(found.result)
    content = members(read_outputs(_NO_TOOL, found.result)[1]).get("content")
    kept = elements(content) if found.blocked == "output_schema" else ()
    plain = {"content": [{"type": "text", "text": lead}, *kept]}
    state = None if verdict is None else verdict.state
    # The text that stays is beside the envelope, and not replaced by it.
    made = in_shape_of_others(call, plain, catalogue, text=lead, state=state, form="prose" if kept else None)
    had = result.pop("structuredContent", None) is not None
    for name, value in made.items():
        result[name] = encode_raw({**split_member(result, name), **members(value)} if name == "_meta" else value)
    if is_draft:
        # In the shape that the client expects, for the reader that every client has.
        only = {"audience": "assistant", "format": "content", "content": made["content"]}
        result["outputs"] = encode_raw([only])
        del result["content"]
        result.pop("structuredContent", None)
    has = had or "structuredContent" in made
    return ["is_error", "content", "structured_content"] if has else ["is_error", "content"]


def judge_own_answer(
    stop: Stop, why: str, *, tool: str, result: Mapping[str, object], check: ResultCheck, state: State | None = None
) -> ResultVerdict:
    """Return the verdict on `result`, an answer of toolvet's own to a call of `tool`.

    `why` explains the stop. `state` is what is known of the cause; None: what the table of causes has for this stop.
    """
    verdict = check({"name": tool}, {}, result)
    if stop == "unanswered" and verdict.state not in _VAGUE:
        # The state of the connection says more: the server could not be reached, or wants credentials.
        state = verdict.state
    return stopped_verdict(stop, why, verdict, state)


def stopped_verdict(stop: Stop, why: str, verdict: ResultVerdict, state: State | None = None) -> ResultVerdict:
    """Return `verdict` with the cause of the stop in place of its own."""
    found = state if state is not None else state_of_stop(stop)
    is_business = found.is_business
    return msgspec.structs.replace(
        verdict,
        # A tool that was not asked, or refused a call, may work well; one that did not answer does not.
        is_valid=is_business,
        is_error=True,
        classification=Classification.FULLY_WORKING if is_business else Classification.ERROR,
        confidence=100.0 if is_business else 0.0,
        issues=(_SAYS[stop], *(issue for issue in verdict.issues if verdict.state is None)),
        evidence=(why,) if why else (),
        error_kind=cause_of(found).kind,
        state=found,
        retry=found.retry,
        factors=(),
        error_without_flag=False,
        leaks=(),
        framework=None,
        certainty=1.0,
        error_code=cause_of(found).error_code,
    )


Contract: TypeAlias = Literal["v1", "v2"]
EnvelopeForm: TypeAlias = Literal["json", "prose"]
"""The text of a tool's enveloped results: the envelope as JSON, or prose beside an envelope in `_meta`."""

CONTRACT_KEY: Final = f"{META_PREFIX}contract"
ENVELOPE_KEY: Final = f"{META_PREFIX}envelope"
_FLAG: Final = "response_contract_v2"
_CAPABILITIES_KEY: Final = f"{MCP_META_PREFIX}clientCapabilities"
_MEMBERS: Final = frozenset({"success", "data", "error", "meta"})
_VERSION: Final = "response-v2"
_CONTRACTS: Final[Mapping[str, Contract]] = {"v1": "v1", "v2": "v2"}


def in_shape_of_others(
    call: PendingCall,
    result: Mapping[str, object],
    catalogue: Catalogue,
    *,
    text: str,
    state: State | None,
    report: ArgumentReport | None = None,
    form: EnvelopeForm | None = None,
) -> Mapping[str, object]:
    """Return `result`, an error of our own, as it is or with an envelope in it: as the tool's other results are.

    The envelope is structured content where the `outputSchema` allows that, else in `_meta`; with `form` "json" it is
    the text, too, in the shape of the contract. The other members of `_meta` stay.

    Args:
        call: The call that it answers.
        result: The error as a plain tool result.
        catalogue: Knows the tool and the client.
        text: What went wrong.
        state: The cause.
        report: The faults of the arguments, if they are refused.
        form: How the envelope is carried; None: as in the tool's other results.
    """
    tool = catalogue.tools.get(call.tool)
    contract = wanted_contract(call.meta, catalogue.client_capabilities)
    schema = None if tool is None else tool.definition.get("outputSchema")
    known = None if tool is None else tool.envelopes
    if contract != "v2" and known is None and not asks_for_envelopes(schema):
        return result
    try:
        envelope = _failure(text, state, call.trace_id, report)
    except EnvelopeError:
        # A text that no envelope can hold; the plain result says the same.
        return result
    document = envelope.to_dict("v2")
    made = dict(result)
    if (form or known or "json") == "json":
        made["content"] = [{"type": "text", "text": envelope.to_json(contract or "v2")}]
    if schema is not None and compiled(schema).is_valid(document):
        made["structuredContent"] = document
    else:
        made["_meta"] = {**members(result.get("_meta")), ENVELOPE_KEY: document}
    return made


def wanted_contract(meta: Mapping[str, object], capabilities: object = None) -> Contract | None:
    """Return the contract that a call with this `_meta` asks for; None if neither it nor its client asks for one.

    `capabilities` are those of the client in `initialize`.
    """
    own = _CONTRACTS.get(str(meta.get(CONTRACT_KEY)))
    if own is not None:
        return own
    modern = meta.get(_CAPABILITIES_KEY)
    flag = members(members(modern if modern is not None else capabilities).get("experimental")).get(_FLAG)
    is_on = flag is not None and flag is not False and members(flag).get("enabled") is not False
    return "v2" if is_on else None


def envelope_form(result: Mapping[str, object]) -> EnvelopeForm | None:
    """Return how a result carries an envelope; None if it has none."""
    structured = result.get("structuredContent")
    if structured is not None and _is_envelope(structured):
        return "json"
    content = elements(result.get("content"))
    text = members(content[0]).get("text") if content else None
    if isinstance(text, str) and text[:1] == "{" and f'"{_VERSION}"' in text:
        return "json"
    meta = result.get("_meta")
    return "prose" if meta is not None and _is_envelope(members(meta).get(ENVELOPE_KEY)) else None


def _is_envelope(value: object) -> bool:
    found = members(value)
    return found.keys() >= _MEMBERS and members(found["meta"]).get("version") == _VERSION


def asks_for_envelopes(output_schema: object) -> bool:
    """Whether a tool with this `outputSchema` must answer in envelopes."""
    required = elements(members(output_schema).get("required"))
    return all(name in required for name in _MEMBERS)


def _failure(text: str, state: State | None, trace_id: str, report: ArgumentReport | None = None) -> "Envelope":
    """Return the envelope of a failure with this text; with a report it names the fields that are wrong."""
    # Loaded only when a tool answers in envelopes: the builders take milliseconds to load.
    from toolvet.core.envelope import FieldError, error_response, validation_error  # noqa: PLC0415

    if report is None:
        cause = cause_of(state or State.UNKNOWN)
        return error_response(text, error_code=cause.error_code, error_type=cause.error_type, request_id=trace_id)
    fault = members(report.to_dict().get("error"))
    return validation_error(
        report.summary,
        errors=[
            FieldError(f"{issue.problem}. {issue.fix}", field=issue.field, pointer=issue.pointer, reason=issue.keyword)
            for issue in report.issues
        ],
        details={key: fault[key] for key in ("repair", "valid_example") if key in fault},
        remediation=" ".join(dict.fromkeys(issue.fix for issue in report.issues)) or None,
        request_id=trace_id,
    )
