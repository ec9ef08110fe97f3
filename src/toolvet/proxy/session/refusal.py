"""The session's own answers to a call: tool results with `isError`, so that a model reads what to do (SEP-1303)."""

import difflib
from collections.abc import Collection, Mapping
from itertools import islice
from typing import Final, NamedTuple

from toolvet.core.causes import State
from toolvet.core.checks import EXTENSION_ID, ArgumentReport, ResultCheck, ValidationReply
from toolvet.core.json_value import elements, members
from toolvet.mcp.wire import encode_error, encode_result
from toolvet.proxy.session.catalogue import Catalogue
from toolvet.proxy.session.enveloped import in_shape_of_others
from toolvet.proxy.session.judge import JudgedReply, end_own, own_notes
from toolvet.proxy.session.own_answer import judge_own_answer
from toolvet.proxy.session.pending import PendingCall
from toolvet.proxy.session.step import RefusalReason

_INVALID_PARAMS: Final = -32602
_MOST_NAMED: Final = 20


class CallRefusal(NamedTuple):
    """Why a call must not be sent: a line for the record (`why`), and the tool result for the client.

    `state` is the cause where it is known beyond the reason; `report` says what is wrong with the arguments.
    """

    reason: RefusalReason
    why: str
    result: dict[str, object]
    state: State | None = None
    report: ArgumentReport | None = None


def answer_refusal(call: PendingCall, refused: CallRefusal, catalogue: Catalogue, check: ResultCheck) -> JudgedReply:
    """Return the answer to a call that is not sent, and its note."""
    verdict = judge_own_answer(
        refused.reason, refused.why, tool=call.tool, result=refused.result, check=check, state=refused.state
    )
    result = in_shape_of_others(
        call, refused.result, catalogue, text=_text_of(refused.result), state=verdict.state, report=refused.report
    )
    data = encode_own_result(call, result, catalogue.stamp, own_notes(call, verdict))
    note = end_own(call, "refused", verdict, blocked=refused.reason, why=refused.why, size=len(data))
    return JudgedReply(data, note)


def encode_own_result(
    call: PendingCall, result: Mapping[str, object], stamp: Mapping[str, object], notes: Mapping[str, object]
) -> bytes:
    """Encode `result`, a tool result of the legacy era, as the answer to this call, with `notes` in its `_meta`.

    In the modern era `resultType` and the server's identity (`stamp`) are added. A client that asked for a task expects
    a task and could not read a tool result: its answer is a JSON-RPC error with the same text.
    """
    meta = {**members(result.get("_meta")), **notes}
    if call.is_task:
        return encode_error(call.id, _INVALID_PARAMS, _text_of(result), meta)
    if call.era == "legacy":
        return encode_result(call.id, {**result, "_meta": meta})
    return encode_result(call.id, {"resultType": "complete", **result, "_meta": {**meta, **stamp}})


def error_result(text: str, meta: Mapping[str, object] | None = None) -> dict[str, object]:
    """Return a tool result that is an error with this text."""
    result: dict[str, object] = {"content": [{"type": "text", "text": text}], "isError": True}
    return {**result, "_meta": meta} if meta else result


def bad_arguments(report: ArgumentReport, repeated: int) -> dict[str, object]:
    """Return a result with what is wrong with the arguments. `repeated` is how often the call was refused before."""
    result = report.to_result("legacy")
    if not repeated:
        return result
    lead = {
        "type": "text",
        "text": f"This same call was refused {repeated} times. Change the arguments as told below.",
    }
    return {**result, "content": [lead, *elements(result.get("content"))]}


def repeated_failure(call: PendingCall, failures: int, state: State | None) -> dict[str, object]:
    """Return a result for a call that was not sent because it failed `failures` times in a row, because of `state`."""
    cause = "" if state in (None, State.UNKNOWN) else f" ({state})"
    return error_result(
        f"This same call failed {failures} times in a row{cause}. "
        "It was not sent again: the same call will fail the same way. "
        f"Change the arguments of '{call.tool}', use another tool, or tell the user what does not work."
    )


def nothing_new(call: PendingCall, calls: int) -> dict[str, object]:
    """Return a result for a call that was not sent because the last `calls` brought nothing new."""
    return error_result(
        f"The last {calls} calls, this one among them, had the results that they had before, and nothing was changed "
        f"meanwhile. '{call.tool}' was not called again: it would say the same. Go on with the results that you have, "
        "change the arguments, use another tool, or tell the user what is missing."
    )


def no_such_tool(call: PendingCall, failures: int, known: Collection[str]) -> dict[str, object]:
    """Return a result for a call of a tool that the server does not have, and that failed `failures` times."""
    near = difflib.get_close_matches(call.tool, list(known), n=1)
    meant = f" Did you mean '{near[0]}'?" if near else ""
    names = ", ".join(f"'{name}'" for name in islice(known, _MOST_NAMED))
    more = f", and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
    has = f" The server's tools are: {names}{more}." if known else " The server has no tools."
    return error_result(
        f"There is no tool '{call.tool}': {failures} calls of it failed, and other arguments will not help. "
        f"It was not called again.{meant}{has}"
    )


def too_large(call: PendingCall, excess: str) -> dict[str, object]:
    """Return a result for arguments beyond a limit; `excess` says which, as in "too large: …"."""
    return error_result(f"The arguments of '{call.tool}' are {excess}. Send less, or send it in several calls.")


def refused_by_server(call: PendingCall, reply: ValidationReply) -> dict[str, object]:
    """Return a result for a call that the server's own validator refuses."""
    lines = [f"❌ Tool '{call.tool}' cannot be called with these arguments: its server refuses them.", ""]
    reasons = reply.errors or ("The server does not say why.",)
    lines += [f"{number}. {reason}" for number, reason in enumerate(reasons, 1)]
    further = (*reply.warnings, *reply.suggestions)
    if further:
        lines += ["", "## Suggestions:", "", *(f"- {each}" for each in further)]
    return error_result("\n".join(lines), {EXTENSION_ID: reply.to_dict()})


def _text_of(result: Mapping[str, object]) -> str:
    """Return the text blocks of a result as one text."""
    return "\n\n".join(str(members(block).get("text", "")) for block in elements(result.get("content")))
