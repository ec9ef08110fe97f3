"""What an error mostly is whose words say nothing: the prior, as it was measured."""

import re
from typing import Final, NamedTuple

from toolvet.core.checks.result.certainty import PriorCount, prior_counts
from toolvet.core.checks.result.evidence import FirstHits
from toolvet.core.checks.result.phrases import CallerText

_CARRIERS: Final = (CallerText.QUERY, CallerText.PATTERN)
_UNDECIDED: Final = 0.5
# "Error getting the weather of Oslo" quotes what was asked, and says that the tool did not manage.
_FAILS: Final = re.compile(
    r"\b(?:fail|problem|issue|unable|wrong|abort|crash|broke|(?:could|can|did|was|were)(?: not|n't)|cannot|try again"
    r"|(?:error|exception) (?:\w+ )?(?:\w+ing|in|on|at|from|for|of)\b)",
    re.IGNORECASE,
)
_LONGEST_READ: Final = 1_000
_MOST_SENT: Final = 20
_SHORTEST: Final = 2


class Prior(NamedTuple):
    """How likely such an error is business logic (0 to 1), and the count that says so, in words."""

    business: float
    evidence: str


def prior_of(evidence: FirstHits) -> Prior:
    """The prior of an error, by what carries it.

    Only where the error quotes an argument, and in a tool that runs programs, is an error without a known word taken
    for the caller's. Elsewhere failures are so much rarer than refusals that a missed one costs more than a refusal
    taken for a failure.
    """
    counts = prior_counts()
    if CallerText.PROGRAM in evidence.runs:
        return Prior(_smoothed(counts["program"]), counts["program"].words)
    if _quotes_an_argument(evidence):
        return Prior(_smoothed(counts["quoted"]), counts["quoted"].words)
    kind = next((kind.value for kind in _CARRIERS if kind in evidence.runs), "")
    return Prior(_UNDECIDED, counts[kind or ("structured" if evidence.call.structured else "text")].words)


def _quotes_an_argument(evidence: FirstHits) -> bool:
    """Whether a short error repeats a value that was sent, as a word of its own, and does not say what failed."""
    text = evidence.text
    if len(text) > _LONGEST_READ or _FAILS.search(text) is not None:
        return False
    return any(
        len(value) >= _SHORTEST and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None
        for value in evidence.call.sent[:_MOST_SENT]
        if len(value) <= len(text)
    )


def _smoothed(count: PriorCount) -> float:
    """Laplace's rule: a dozen of a dozen do not make it certain."""
    return (count.business + 1) / (count.total + 2)
