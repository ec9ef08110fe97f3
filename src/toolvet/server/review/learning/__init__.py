"""Labels → a retrained model, phrases to look at, thresholds: what people said of verdicts, and what follows from it.

No disk: `toolvet review learn` reads the labels and writes what is to be kept. The model needs NumPy
(extra `learn`).
"""

from toolvet.server.review.learning.labels import LabelledVerdict, read_labelled_line, split_held_back
from toolvet.server.review.learning.phrases import SuggestedPhrase, has_fault, suggest_phrases
from toolvet.server.review.learning.thresholds import (
    SuggestedThreshold,
    TypePrecision,
    suggest_threshold,
    type_precisions,
)

__all__ = [
    "LabelledVerdict",
    "SuggestedPhrase",
    "SuggestedThreshold",
    "TypePrecision",
    "has_fault",
    "read_labelled_line",
    "split_held_back",
    "suggest_phrases",
    "suggest_threshold",
    "type_precisions",
]
