"""What people should look at, what they can say, how far they agree: verdicts and labels in, choices and figures out.

No disk and no clock: who has which item before them is kept by `toolvet.store.queue`.
"""

from toolvet.server.review.agreement import Agreement, PairAgreement, measure_agreement
from toolvet.server.review.evidence import MarkedText, ReviewSignal, mark_evidence, review_signals
from toolvet.server.review.rules import DEFAULT_RULES, QueueRule, QueueWish, chooser, kinds_of
from toolvet.server.review.label_words import LabelValue, Vocabulary, check_label, vocabulary

__all__ = [
    "DEFAULT_RULES",
    "Agreement",
    "LabelValue",
    "MarkedText",
    "PairAgreement",
    "QueueRule",
    "QueueWish",
    "ReviewSignal",
    "Vocabulary",
    "check_label",
    "chooser",
    "kinds_of",
    "mark_evidence",
    "measure_agreement",
    "review_signals",
    "vocabulary",
]
