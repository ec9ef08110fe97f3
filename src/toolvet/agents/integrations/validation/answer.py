"""The answer of the `validate` tool: a reply for one call, or for each call of a batch."""

import asyncio
import difflib
from collections.abc import Mapping

import msgspec

from toolvet.agents.integrations.validation.tool_validation import OnStep, ProgressSteps, ToolValidation
from toolvet.core.checks import Message, ValidationCall, ValidationReply, ValidationRequest, bare_name, parse_request


async def answered(
    validation: ToolValidation,
    arguments: object,
    tools: Mapping[str, Mapping[str, object]],
    on_progress: OnStep | None = None,
) -> dict[str, object]:
    """Answer a call of the `validate` tool.

    Args:
        validation: what the server validates.
        arguments: those of the `validate` call: `{"tool": …, "arguments": …}`, and `calls` for a batch.
        tools: the definitions of the server's tools, by name.
        on_progress: gets each step where the server announces `streaming`: of each validator, or, in a batch, of
            each call.

    Returns:
        A tool result with the reply as JSON text and as structured content. A request that cannot be understood gets
        `isError: true` and a sentence about how to ask.

    Example:
        >>> import asyncio
        >>> from toolvet.agents.integrations import ToolValidation
        >>> tools = {"ping": {"name": "ping", "inputSchema": {"type": "object"}}}
        >>> asked = {"tool": "ping", "arguments": {}}
        >>> result = asyncio.run(answered(ToolValidation(), asked, tools))
        >>> result["structuredContent"]["valid"]
        True
    """
    request = parse_request(arguments, max_batch_size=validation.max_batch_size)
    if isinstance(request, str):
        return {"content": [{"type": "text", "text": request}], "isError": True}
    on_step = on_progress if validation.streaming else None
    if request.is_batch:
        replies = await _judge_batch(validation, request, tools, on_step)
    else:
        replies = [await _judge(validation, request, request.calls[0], tools, on_step)]
    body = request.batch_reply(replies) if request.is_batch else replies[0].to_dict()
    text = msgspec.json.encode(body, enc_hook=repr).decode()
    return {
        "content": [{"type": "text", "text": text}],
        "structuredContent": msgspec.json.decode(text),
        "isError": False,
    }


async def _judge(
    validation: ToolValidation,
    request: ValidationRequest,
    call: ValidationCall,
    tools: Mapping[str, Mapping[str, object]],
    on_progress: OnStep | None = None,
) -> ValidationReply:
    # The name first: a server may have a colon in the names of its tools. Else a prefix is what clients add.
    tool = tools.get(call.tool) or tools.get(bare_name(call.tool))
    if tool is None:
        name = bare_name(call.tool)
        near = difflib.get_close_matches(name, tools, n=1)
        guess = f" Did you mean '{near[0]}'?" if near else ""
        return ValidationReply(valid=False, messages=(Message(f"There is no tool '{name}'.{guess}"),))
    found = await validation.judge(
        tool, call.arguments, levels=request.levels, context=request.context, on_progress=on_progress
    )
    return found.reply


async def _judge_batch(
    validation: ToolValidation,
    request: ValidationRequest,
    tools: Mapping[str, Mapping[str, object]],
    on_progress: OnStep | None,
) -> list[ValidationReply]:
    steps = ProgressSteps(on_progress, len(request.calls))

    async def judge(call: ValidationCall) -> ValidationReply:
        reply = await _judge(validation, request, call, tools)
        await steps.done(f"{call.tool}: {'valid' if reply.valid else ' '.join(reply.errors)}")
        return reply

    return await asyncio.gather(*map(judge, request.calls))
