"""OpenAI chat messages, and what speaks their language: Hugging Face chat, Mistral, Ollama, vLLM."""

from toolvet.core.messages.format import MessageFormat, Read, Receiver, call_reader, ignored, response_reader, said
from toolvet.core.messages.parts import Parts, blocks_of, call_in, inner, text_in


def _call(kind: str, arguments: str) -> Read:
    def read(parts: Parts, to: Receiver) -> bool:
        held = inner(parts.get(kind))
        name = text_in(held, "name")
        if name:
            to.called(name, held.get(arguments), text_in(parts, "id"))
        return bool(name)

    return read


def _calls(parts: Parts, to: Receiver) -> bool:
    for block in blocks_of(parts["tool_calls"]):
        if not to.within(block) and (call := call_in(inner(block))) is not None:
            to.called(call.name, call.arguments, call.id or "")
    return True


def _refusal(parts: Parts, to: Receiver) -> bool:
    to.said(parts["refusal"])
    return True


def _spoken(parts: Parts, to: Receiver) -> bool:
    to.said(inner(parts["audio"]).get("transcript"))
    return True


FORMAT = MessageFormat(
    name="OpenAI chat and Hugging Face chat (role, content, tool_calls)",
    types={
        "function": _call("function", "arguments"),
        "custom": _call("custom", "input"),
        "text": said,
        "refusal": _refusal,
        "image_url": ignored,
        "input_audio": ignored,
        "file": ignored,
    },
    members={
        "choices": response_reader("choices", "message", "finish_reason"),
        "function": _call("function", "arguments"),
    },
    beside={
        "tool_calls": _calls,
        "function_call": call_reader("arguments", "args", under=("function_call",)),
        "refusal": _refusal,
        "audio": _spoken,
    },
)
