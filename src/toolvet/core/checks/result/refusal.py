"""The framework that wrote the words of a refusal, where the tool's author did not."""

from collections.abc import Sequence
from typing import Final

from toolvet.core.checks.result.phrases import ResultPhrases, Strength, phrases
from toolvet.core.matching import Hit

_LONGEST_READ: Final = 20_000


def is_framework_refusal(text: str) -> str | None:
    """The name of the framework whose validation wrote this refusal of the caller's arguments; else None.

    An author cannot change such words, so they count neither for nor against the author's messages. None for a sentence
    that the author put inside the framework's frame (a `ValueError` of a pydantic validator), for a crash, and for an
    output that breaks the tool's own `outputSchema`.

    >>> is_framework_refusal("Input validation error: 'abc' is not of type 'integer'")
    'MCP Python SDK'
    >>> is_framework_refusal("limit must be between 1 and 50") is None
    True
    """
    known = phrases()
    return framework_of(known.evidence(text[:_LONGEST_READ]), known)


def framework_of(hits: Sequence[Hit], known: ResultPhrases) -> str | None:
    """The framework that wrote the words with these `hits`, as `is_framework_refusal` says."""
    found = {hit.id for hit in hits}
    first: str | None = None
    for identifier, phrase in known.refusing:
        if identifier not in found:
            continue
        if (
            phrase.decides
            or phrase.strength is Strength.TRACE
            or (not phrase.framework and phrase.strength is Strength.REFUSAL)
        ):
            return None
        first = first or phrase.framework or None
    return first
