r"""Reads an answer: what its text alone says about how good it is. With the turn's calls too, use `toolvet.core.turn`.

    I'm sorry, but I can't open the file. He said: "I cannot help you."

1. `shape` looks at the text as a whole: nothing in it, broken off, the same again and again. Here: nothing.
2. `read.find` scans it once for all phrases (`phrases`, from `toolvet.core.languages`). Here two of English:
   "I can't open" (low_confidence, label `incapable`) and "I cannot help" (refusal). Other words of its sentence
   (`unless`) or words after it (`followed`) may take a phrase back.
3. `read.counting` leaves out hits in a quotation, in code or in a draft (`toolvet.core.prose`), and hits in a place
   where they do not count. Here: the second one, a quotation.
4. `read.apart` keeps the heaviest of the signals of one type that overlap.
5. If it found no signal of weight, but a cue, it asks the learned model (`model`).

    FailureSignal(type="low_confidence", label="incapable", evidence="I can't open", weight=0.4, position=15, …)
"""

from toolvet.core.checks.answer.certainty import assessment_confidence
from toolvet.core.checks.answer.custom import BadOption, CustomPatterns, custom_patterns, names_of
from toolvet.core.checks.answer.quality import (
    Action,
    AnswerQuality,
    CallFailure,
    FailureSignal,
    PartialCall,
    QualitySummary,
    SignalType,
    score,
)
from toolvet.core.checks.answer.read import OwnRules, own_rules, read_answer

__all__ = [
    "Action",
    "AnswerQuality",
    "BadOption",
    "CallFailure",
    "CustomPatterns",
    "FailureSignal",
    "OwnRules",
    "PartialCall",
    "QualitySummary",
    "SignalType",
    "assessment_confidence",
    "custom_patterns",
    "names_of",
    "own_rules",
    "read_answer",
    "score",
]
