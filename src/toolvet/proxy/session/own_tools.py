"""The tools that the session itself answers: `validate`, and the one that returns what a shortened result left out.

`validate` is the validation capability for a server without one: announced and listed in the server's name, answered
from its schemas.
"""

import difflib
from collections.abc import Mapping
from typing import Final

from toolvet.core.checks import (
    EXPERIMENTAL_KEY,
    EXTENSION_ID,
    Announcement,
    ArgumentReport,
    Classification,
    Correction,
    Message,
    ResultCheck,
    ResultVerdict,
    ValidationCall,
    ValidationReply,
    ValidationRequest,
    bare_name,
    check_arguments,
    input_schema,
    output_schema,
    parse_request,
)
from toolvet.core.json_value import is_object, type_name
from toolvet.mcp.wire import encode_members, encode_raw, split_member, split_members
from toolvet.proxy.session.catalogue import Catalogue
from toolvet.proxy.session.judge import JudgedReply, end_own, judge_own_answer, own_notes
from toolvet.proxy.session.pending import PendingCall
from toolvet.proxy.session.policy import ProxySettings
from toolvet.proxy.session.step import Era, PolicyFault
from toolvet.proxy.session.vet import encode_own_result, error_result

_MOST_AT_ONCE: Final = 20
# A finding on other tools in the reply is not a fault of this one.
_ANSWERED: Final = ResultVerdict(
    is_valid=True,
    is_error=False,
    classification=Classification.FULLY_WORKING,
    confidence=100,
    evidence=("Answered by toolvet, which announced this tool",),
)


def is_ours(tool: str, catalogue: Catalogue, settings: ProxySettings) -> bool:
    """Whether we answer calls of this tool, unless the server has one of that name."""
    if catalogue.result_cache is not None and tool == catalogue.retrieval_tool:
        return True
    return catalogue.is_ours_announced and tool == settings.validate_method


def needed_tools(call: PendingCall, catalogue: Catalogue, settings: ProxySettings) -> tuple[str, ...]:
    """Return the tools whose schemas are needed for this call."""
    if is_ours(call.tool, catalogue, settings):
        return (call.tool, *validated_tools(call))
    policy = call.policy
    return (call.tool,) if policy.arguments != "off" or policy.lock == "hold" or policy.steering == "hold" else ()


def answer_own_tool(call: PendingCall, catalogue: Catalogue, check: ResultCheck) -> JudgedReply:
    """Return the answer to a call of one of our tools, and its note."""
    if catalogue.result_cache is None or call.tool != catalogue.retrieval_tool:
        return answer_validation(call, catalogue, check)
    from toolvet.proxy.session.retrieval import answer_retrieval  # noqa: PLC0415 - most policies shorten nothing

    return answer_retrieval(call, catalogue, check)


def add_own_tools(data: bytes, catalogue: Catalogue, settings: ProxySettings) -> tuple[bytes, list[PolicyFault]]:
    """Return the last page of a tool list with our tools at its end, the same bytes without any, and what was wrong."""
    faults: list[PolicyFault] = []
    if catalogue.result_cache is not None:
        from toolvet.proxy.session.retrieval import retrieval_definition  # noqa: PLC0415 - as above

        data = add_tool(data, retrieval_definition(catalogue.retrieval_tool))
    method = settings.validate_method
    if catalogue.is_ours_announced and method in catalogue.tools:
        problem = f"The server has a tool '{method}': set validate_method to another name, or announce to off."
        faults.append(PolicyFault("name_taken", problem, method))
    elif catalogue.is_ours_announced and settings.announce == "tool":
        data = add_tool(data, validation_definition(method))
    return data, faults


def add_capability(data: bytes, method: str, era: Era) -> bytes:
    """Add the capability to an answer to `initialize` or `server/discover`; everything else stays byte for byte."""
    options = Announcement(method=method, levels=("syntax",), batch_validation=True, max_batch_size=_MOST_AT_ONCE)
    homes = [("experimental", EXPERIMENTAL_KEY)]
    if era == "modern":
        homes.append(("extensions", EXTENSION_ID))
    message = split_members(data)
    result = split_member(message, "result")
    capabilities = split_member(result, "capabilities")
    for home, key in homes:
        capabilities[home] = encode_raw({**split_member(capabilities, home), key: options.to_dict()})
    result["capabilities"] = encode_raw(capabilities)
    message["result"] = encode_raw(result)
    return encode_members(message)


