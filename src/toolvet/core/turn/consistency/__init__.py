"""Answers held against their question and against earlier answers, by meaning: what needs a sentence-embedding model.

The model is any object with the one method of `Embedder`; `toolvet.agents.integrations.embedding` has one that runs
locally. Without a model the results say that this part is off.
"""

from toolvet.core.messages import Turn
from toolvet.core.turn.consistency.contradiction import Consistency, Contradiction, contradictions
from toolvet.core.turn.consistency.embedder import Embedder, State
from toolvet.core.turn.consistency.relevance import Relevance, off_topic
from toolvet.core.turn.verdict import add_signals

__all__ = [
    "Consistency",
    "Contradiction",
    "Embedder",
    "Relevance",
    "State",
    "Turn",
    "add_signals",
    "contradictions",
    "off_topic",
]
