"""The capability, for a server that has none: announced in its stead, listed as a tool, answered from the schemas."""

import difflib
from collections.abc import Mapping, Sequence
from typing import Final

from toolvet.checks.arguments import ArgumentReport, check_arguments
from toolvet.checks.capability import (
    EXPERIMENTAL_KEY,
    EXTENSION_ID,
    Announcement,
    Correction,
    Message,
    ValidationCall,
    ValidationReply,
    ValidationRequest,
    bare_name,
    input_schema,
    output_schema,
    parse_request,
)
from toolvet.schema import Repair
from toolvet.schema.json_value import is_object, type_name
from toolvet.session.call import PendingCall
from toolvet.session.catalogue import Catalogue, KnownTool
from toolvet.session.note import Era
from toolvet.session.refusal import refusal, told
from toolvet.session.splice import closed, member, opened, raw
from toolvet.wire import encode_result

MOST_AT_ONCE: Final = 20


def announced(data: bytes, method: str, era: Era) -> bytes:
    """The answer to `initialize` or `server/discover` with the capability in it, and everything else as it stood."""
    options = Announcement(method=method, levels=("syntax",), batch_validation=True, max_batch_size=MOST_AT_ONCE)
    homes = [("experimental", EXPERIMENTAL_KEY)]
    if era == "modern":
        homes.append(("extensions", EXTENSION_ID))
    message = opened(data)
    result = member(message, "result")
    capabilities = member(result, "capabilities")
    for home, key in homes:
        capabilities[home] = raw({**member(capabilities, home), key: options.to_dict()})
    result["capabilities"] = raw(capabilities)
    message["result"] = raw(result)
    return closed(message)


def listed(data: bytes, method: str) -> bytes:
    """The last page of a tool list with our tool at its end."""
    message = opened(data)
    result = member(message, "result")
    tools = result["tools"]
    body = bytes(tools).strip()
    comma = b"" if body[1:-1].strip() == b"" else b","
    result["tools"] = type(tools)(body[:-1] + comma + bytes(raw(definition(method))) + b"]")
    message["result"] = raw(result)
    return closed(message)


def definition(method: str) -> dict[str, object]:
    """The tool that clients call to validate."""
    return {
        "name": method,
        "title": "Validate tool arguments",
        "description": (
            "Checks the arguments of a tool call without making it. Says whether they are valid, "
            "and if not, what is wrong and how to fix it."
        ),
        "inputSchema": input_schema(max_batch_size=MOST_AT_ONCE),
        "outputSchema": output_schema(max_batch_size=MOST_AT_ONCE),
        "annotations": {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True},
    }


def asked_about(call: PendingCall) -> tuple[str, ...]:
    """The tools whose schemas the answer needs."""
    request = parse_request(call.arguments, max_batch_size=MOST_AT_ONCE)
    return () if isinstance(request, str) else tuple(bare_name(each.tool) for each in request.calls)


def validated(call: PendingCall, catalogue: Catalogue) -> bytes:
    """The answer to a call of our `validate`; one that cannot be understood is an error that says how to ask."""
    request = parse_request(call.arguments, max_batch_size=MOST_AT_ONCE)
    if isinstance(request, str):
        return refusal(call, told(request), catalogue.stamp)
    replies = [_reply(request, each, catalogue) for each in request.calls]
    body = _batch(request, replies) if request.is_batch else replies[0].to_dict()
    result: dict[str, object] = {
        "content": [{"type": "text", "text": bytes(raw(body)).decode()}],
        "structuredContent": body,
        "isError": False,
    }
    if call.era == "modern":
        result = {"resultType": "complete", **result, **({"_meta": catalogue.stamp} if catalogue.stamp else {})}
    return encode_result(call.id, result)


def reply_of(name: str, report: ArgumentReport, arguments: object) -> ValidationReply:
    """A report on arguments in the words of the validation protocol."""
    if report.valid:
        messages: list[Message] = []
        if not is_object(arguments):
            messages.append(Message(f"The arguments of '{name}' must be an object, not {type_name(arguments)}."))
        if report.unchecked:
            messages.append(Message(f"The arguments of '{name}' were not checked: {report.unchecked}.", "warn"))
        return ValidationReply(valid=is_object(arguments), messages=tuple(messages))
    problems = [
        Message(f"{issue.field}: {issue.problem}. {issue.fix}", "error", issue.pointer) for issue in report.issues
    ]
    found = report.repair
    advice = [Message(text, "info") for text in (*(found.steps if found is not None else ()), *report.suggestions)]
    return ValidationReply(valid=False, messages=(*problems, *advice), corrections=_corrections(found))


def _reply(request: ValidationRequest, call: ValidationCall, catalogue: Catalogue) -> ValidationReply:
    # A server may have a colon in the names of its tools; only else it is the prefix that clients add.
    tool = catalogue.tools.get(call.tool) or catalogue.tools.get(bare_name(call.tool))
    if tool is None:
        return ValidationReply(valid=False, messages=(Message(_unknown(bare_name(call.tool), catalogue.tools)),))
    reply = reply_of(tool.name, check_arguments(tool.definition, call.arguments), call.arguments)
    beyond = [level for level in request.levels or () if level != "syntax"]
    further = tuple(Message(f"Nothing is checked at the level '{level}'.", "warn") for level in beyond)
    return ValidationReply(valid=reply.valid, messages=(*reply.messages, *further), corrections=reply.corrections)


def _unknown(name: str, known: Mapping[str, KnownTool]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"There is no tool '{name}'." + (f" Did you mean '{near[0]}'?" if near else "")


def _batch(request: ValidationRequest, replies: Sequence[ValidationReply]) -> dict[str, object]:
    """All replies in the order of the calls, and on top what holds for the batch."""
    together = ValidationReply(
        valid=all(reply.valid for reply in replies),
        messages=tuple(
            Message(f"calls[{position}] {call.tool}: {each.message}", each.severity, f"/calls/{position}{each.path}")
            for position, (call, reply) in enumerate(zip(request.calls, replies, strict=True))
            for each in reply.messages
        ),
    )
    return {**together.to_dict(), "results": [reply.to_dict() for reply in replies]}


def _corrections(repair: Repair | None) -> tuple[Correction, ...]:
    """The repair as values at places; none if it also moves or removes something, for half a repair is none."""
    steps = repair.patch if repair is not None else ()
    if not all(step.get("op") in ("add", "replace") for step in steps):
        return ()
    return tuple(Correction(str(step["path"]), step["value"]) for step in steps)
