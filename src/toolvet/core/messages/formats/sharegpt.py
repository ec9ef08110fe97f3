"""Turns of ShareGPT data (`from`, `value`), with calls as data sets for function calling write them."""

from typing import Final

import msgspec

from toolvet.core.messages.format import MessageFormat, Receiver
from toolvet.core.messages.parts import Parts, blocks_of, inner, text_in

_SPEAKERS: Final = {
    "human": "user",
    "user": "user",
    "gpt": "assistant",
    "chatgpt": "assistant",
    "assistant": "assistant",
    "bing": "assistant",
    "bard": "assistant",
    "model": "assistant",
    "system": "system",
}
_RESULTS: Final = ("tool", "observation", "function_response", "tool_response", "function")
_CALLS: Final = ("function_call", "tool_call", "function-call")
_OPEN, _CLOSE = "<tool_call>", "</tool_call>"


def _turn(parts: Parts, to: Receiver) -> bool:
    said_by, value = parts["from"], parts.get("value")
    if not isinstance(said_by, str) or not isinstance(value, str):
        return False
    if said_by in _RESULTS:
        to.returned(value.strip().removeprefix("<tool_response>").removesuffix("</tool_response>").strip())
    elif said_by in _CALLS:
        _call(value, to)
    elif said_by not in _SPEAKERS:
        return False
    elif _SPEAKERS[said_by] != "assistant" or _OPEN not in value:
        to.said(value, _SPEAKERS[said_by])
    else:
        # A model of the Hermes family writes its calls between tags.
        text, *calls = value.split(_OPEN)
        if text.strip():
            to.said(text.strip(), "assistant")
        for call in calls:
            inside, _, after = call.partition(_CLOSE)
            _call(inside, to)
            if after.strip():
                to.said(after.strip(), "assistant")
    return True


def _call(text: str, to: Receiver) -> None:
    try:
        value: object = msgspec.json.decode(text.strip())
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        to.called("", text.strip())
        return
    for one in blocks_of(value):
        call = inner(one)
        to.called(text_in(call, "name"), call.get("arguments", call.get("parameters")))


FORMAT = MessageFormat(name="ShareGPT (from, value)", members={"from": _turn})
