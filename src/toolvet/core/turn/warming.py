"""`prepare`: everything that is compiled of toolvet's own phrases, at once: for wheels, images, and `toolvet warm`."""

from collections.abc import Iterator

from toolvet.core.checks.answer import phrases as of_answers
from toolvet.core.checks.result import phrases as of_results
from toolvet.core.matching import PatternSet
from toolvet.core.prose.frame import frame_patterns
from toolvet.core.turn.grounding import phrases as of_claims
from toolvet.core.turn.grounding.extent import extent_phrases


def prepare() -> None:
    """Compile and keep what is not in the cache yet."""
    for patterns in _sets():
        patterns.prepare()


def _sets() -> Iterator[PatternSet]:
    answers = of_answers.phrases()
    yield answers.pattern_set
    # The language that has a set of its own.
    yield answers.only(of_answers.APART)
    yield of_results.phrases().pattern_set
    yield frame_patterns()
    claims = of_claims.phrases()
    yield claims.pattern_set
    yield claims.report_set
    yield extent_phrases().pattern_set
