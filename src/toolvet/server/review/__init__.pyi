# The public names of this package; `__init__.py` loads each one when it is first used.

from toolvet.server.review.evidence import (
    MarkedText as MarkedText,
    ReviewSignal as ReviewSignal,
    mark_evidence as mark_evidence,
    review_signals as review_signals,
)
from toolvet.server.review.labels import (
    Agreement as Agreement,
    LabelValue as LabelValue,
    PairAgreement as PairAgreement,
    Vocabulary as Vocabulary,
    check_label as check_label,
    kappa_of_counts as kappa_of_counts,
    measure_agreement as measure_agreement,
    vocabulary as vocabulary,
)
from toolvet.server.review.learning import (
    LabelledVerdict as LabelledVerdict,
    SuggestedPhrase as SuggestedPhrase,
    SuggestedThreshold as SuggestedThreshold,
    TypePrecision as TypePrecision,
    has_fault as has_fault,
    read_labelled_line as read_labelled_line,
    split_held_back as split_held_back,
    suggest_phrases as suggest_phrases,
    suggest_threshold as suggest_threshold,
    type_precisions as type_precisions,
)
from toolvet.server.review.learning.labels import labelled_verdict as labelled_verdict
from toolvet.server.review.learning.model import (
    LearnedModel as LearnedModel,
    learn_model as learn_model,
    outcome_table as outcome_table,
    render_card as render_card,
)
from toolvet.server.review.learning.thresholds import lower_bound as lower_bound
from toolvet.server.review.rules import (
    DEFAULT_RULES as DEFAULT_RULES,
    QueueRule as QueueRule,
    QueueWish as QueueWish,
    chooser as chooser,
    kinds_of as kinds_of,
)
