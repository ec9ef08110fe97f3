"""Run items of the OpenAI Agents SDK: each wraps an item of the Responses API."""

from toolvet.core.messages.format import MessageFormat, Receiver
from toolvet.core.messages.parts import Parts


def _item(parts: Parts, to: Receiver) -> bool:
    return to.within(parts["raw_item"], "assistant")


FORMAT = MessageFormat(name="OpenAI Agents SDK (run items)", members={"raw_item": _item})
