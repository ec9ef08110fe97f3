"""The request of a client to a `validate` tool: one call, or a batch of calls.

    {"tool": "book_flight", "arguments": {…}}            `parameters` is read as an alias of `arguments`
    {"tool": "book_flight", "arguments": {…},            the first call of a batch, and the further ones, when the
     "calls": [{"tool": …, "arguments": {…}}, …]}          server announces batchValidation

`tool` and `arguments` are always required, as the specification of the capability has it. A batch that has all its
calls in `calls` is read, too. With either: `levels` (check only these) and `context` (facts about the caller for the
validators).
"""

from collections.abc import Mapping, Sequence

import msgspec

from toolvet.core.checks.capability.announcement import LEVELS, Level
from toolvet.core.checks.capability.reply import Message, ValidationReply
from toolvet.core.json_value import is_array, is_object, members, names


class ValidationCall(msgspec.Struct, frozen=True):
    """A call to check without making it. `tool` has no prefix; `arguments` is any JSON value."""

    tool: str
    arguments: object


class ValidationRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The calls to check. `levels` is None for all levels; a request with `is_batch` gets a reply with `results`."""

    calls: tuple[ValidationCall, ...]
    is_batch: bool = False
    levels: tuple[Level, ...] | None = None
    context: Mapping[str, object] = msgspec.field(default_factory=dict[str, object])

    def to_dict(self) -> dict[str, object]:
        """The arguments of the `validate` tool."""
        calls: list[object] = [{"tool": call.tool, "arguments": call.arguments} for call in self.calls]
        request = dict(members(calls[0]))
        if self.is_batch:
            request["calls"] = calls[1:]
        if self.levels is not None:
            request["levels"] = list(self.levels)
        return {**request, "context": dict(self.context)} if self.context else request

    def batch_reply(self, replies: Sequence[ValidationReply]) -> dict[str, object]:
        """The JSON form of the replies to its calls, in their order, with one for the whole batch on top."""
        together = ValidationReply(
            valid=all(reply.valid for reply in replies),
            messages=tuple(
                Message(
                    f"results[{position}] {call.tool}: {each.message}", each.severity, f"/results/{position}{each.path}"
                )
                for position, (call, reply) in enumerate(zip(self.calls, replies, strict=True))
                for each in reply.messages
            ),
        )
        return {**together.to_dict(), "results": [reply.to_dict() for reply in replies]}


def bare_name(tool: str) -> str:
    """The name that the server has for the tool: without the prefix `server:` that clients add.

    Example:
        >>> bare_name("harbour:sail")
        'sail'
    """
    return tool.partition(":")[2] or tool


def parse_request(arguments: object, *, max_batch_size: int | None = 1) -> ValidationRequest | str:
    """Read a request. Total.

    Args:
        arguments: those of the call of the `validate` tool.
        max_batch_size: the largest number of calls; None for no limit, 1 for no batches.

    Returns:
        The request, or a sentence about what is wrong with it and how to ask.

    Example:
        >>> parse_request({"tool": "sail"})
        "'arguments' is missing: the arguments that are to be checked, an object."
    """
    request = members(arguments)
    asked = request.get("levels")
    levels: tuple[Level, ...] | None = None
    if asked is not None:
        wanted = names(asked)
        if not is_array(asked) or len(wanted) != len(asked) or not {*wanted} <= {*LEVELS}:
            return f"'levels' must be a list of names out of {', '.join(LEVELS)}."
        levels = tuple(level for level in LEVELS if level in wanted)
    context = request.get("context")
    if context is not None and not is_object(context):
        return "'context' must be an object."
    calls = _calls(request, max_batch_size)
    if isinstance(calls, str):
        return calls
    return ValidationRequest(calls=calls, is_batch="calls" in request, levels=levels, context=dict(members(context)))


def _calls(asked: Mapping[str, object], max_batch_size: int | None) -> tuple[ValidationCall, ...] | str:
    if "calls" not in asked:
        call = _call(asked)
        return call if isinstance(call, str) else (call,)
    items = asked["calls"]
    if max_batch_size == 1:
        return "This server validates one call at a time: send 'tool' and 'arguments' without 'calls'."
    calls: list[ValidationCall] = []
    if "tool" in asked:
        first = _call(asked)
        if isinstance(first, str):
            return first
        calls.append(first)
    if not is_array(items) or not (items or calls):
        return "'calls' must be a list of calls, each with 'tool' and 'arguments'."
    total = len(calls) + len(items)
    if max_batch_size is not None and total > max_batch_size:
        return f"{total} calls in one batch, but at most {max_batch_size} are allowed: send them in several batches."
    for position, item in enumerate(items):
        call = _call(members(item))
        if isinstance(call, str):
            return f"calls[{position}]: {call}"
        calls.append(call)
    return tuple(calls)


def _call(asked: Mapping[str, object]) -> ValidationCall | str:
    tool = asked.get("tool")
    if not isinstance(tool, str) or not tool:
        return "'tool' is missing: the name of the tool whose arguments are to be checked."
    key = "arguments" if "arguments" in asked else "parameters"
    if key not in asked:
        return "'arguments' is missing: the arguments that are to be checked, an object."
    return ValidationCall(tool, asked[key])


def input_schema(*, max_batch_size: int | None = 1) -> dict[str, object]:
    """The JSON Schema of the request, in simple keywords: model APIs refuse tools with `anyOf` or `oneOf` at the root.

    Args:
        max_batch_size: the largest number of calls; None for no limit, 1 for no batches.

    Example:
        >>> input_schema()["required"]
        ['tool', 'arguments']
    """
    properties: dict[str, object] = {
        "tool": {"type": "string", "description": "Name of the tool whose arguments are to be checked."},
        "arguments": {"type": "object", "description": "The arguments, as they would be sent to that tool."},
        "levels": {
            "type": "array",
            "items": {"type": "string", "enum": list(LEVELS)},
            "description": "Check only these levels; all by default.",
        },
        "context": {"type": "object", "description": "What the checks may know about the caller."},
    }
    required = ["tool", "arguments"]
    if max_batch_size == 1:
        return {"type": "object", "properties": properties, "required": required}
    call: dict[str, object] = {
        "type": "object",
        "properties": {"tool": properties["tool"], "arguments": properties["arguments"]},
        "required": required,
    }
    calls: dict[str, object] = {
        "type": "array",
        "items": call,
        "description": "Further calls to check at once, after the one in 'tool' and 'arguments'.",
    }
    if max_batch_size is not None:
        calls["maxItems"] = max_batch_size - 1
    return {"type": "object", "properties": {**properties, "calls": calls}, "required": required}


def output_schema(*, max_batch_size: int | None = 1) -> dict[str, object]:
    """The JSON Schema of the reply: `ValidationReply.to_dict()`, with `results` where batches are allowed.

    Args:
        max_batch_size: as for `input_schema`.

    Example:
        >>> "results" in output_schema(max_batch_size=10)["properties"]
        True
    """
    sentences: dict[str, object] = {"type": "array", "items": {"type": "string"}}
    severity: dict[str, object] = {"type": "string", "enum": ["error", "warn", "info"]}
    message: dict[str, object] = {
        "type": "object",
        "properties": {"path": {"type": "string"}, "message": {"type": "string"}, "severity": severity},
        "required": ["path", "message", "severity"],
    }
    correction: dict[str, object] = {
        "type": "object",
        "properties": {"path": {"type": "string"}, "value": {}},
        "required": ["path", "value"],
    }
    properties: dict[str, object] = {
        "valid": {"type": "boolean"},
        "errors": sentences,
        "warnings": sentences,
        "suggestions": sentences,
        "severity": severity,
        "messages": {"type": "array", "items": message},
        "corrections": {"type": "array", "items": correction},
    }
    required = ["valid", "errors", "warnings", "suggestions"]
    if max_batch_size == 1:
        return {"type": "object", "properties": properties, "required": required}
    one: dict[str, object] = {"type": "object", "properties": properties, "required": required}
    return {**one, "properties": {**properties, "results": {"type": "array", "items": one}}}
