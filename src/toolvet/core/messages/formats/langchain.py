"""Messages of LangChain: objects, `model_dump`, `messages_to_dict`, and as `dumpd` serialises them."""

from typing import Final

from toolvet.core.messages.format import MessageFormat, Read, Receiver, call_reader, ignored
from toolvet.core.messages.parts import Parts, blocks_of, dict_of, flag, inner, plain, text_in

_SPEAKERS: Final = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}
_CLASSES: Final = {"HumanMessage": "user", "AIMessage": "assistant", "SystemMessage": "system", "ToolMessage": "tool"}
_STOPS: Final = ("finish_reason", "stop_reason", "done_reason", "stopReason")


def _message(speaker: str) -> Read:
    def read(parts: Parts, to: Receiver) -> bool:
        held = dict_of(parts.get("data")) or parts
        if "content" not in held:
            return False
        to.message(held, speaker)
        return True

    return read


def _chat(parts: Parts, to: Receiver) -> bool:
    held = dict_of(parts.get("data")) or parts
    return "content" in held and to.within({"role": held.get("role"), "content": held["content"]})


def _serialised(parts: Parts, to: Receiver) -> bool:
    path, held = blocks_of(parts.get("id")), inner(parts.get("kwargs"))
    if not path or "content" not in held:
        return False
    speaker = _CLASSES.get(str(path[-1]).removesuffix("Chunk"))
    if speaker is None:
        return to.within({"type": "function", **held})
    to.message(held, speaker)
    return True


_call = call_reader("args", "arguments")


def _invalid_calls(parts: Parts, to: Receiver) -> bool:
    for block in blocks_of(parts["invalid_tool_calls"]):
        _call(inner(block), to)
    return True


def _server_result(parts: Parts, to: Receiver) -> bool:
    to.returned(plain(parts.get("output")), id_=text_in(parts, "tool_call_id"), failed=flag(parts))
    return True


def _stop(parts: Parts, to: Receiver) -> bool:
    metadata = inner(parts["response_metadata"])
    to.stopped(next((metadata[key] for key in _STOPS if metadata.get(key)), None))
    return True


FORMAT = MessageFormat(
    name="LangChain (type human, ai, tool)",
    types={
        **{kind: _message(speaker) for kind, speaker in _SPEAKERS.items()},
        **{f"{name}Chunk": _message(speaker) for name, speaker in _CLASSES.items()},
        "chat": _chat,
        "constructor": _serialised,
        "tool_call": _call,
        "invalid_tool_call": _call,
        "server_tool_call": _call,
        "server_tool_result": _server_result,
        "remove": ignored,
    },
    beside={"invalid_tool_calls": _invalid_calls, "response_metadata": _stop},
)
