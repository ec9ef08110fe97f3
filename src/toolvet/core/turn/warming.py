"""`prepare`: everything that is compiled of toolvet's own phrases, at once: for wheels, images, and `toolvet warm`."""

from toolvet.core.checks.answer import phrases as of_answers
from toolvet.core.checks.result import phrases as of_results
from toolvet.core.poison.steering import steering_patterns
from toolvet.core.prose.frame import frame_patterns
from toolvet.core.turn.ledger import phrases as of_claims
from toolvet.core.turn.ledger.extent import extent_phrases


def prepare() -> None:
    """Compile and store everything that is not in the cache yet."""
    answers, claims = of_answers.phrases(), of_claims.phrases()
    for patterns in (
        answers.pattern_set,
        # The language that has a set of its own.
        answers.only(of_answers.APART),
        of_results.phrases().pattern_set,
        frame_patterns(),
        claims.pattern_set,
        claims.report_set,
        extent_phrases().pattern_set,
        *steering_patterns(),
    ):
        patterns.prepare()
