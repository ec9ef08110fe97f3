"""Words that say that something does not exist: which things exist is nothing that a schema could say."""

import re

_ABSENT = re.compile(
    r"(?i)\b(?:not found|no (?:\w+ ){0,3}found|does(?:n't| not) exist|no such|(?:could|can)(?:not|n't| not) find"
    r"|did not resolve)\b"
)
_LONGEST = 4_000


def speaks_of_absence(words: str) -> bool:
    """Whether "not found" and the like stand inside what was classified as invalid."""
    return _ABSENT.search(words[:_LONGEST]) is not None
