"""Rule: an answer is not a legal tool result."""

from collections.abc import Iterator, Mapping
from typing import Final, cast

from toolvet.findings import Card, Finding, Severity
from toolvet.rules.ending import Ending, ending
from toolvet.rules.quote import quote, show, show_answer
from toolvet.rules.subject import ObservedCall, Outcome
from toolvet.schema.json_value import elements, members

CARD = Card(
    id="answer-malformed",
    title="The answer is no legal tool result",
    severity=Severity.ERROR,
    looks_for=(
        "An answer that is no JSON-RPC response, a result without a `content` array, a content block whose type the "
        "protocol does not know or that lacks a field, an `isError` that is no boolean, a `resultType` that does "
        "not exist."
    ),
    why=(
        "The official clients check results against the protocol's types and raise an exception instead of passing "
        "on what they can read: the model gets nothing, however good the rest of the answer is."
    ),
    remedy=(
        "Return the SDK's result types instead of dictionaries made by hand: in FastMCP return plain values or "
        '`ToolResult`, in TypeScript `{ content: [{ type: "text", text }] }`. `content` is required even when '
        "`structuredContent` says everything."
    ),
)

# What a block must have beside its type, by the schemas of protocol 2025-11-25 and 2026-07-28.
_BLOCKS: Mapping[str, tuple[str, ...]] = {
    "text": ("text",),
    "image": ("data", "mimeType"),
    "audio": ("data", "mimeType"),
    "resource_link": ("uri", "name"),
    "resource": (),
}
_RESULT_TYPES: Final = frozenset({"complete", "input_required", "task"})


def check_call(call: ObservedCall) -> Iterator[Finding]:
    """Find what official clients refuse to read."""
    if call.outcome is Outcome.INVALID_MESSAGE:
        yield CARD.finding(
            message=f"The answer is no JSON-RPC response: {quote(call.detail, 160) or 'nothing is known of it'}.",
            evidence=quote(call.detail, 300),
        )
        return
    if call.outcome is not Outcome.RESULT or ending(call) is Ending.UNFINISHED:
        return
    if not isinstance(call.result, Mapping):
        yield CARD.finding(message="The result is no object.", evidence=show_answer(call.result))
        return
    result = cast("Mapping[str, object]", call.result)
    if "content" not in result:
        yield CARD.finding(message="The result has no 'content'.", pointer="/content", evidence=show(result, 200))
    elif not isinstance(result["content"], list):
        yield CARD.finding(message="'content' must be an array.", pointer="/content", evidence=show(result["content"]))
    else:
        yield from _check_blocks(cast("object", result["content"]))
    if not isinstance(result.get("isError", False), bool):
        yield CARD.finding(
            message="'isError' must be true or false.", pointer="/isError", evidence=show(result["isError"])
        )
    kind = result.get("resultType", "complete")
    if not isinstance(kind, str) or kind not in _RESULT_TYPES:
        yield CARD.finding(
            message=f'\'resultType\' must be "complete" or "input_required", not {show(kind)}.',
            pointer="/resultType",
            evidence=show(kind),
        )


def _check_blocks(content: object) -> Iterator[Finding]:
    """Report the first malformed block; the others are usually like it."""
    for index, block in enumerate(elements(content)):
        problem = _find_problem(block)
        if problem is not None:
            yield CARD.finding(
                message=f"Content block {index + 1} {problem}.", pointer="/content", evidence=show(block, 160)
            )
            return


def _find_problem(block: object) -> str | None:
    """What is wrong with a content block, as the end of a sentence; None for a legal one."""
    if not isinstance(block, dict):
        return "is no object"
    fields = members(cast("object", block))
    kind = fields.get("type")
    if not isinstance(kind, str):
        return "has no type"
    if kind not in _BLOCKS:
        return f"has the unknown type '{quote(kind, 40)}'"
    for name in _BLOCKS[kind]:
        if not isinstance(fields.get(name), str):
            return (
                f"of type '{kind}' has no '{name}'"
                if name not in fields
                else f"of type '{kind}': '{name}' must be a string"
            )
    if kind == "resource":
        resource = members(fields.get("resource"))
        if not isinstance(resource.get("uri"), str) or not (
            isinstance(resource.get("text"), str) or isinstance(resource.get("blob"), str)
        ):
            return "of type 'resource' needs 'resource' with 'uri' and 'text' or 'blob'"
    return None
