"""What people should look at, what they can say, and how far they agree: verdicts and labels in, choices and figures out.

No disk and no clock: who has which item before them is kept by `toolvet.store.queue`.
"""

from toolvet.review.agreement import Agreement, PairAgreement, measure_agreement
from toolvet.review.evidence import ReviewSignal, Segment, review_signals, segments
from toolvet.review.rules import DEFAULT_RULES, QueueRule, QueueWish, chooser, kinds_of
from toolvet.review.vocabulary import LabelValue, Vocabulary, check_label, vocabulary

__all__ = [
    "DEFAULT_RULES",
    "Agreement",
    "LabelValue",
    "PairAgreement",
    "QueueRule",
    "QueueWish",
    "ReviewSignal",
    "Segment",
    "Vocabulary",
    "check_label",
    "chooser",
    "kinds_of",
    "measure_agreement",
    "review_signals",
    "segments",
    "vocabulary",
]
