"""How sure a repair is, as three words that can be compared; and a guess, which carries one of them."""

from collections.abc import Iterable
from typing import Final, Literal

import msgspec

Confidence = Literal["high", "medium", "low"]

_RANKS: Final[dict[Confidence, int]] = {"high": 0, "medium": 1, "low": 2}

# How sure it is that the only member which is too much is the only one that is missing, under another name: where the
# names mean the same ("town" for "city") or the value is one of few that are allowed; and where nothing else says so.
SAME_MEANING: Final[Confidence] = "medium"
ONLY_ONE_LEFT: Final[Confidence] = "low"


class Guess(msgspec.Struct, frozen=True):
    """A value that may have been meant in place of another. Of two equally sure ones the lower `cost` is preferred."""

    value: object
    confidence: Confidence
    cost: int = 0


def rank(confidence: Confidence) -> int:
    """0 for high, 1 for medium, 2 for low."""
    return _RANKS[confidence]


def least(confidences: Iterable[Confidence]) -> Confidence:
    """The weakest of several: a chain of steps is as sure as its least sure step. Of none it is high."""
    weakest: Confidence = "high"
    for confidence in confidences:
        if _RANKS[confidence] > _RANKS[weakest]:
            weakest = confidence
    return weakest
