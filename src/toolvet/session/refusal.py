"""Answers of our own to a call: tool results with `isError`, so that a model reads what to do (SEP-1303)."""

from collections.abc import Mapping

from toolvet.checks.arguments import ArgumentReport
from toolvet.checks.capability import EXTENSION_ID, ValidationReply
from toolvet.schema.json_value import elements, members
from toolvet.session.call import PendingCall
from toolvet.wire import encode_error, encode_result

INVALID_PARAMS = -32602


def refusal(call: PendingCall, result: Mapping[str, object], stamp: Mapping[str, object]) -> bytes:
    """The answer that `result`, a tool result of the legacy era, is for this call.

    In the modern era with `resultType` and the server's identity. Whoever asked for a task expects a task and could not
    read a tool result: there it is an error with the same words.
    """
    if call.is_task:
        return encode_error(call.id, INVALID_PARAMS, text_of(result), members(result.get("_meta")) or None)
    if call.era == "legacy":
        return encode_result(call.id, result)
    meta = {**members(result.get("_meta")), **stamp}
    return encode_result(call.id, {"resultType": "complete", **result, **({"_meta": meta} if meta else {})})


def told(text: str, meta: Mapping[str, object] | None = None) -> dict[str, object]:
    """A tool result that is an error with this text."""
    result: dict[str, object] = {"content": [{"type": "text", "text": text}], "isError": True}
    return {**result, "_meta": meta} if meta else result


def bad_arguments(report: ArgumentReport, repeated: int) -> dict[str, object]:
    """What is wrong with the arguments. Said more plainly to who was told `repeated` times already."""
    result = report.to_result("legacy")
    if not repeated:
        return result
    lead = {
        "type": "text",
        "text": f"This same call was refused {repeated} times. Change the arguments as told below.",
    }
    return {**result, "content": [lead, *elements(result.get("content"))]}


def repeated_failure(call: PendingCall, failures: int) -> dict[str, object]:
    """This very call failed again and again: it was not sent."""
    return told(
        f"This same call failed {failures} times in a row. "
        "It was not sent again: the same call will fail the same way. "
        f"Change the arguments of '{call.tool}', use another tool, or tell the user what does not work."
    )


def too_large(call: PendingCall, what: str) -> dict[str, object]:
    """The arguments are beyond a limit."""
    return told(f"The arguments of '{call.tool}' are {what}. Send less, or send it in several calls.")


def refused_by_server(call: PendingCall, reply: ValidationReply) -> dict[str, object]:
    """The server's own validator does not like the call."""
    lines = [f"❌ Tool '{call.tool}' cannot be called with these arguments: its server refuses them.", ""]
    reasons = reply.errors or ("The server does not say why.",)
    lines += [f"{number}. {reason}" for number, reason in enumerate(reasons, 1)]
    further = (*reply.warnings, *reply.suggestions)
    if further:
        lines += ["", "## Suggestions:", "", *(f"- {each}" for each in further)]
    return told("\n".join(lines), {EXTENSION_ID: reply.to_dict()})


def text_of(result: Mapping[str, object]) -> str:
    """All text of a result of ours."""
    return "\n\n".join(str(members(block).get("text", "")) for block in elements(result.get("content")))
