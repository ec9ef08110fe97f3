"""The answer of the `validate` tool: the reply for one call, or for each of a batch."""

import asyncio
import difflib
from collections.abc import Mapping, Sequence

import msgspec

from toolvet.checks.capability import (
    Message,
    ValidationCall,
    ValidationReply,
    ValidationRequest,
    bare_name,
    parse_request,
)
from toolvet.integrations.validation.tool_validation import ToolValidation


async def answered(
    validation: ToolValidation, arguments: object, tools: Mapping[str, Mapping[str, object]]
) -> dict[str, object]:
    """A tool result: the reply as JSON text and as structured content. `tools` are the definitions by name.

    A question that cannot be understood is an `isError` result which says how to ask.
    """
    request = parse_request(arguments, max_batch_size=validation.max_batch_size)
    if isinstance(request, str):
        return {"content": [{"type": "text", "text": request}], "isError": True}
    replies = await asyncio.gather(*(_reply(validation, request, call, tools) for call in request.calls))
    body = _batch(request, replies) if request.is_batch else replies[0].to_dict()
    text = msgspec.json.encode(body, enc_hook=repr).decode()
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": msgspec.json.decode(text),
        "isError": False,
    }


async def _reply(
    validation: ToolValidation,
    request: ValidationRequest,
    call: ValidationCall,
    tools: Mapping[str, Mapping[str, object]],
) -> ValidationReply:
    # A server may have a colon in the names of its tools; only else it is the prefix that clients add.
    tool = tools.get(call.tool) or tools.get(bare_name(call.tool))
    if tool is None:
        return ValidationReply(valid=False, messages=(Message(_unknown(bare_name(call.tool), [*tools])),))
    found = await validation.judge(tool, call.arguments, levels=request.levels, context=request.context)
    return found.reply


def _unknown(name: str, known: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"There is no tool '{name}'." + (f" Did you mean '{near[0]}'?" if near else "")


def _batch(request: ValidationRequest, replies: Sequence[ValidationReply]) -> dict[str, object]:
    """All replies in the order of the calls, and on top what holds for the batch."""
    together = ValidationReply(
        valid=all(reply.valid for reply in replies),
        messages=tuple(
            Message(f"calls[{position}] {call.tool}: {told.message}", told.severity, f"/calls/{position}{told.path}")
            for position, (call, reply) in enumerate(zip(request.calls, replies, strict=True))
            for told in reply.messages
        ),
    )
    return {**together.to_dict(), "results": [reply.to_dict() for reply in replies]}