def add_tool(data: bytes, definition: Mapping[str, object]) -> bytes:
    """Add a tool of ours at the end of the last page of a tool list."""
    message = split_members(data)
    result = split_member(message, "result")
    tools = result["tools"]
    body = bytes(tools).strip()
    comma = b"" if body[1:-1].strip() == b"" else b","
    result["tools"] = type(tools)(body[:-1] + comma + bytes(encode_raw(definition)) + b"]")
    message["result"] = encode_raw(result)
    return encode_members(message)


def validation_definition(method: str) -> dict[str, object]:
    """Return the tool that clients call to validate."""
    return {
        "name": method,
        "title": "Validate tool arguments",
        "description": (
            "Checks the arguments of a tool call without making it. Says whether they are valid, "
            "and if not, what is wrong and how to fix it."
        ),
        "inputSchema": input_schema(max_batch_size=_MOST_AT_ONCE),
        "outputSchema": output_schema(max_batch_size=_MOST_AT_ONCE),
        "annotations": {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True},
    }


def validated_tools(call: PendingCall) -> tuple[str, ...]:
    """Return the names of the tools whose schemas the answer to this call of `validate` needs."""
    request = parse_request(call.arguments, max_batch_size=_MOST_AT_ONCE)
    return () if isinstance(request, str) else tuple(bare_name(each.tool) for each in request.calls)


def answer_validation(call: PendingCall, catalogue: Catalogue, check: ResultCheck) -> JudgedReply:
    """Return the answer to a call of `validate`, and its note; a malformed one gets an error."""
    request = parse_request(call.arguments, max_batch_size=_MOST_AT_ONCE)
    if isinstance(request, str):
        refusal = error_result(request)
        verdict = judge_own_answer("arguments", request, tool=call.tool, result=refusal, check=check)
        return _reply_with(call, refusal, verdict, catalogue)
    replies = [_reply(request, each, catalogue) for each in request.calls]
    body = request.batch_reply(replies) if request.is_batch else replies[0].to_dict()
    result: dict[str, object] = {
        "content": [{"type": "text", "text": bytes(encode_raw(body)).decode()}],
        "structuredContent": body,
        "isError": False,
    }
    return _reply_with(call, result, _ANSWERED, catalogue)


def _reply_with(
    call: PendingCall, result: Mapping[str, object], verdict: ResultVerdict, catalogue: Catalogue
) -> JudgedReply:
    data = encode_own_result(call, result, catalogue.stamp, own_notes(call, verdict))
    return JudgedReply(data, end_own(call, "validated", verdict, size=len(data)))


def validation_reply(name: str, report: ArgumentReport, arguments: object) -> ValidationReply:
    """Return a report on the arguments of the tool `name` in the form of the validation protocol."""
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
    repair = report.repair
    advice = [Message(text, "info") for text in (*(repair.steps if repair is not None else ()), *report.suggestions)]
    steps = repair.patch if repair is not None else ()
    if not all(step.get("op") in ("add", "replace") for step in steps):
        # It also moves or removes something, and half of it would not help.
        steps = ()
    corrections = tuple(Correction(str(step["path"]), step["value"]) for step in steps)
    return ValidationReply(valid=False, messages=(*problems, *advice), corrections=corrections)


def _reply(request: ValidationRequest, call: ValidationCall, catalogue: Catalogue) -> ValidationReply:
    # The names of a server's tools may contain a colon; otherwise it ends the prefix that clients add.
    tool = catalogue.tools.get(call.tool) or catalogue.tools.get(bare_name(call.tool))
    if tool is None:
        name = bare_name(call.tool)
        near = difflib.get_close_matches(name, list(catalogue.tools), n=1)
        guess = f" Did you mean '{near[0]}'?" if near else ""
        return ValidationReply(valid=False, messages=(Message(f"There is no tool '{name}'.{guess}"),))
    reply = validation_reply(tool.name, check_arguments(tool.handle, call.arguments, unchecked="pass"), call.arguments)
    beyond = [level for level in request.levels or () if level != "syntax"]
    further = tuple(Message(f"Nothing is checked at the level '{level}'.", "warn") for level in beyond)
    return ValidationReply(valid=reply.valid, messages=(*reply.messages, *further), corrections=reply.corrections)
