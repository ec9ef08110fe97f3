"""Run items of the OpenAI Agents SDK: each wraps an item of the Responses API."""

from toolvet.core.messages.format import MessageFormat

FORMAT = MessageFormat(
    name="OpenAI Agents SDK (run items)",
    members={"raw_item": lambda parts, to: to.within(parts["raw_item"], "assistant")},
)
