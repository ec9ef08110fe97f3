"""One turn of a conversation: an answer and the tool calls that it rests on, and how good the answer is."""

from typing import TYPE_CHECKING

from toolvet.core.discover.names import named

if TYPE_CHECKING:
    from toolvet.core.turn.advice import regeneration_advice
    from toolvet.core.turn.check import (
        AnswerCheck,
        AnswerOptions,
        BestAnswer,
        best_answer,
        check_answer,
        check_answers,
        quality_summary,
    )
    from toolvet.core.turn.conversation import (
        CallVerdict,
        ConversationCheck,
        ConversationVerdict,
        TurnVerdict,
        check_conversation,
    )
    from toolvet.core.turn.stream import AnswerStream, VettedStream, vet_stream

__all__ = [
    "AnswerCheck",
    "AnswerOptions",
    "AnswerStream",
    "BestAnswer",
    "CallVerdict",
    "ConversationCheck",
    "ConversationVerdict",
    "TurnVerdict",
    "VettedStream",
    "best_answer",
    "check_answer",
    "check_answers",
    "check_conversation",
    "quality_summary",
    "regeneration_advice",
    "vet_stream",
]

if not TYPE_CHECKING:  # A type checker knows the names above, and should complain of others.
    # Checking whole answers must not load what reads streams (start-up time).
    __getattr__ = named(
        __name__,
        {
            "advice": "regeneration_advice",
            "check": "AnswerCheck AnswerOptions BestAnswer best_answer check_answer check_answers quality_summary",
            "conversation": "CallVerdict ConversationCheck ConversationVerdict TurnVerdict check_conversation",
            "stream": "AnswerStream VettedStream vet_stream",
        },
    )
