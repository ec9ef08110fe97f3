"""A conversation in any common format → turns: questions, tool calls with their results, answers."""

from typing import TYPE_CHECKING

from toolvet.core.discover.names import named

if TYPE_CHECKING:
    from toolvet.core.messages.call import UNKNOWN, ToolCall, Unknown
    from toolvet.core.messages.conversation import Turn, is_conversation, turns
    from toolvet.core.messages.sources import earlier_calls, is_said_with_calls, read_calls, words_of_others

__all__ = [
    "UNKNOWN",
    "ToolCall",
    "Turn",
    "Unknown",
    "earlier_calls",
    "is_conversation",
    "is_said_with_calls",
    "read_calls",
    "turns",
    "words_of_others",
]

if not TYPE_CHECKING:  # A type checker knows the names above, and should complain of others.
    # Calls are a noun of many rooms, and most of them read no messages (start-up time).
    __getattr__ = named(
        __name__,
        {
            "call": "UNKNOWN ToolCall Unknown",
            "conversation": "Turn is_conversation turns",
            "sources": "earlier_calls is_said_with_calls read_calls words_of_others",
        },
    )
