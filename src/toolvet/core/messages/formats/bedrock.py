"""Messages of the Bedrock Converse API (`toolUse`, `toolResult`)."""

from toolvet.core.messages.format import MessageFormat, Receiver, ignored
from toolvet.core.messages.parts import Parts, blocks_of, flag, inner, text_in


def _call(parts: Parts, to: Receiver) -> bool:
    use = inner(parts["toolUse"])
    to.called(text_in(use, "name"), use.get("input"), text_in(use, "toolUseId"))
    return bool(use)


def _result(parts: Parts, to: Receiver) -> bool:
    about = inner(parts["toolResult"])
    blocks = [inner(block) for block in blocks_of(about.get("content"))]
    if len(blocks) == 1 and "json" in blocks[0]:
        result = blocks[0]["json"]
    else:
        # As MCP writes them, with a type: {"text": …} alone would be a value.
        result = [{"type": "text", **block} if "text" in block else block for block in blocks] or ""
    to.returned(result, id_=text_in(about, "toolUseId"), failed=flag(about))
    return bool(about)


def _converse(parts: Parts, to: Receiver) -> bool:
    if "message" not in inner(parts["output"]):
        return False
    to.within(inner(parts["output"])["message"], "assistant")
    to.stopped(parts.get("stopReason"))
    return True


FORMAT = MessageFormat(
    name="Bedrock Converse (toolUse, toolResult)",
    members={"toolUse": _call, "toolResult": _result, "reasoningContent": ignored, "output": _converse},
)
