"""Shares with their intervals, and which differences are more than chance."""

import math
from collections.abc import Sequence
from typing import Final

from toolvet.assess.report import ShareFigure
from toolvet.server.review import lower_bound

_DIGITS: Final = 6
_TWO_SIDED: Final = 0.975  # The quantile of a two-sided interval at 95 %.
FEWEST: Final = 30
"""A share of fewer rows than this is never compared with another."""
_FEWEST_EXPECTED: Final = 5.0


def share(count: int, of: int) -> ShareFigure:
    """Return a share with Wilson's interval at 95 %.

    >>> found = share(9, 10)
    >>> (found.share, round(found.low, 3), round(found.high, 3))
    (0.9, 0.596, 0.982)
    """
    if not of:
        return ShareFigure(count=count, of=of)
    low, high = _interval(count, of)
    return ShareFigure(
        count=count, of=of, share=round(count / of, _DIGITS), low=round(low, _DIGITS), high=round(high, _DIGITS)
    )


def _interval(count: int, of: int) -> tuple[float, float]:
    return lower_bound(count, of, _TWO_SIDED), 1.0 - lower_bound(of - count, of, _TWO_SIDED)


def difference(before: ShareFigure, after: ShareFigure) -> tuple[float, float, float]:
    """Return by how much a share changed, and the interval of that at 95 % (Newcombe 1998, method 10).

    >>> [round(each, 4) for each in difference(share(48, 80), share(56, 70))]
    [0.2, 0.0524, 0.3339]
    """
    first, second = before.count / before.of, after.count / after.of
    (low1, high1), (low2, high2) = _interval(before.count, before.of), _interval(after.count, after.of)
    change = second - first
    return (
        change,
        change - math.hypot(second - low2, high1 - first),
        change + math.hypot(high2 - second, first - low1),
    )


def is_comparable(before: ShareFigure, after: ShareFigure) -> bool:
    """Whether two shares rest on enough rows to be compared.

    Each has 30 rows, and if nothing had changed, 5 with and 5 without would be expected in each.
    """
    if min(before.of, after.of) < FEWEST:
        return False
    pooled = (before.count + after.count) / (before.of + after.of)
    return min(before.of, after.of) * min(pooled, 1 - pooled) >= _FEWEST_EXPECTED


def two_shares(before: ShareFigure, after: ShareFigure) -> float:
    """Return how probable a difference at least as large would be by chance (pooled z-test, two-sided).

    >>> round(two_shares(share(48, 80), share(56, 70)), 5)
    0.00805
    """
    pooled = (before.count + after.count) / (before.of + after.of)
    spread = math.sqrt(pooled * (1 - pooled) * (1 / before.of + 1 / after.of))
    if not spread:
        return 1.0
    return math.erfc(abs(after.count / after.of - before.count / before.of) / spread / math.sqrt(2))


def adjusted(chances: Sequence[float]) -> list[float]:
    """Return the probabilities, raised for the number of comparisons (Holm 1979), in the same order.

    >>> [round(each, 3) for each in adjusted([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = sorted(range(len(chances)), key=lambda place: chances[place])
    raised = [0.0] * len(chances)
    least = 0.0
    for rank, place in enumerate(order):
        least = max(least, min(1.0, chances[place] * (len(chances) - rank)))
        raised[place] = least
    return raised


def paired_change(gained: int, lost: int) -> float | None:
    """Return how probable it is that as many rows change in one direction by chance (McNemar's exact test).

    None if no row changed. Above a thousand changes the normal distribution takes the place of the binomial one.

    >>> round(paired_change(2, 12), 4)
    0.0129
    """
    changed = gained + lost
    if not changed:
        return None
    if changed > 1000:
        return math.erfc(max(0.0, abs(gained - lost) - 1) / math.sqrt(2 * changed))
    ways = sum(math.comb(changed, number) for number in range(min(gained, lost) + 1))
    return min(1.0, float(2 * ways / 2**changed))
