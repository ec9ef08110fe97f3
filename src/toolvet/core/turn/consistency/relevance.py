"""`off_topic`: whether an answer is about what was asked."""

import msgspec

from toolvet.core.checks.answer import FailureSignal, SignalType
from toolvet.core.turn.consistency.embedder import OFF, Embedder, EmbedderFailed, State, embed, similarity
from toolvet.core.turn.consistency.sentences import sentences

OFF_TOPIC = "off_topic"
THRESHOLD = 0.1
"""The similarity below which an answer is about something else, for WordLlama's vectors of 256 numbers.

Of 2,690 good English answers of six public sources 0.7 % lie below it, of the same answers given to another question
of their source 36 % do (docs/semantics.md). Another model needs a threshold of its own.
"""

_SHORTEST = 60  # Characters: "Paris." is an answer, but nothing to measure.
_WEIGHT = 0.4
_SHOWN = 200


class Relevance(msgspec.Struct, frozen=True, kw_only=True):
    """How near an answer is to its question.

    `similarity` (-1 to 1) is that of its nearest sentence, or of its beginning where that is nearer; None unless
    `state` is `checked`. `signal` is there where the answer is off topic; `reason` is a sentence for a reader.
    """

    state: State
    reason: str
    similarity: float | None = None
    signal: FailureSignal | None = None


def off_topic(question: str, answer: str, embedder: Embedder | None, *, threshold: float = THRESHOLD) -> Relevance:
    """Whether `answer` is about what `question` asks, by the meaning that `embedder` gives both.

    An answer below `threshold` has a signal of the type `confusion`: its speaker took the question for another one. It
    costs 0.4, because a similarity proves nothing. Never raises; a model that fails makes the state `off`.
    """
    if embedder is None:
        return Relevance(state="off", reason=OFF)
    if len(answer.strip()) < _SHORTEST or not question.strip():
        return Relevance(
            state="not_judged", reason="The question or the answer is too short to be compared by meaning."
        )
    parts = [question, answer[:600], *(sentence.text for sentence in sentences(answer))]
    try:
        asked, *answered = embed(embedder, parts)
    except EmbedderFailed as error:
        return Relevance(state="off", reason=str(error))
    if not any(asked) or not any(map(any, answered)):
        return Relevance(state="not_judged", reason="The embedding model sees nothing in the question or the answer.")
    nearest = round(max(similarity(asked, vector) for vector in answered), 4)
    if nearest >= threshold:
        return Relevance(state="checked", reason="The answer is about what was asked.", similarity=nearest)
    start = len(answer) - len(answer.lstrip())
    signal = FailureSignal(
        type=SignalType.CONFUSION,
        evidence=answer.strip()[:_SHOWN],
        weight=_WEIGHT,
        position=start,
        label=OFF_TOPIC,
        source="semantics",
        against=question.strip()[:_SHOWN],
    )
    reason = f"The answer seems to be about something else (similarity {nearest:.2f}, below {threshold:.2f})."
    return Relevance(state="checked", reason=reason, similarity=nearest, signal=signal)
