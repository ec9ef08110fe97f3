"""OpenAI chat messages, and what speaks their language: Hugging Face chat, Mistral, Ollama, vLLM."""

from toolvet.core.messages.format import MessageFormat, Receiver, ignored, said
from toolvet.core.messages.parts import Parts, blocks_of, call_in, first_of, inner, text_in


def _completion(parts: Parts, to: Receiver) -> bool:
    """A whole response: of several choices the first counts, as SDKs and users take it."""
    choice = first_of(parts["choices"])
    known = to.within(choice.get("message"), "assistant")
    to.stopped(choice.get("finish_reason") if known else None)
    return known


def _call(parts: Parts, to: Receiver) -> bool:
    function = inner(parts.get("function"))
    name = text_in(function, "name")
    if name:
        to.called(name, function.get("arguments"), text_in(parts, "id"))
    return bool(name)


def _custom_call(parts: Parts, to: Receiver) -> bool:
    custom = inner(parts.get("custom"))
    name = text_in(custom, "name")
    if name:
        to.called(name, custom.get("input"), text_in(parts, "id"))
    return bool(name)


def _calls(parts: Parts, to: Receiver) -> bool:
    for block in blocks_of(parts["tool_calls"]):
        if not to.within(block) and (call := call_in(inner(block))) is not None:
            to.called(call.name, call.arguments, call.id or "")
    return True


def _legacy_call(parts: Parts, to: Receiver) -> bool:
    call = inner(parts["function_call"])
    name = text_in(call, "name")
    if name:
        to.called(name, call.get("arguments", call.get("args")), text_in(call, "id"))
    return bool(name)


def _refusal(parts: Parts, to: Receiver) -> bool:
    to.said(parts["refusal"])
    return True


def _spoken(parts: Parts, to: Receiver) -> bool:
    to.said(inner(parts["audio"]).get("transcript"))
    return True


FORMAT = MessageFormat(
    name="OpenAI chat and Hugging Face chat (role, content, tool_calls)",
    types={
        "function": _call,
        "custom": _custom_call,
        "text": said,
        "refusal": _refusal,
        "image_url": ignored,
        "input_audio": ignored,
        "file": ignored,
    },
    members={"choices": _completion, "function": _call},
    beside={"tool_calls": _calls, "function_call": _legacy_call, "refusal": _refusal, "audio": _spoken},
)
