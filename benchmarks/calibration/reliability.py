"""Is what was said to be probable as often true? Reliability tables and the expected calibration error."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

BINS = 10


class Judged(NamedTuple):
    """One verdict: where the text is from, how probable the verdict was said to be, and whether it was right."""

    source: str
    probability: float
    right: bool


class Bin(NamedTuple):
    """The verdicts of one bin of probabilities: how many, what was said on average, and what was true."""

    low: float
    verdicts: int
    said: float
    true: float


def reliability(judged: Sequence[Judged]) -> list[Bin]:
    """Ten bins of equal width; those without a verdict are left out."""
    bins: dict[int, list[Judged]] = defaultdict(list)
    for each in judged:
        bins[min(int(each.probability * BINS), BINS - 1)].append(each)
    return [
        Bin(
            number / BINS,
            len(part),
            sum(each.probability for each in part) / len(part),
            sum(each.right for each in part) / len(part),
        )
        for number, part in sorted(bins.items())
    ]


def expected_error(judged: Sequence[Judged]) -> float:
    """The mean distance between what was said and what was true, bin by bin (expected calibration error)."""
    return sum(part.verdicts * abs(part.said - part.true) for part in reliability(judged)) / max(len(judged), 1)


def show(judged: Sequence[Judged]) -> None:
    print(f"{'said':>12}{'verdicts':>10}{'mean said':>11}{'right':>8}")
    for part in reliability(judged):
        print(f"{part.low:7.1f} to {part.low + 1 / BINS:.1f}{part.verdicts:10}{part.said:11.3f}{part.true:8.3f}")
    print(f"expected calibration error {expected_error(judged):.3f} over {len(judged)} verdicts")
    by_source: dict[str, list[Judged]] = defaultdict(list)
    for each in judged:
        by_source[each.source].append(each)
    for source, own in sorted(by_source.items()):
        said = sum(each.probability for each in own) / len(own)
        right = sum(each.right for each in own) / len(own)
        print(f"   {source:28}{len(own):6} verdicts, said {said:.3f}, right {right:.3f}")
