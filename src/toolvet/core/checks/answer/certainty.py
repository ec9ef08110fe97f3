"""How likely a signal of an answer is right, an assessment is right, and an answer with a certain score is good.

`certainty.toml` has the shares, measured on sources that were left out (`benchmarks/calibration` measures them again).
"""

from collections.abc import Sequence
from functools import cache
from typing import Final

import msgspec

from toolvet.core.discover.toml import read_toml

_MILD: Final = 0.2  # What weighs less colours an answer more than it spoils it, and is measured apart.


class ScoreBand(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The share of good answers among those with a score of at least `least`, and below the next band."""

    least: float
    good: float


class _AnswerCertainties(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    clean: float
    calls: float
    type: dict[str, float]
    signal: dict[str, float]
    score: tuple[ScoreBand, ...]


def assessment_confidence(signals: int) -> float:
    """Return how sure (0 to 1) a verdict is, given only the number of its signals."""
    return (0.9, 0.85, 0.8, 0.75)[signals] if signals < 4 else 0.65


def certainty_of(signals: Sequence[float | None]) -> float:
    """Return how sure (0 to 1) an assessment is that rests on signals of these certainties.

    One real signal is enough, so the most certain of them counts; if none is known, their number. Without signals
    it is the documented 0.9, which is less than was measured.

    Example:
        >>> certainty_of([0.7, None, 0.95]), certainty_of([None]), certainty_of([])
        (0.95, 0.85, 0.9)
    """
    if not signals:
        return _certainties().clean
    return max((each for each in signals if each is not None), default=assessment_confidence(len(signals)))


def signal_certainty(kind: str, label: str | None, source: str, weight: float) -> float | None:
    """Return how likely (0 to 1) a signal like this is right: by its kind, else by its type; None: never measured."""
    table = _certainties()
    if source in {"custom", "semantics"}:
        return None
    if source == "calls":
        return table.calls if weight >= _MILD else None
    return table.signal.get(key_of(kind, label, source, weight), table.type.get(kind))


def key_of(kind: str, label: str | None, source: str, weight: float) -> str:
    """Return the key of a signal in `certainty.toml`: type, label, a source other than phrase and shape, and "mild"."""
    beside = "" if source in {"phrase", "shape"} else f", {source}"
    mild = ", mild" if weight < _MILD else ""
    return f"{kind}{f'-{label}' if label else ''}{beside}{mild}"


def good_share(score: float) -> float:
    """Return how likely (0 to 1) an answer with this score is good.

    Example:
        >>> good_share(0.25) < good_share(0.72) < good_share(1.0)
        True
    """
    bands = _certainties().score
    return next((band.good for band in reversed(bands) if score >= band.least), bands[0].good)


@cache
def _certainties() -> _AnswerCertainties:
    return read_toml("toolvet.core.checks.answer", "certainty.toml", _AnswerCertainties)
