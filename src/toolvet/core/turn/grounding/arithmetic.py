"""How a number is calculated from others: sums, differences, products, shares and means, by a bounded search.

    value      1,305
    shown      640, 1,920, 400, 215       the numbers that the answer names besides
    found      1920 - 400 - 215

The search is bounded (`Steps`), and says in words what it found.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

_MOST_SHOWN = 40
_MOST_STEPS = 400_000
_FEW_NUMBERS = 60
_SMALL = re.compile(r"(?<![0-9.,:/$-])(?:[2-9]|[1-5][0-9])(?![0-9.,:/-]*[0-9])")
_WORD = re.compile(r"[a-z]{3,6}")
_WORDS = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10} | {
    "both": 2, "double": 2, "twice": 2, "pair": 2, "triple": 3, "dozen": 12, "yearly": 12, "annual": 12, "weekly": 52
}  # fmt: skip


class Sorted:
    """Distinct numbers in order, to be searched."""

    def __init__(self, values: Iterable[float]) -> None:
        self.values = sorted(set(values))

    def at(self, value: float) -> int:
        """The place of the first number that is not below `value`."""
        return bisect_left(self.values, value)

    def between(self, low: float, high: float) -> bool:
        """Whether a number is in the range."""
        at = self.at(low)
        return at < len(self.values) and self.values[at] <= high

    def nearest(self, value: float) -> float | None:
        """The number that is closest to `value`."""
        at = self.at(value)
        return min(self.values[max(0, at - 1) : at + 1], key=lambda each: abs(each - value), default=None)


class Shown(NamedTuple):
    """The numbers that an answer names, those of the kind looked for first, and how often it may have something."""

    numbers: Sequence[float]
    times: frozenset[int] = frozenset()


def times_in(text: str) -> frozenset[int]:
    """The small whole numbers in a text, as digits or English words: `3 passengers`, `two nights`."""
    found = {int(match[0]) for match in _SMALL.finditer(text)}
    return frozenset(found | {_WORDS[word] for word in _WORD.findall(text.lower()) if word in _WORDS})


class Steps:
    """How much of a search is left. Results may contain a hundred thousand numbers, and an answer hundreds."""

    def __init__(self) -> None:
        self._left = _MOST_STEPS

    def are_spent(self) -> bool:
        """Whether nothing is left."""
        return self._left <= 0

    def take(self, count: int) -> bool:
        """Use `count` steps; False where they are spent."""
        self._left -= count
        return self._left > 0


def calculation(
    value: float,
    tolerance: float,
    beside: Sequence[float],
    *,
    known: Sorted,
    multiples: Sequence[int],
    steps: Steps,
) -> str | None:
    """How `value` comes from the numbers `beside` it in the answer, from `known` ones, and from small `multiples`."""
    shown = Sorted(list(dict.fromkeys(abs(each) for each in beside if each))[:_MOST_SHOWN])
    count = len(shown.values)
    if not steps.take(count * count * 4 + len(multiples) * 2 + 1):
        return None
    found = next(_of_two(value, tolerance, shown.values), None) or _of_run(value, tolerance, beside[:_MOST_SHOWN])
    if found is None:
        found = next(_of_product(value, tolerance, known, multiples), None)
    if found is None:
        found = next(_of_three(value, tolerance, shown), None)
    if found is None:
        found = next(_of_known(value, tolerance, shown, known), None)
    if found is None and steps.take(len(multiples) * count * 4):
        found = next(_of_multiple(value, tolerance, shown, known, multiples), None)
    return found


def _of_two(value: float, tolerance: float, shown: Sequence[float]) -> Iterator[str]:
    for place, one in enumerate(shown):
        if abs(one * one - value) <= tolerance:
            yield f"{one:.15g} \u00d7 {one:.15g}"
        for other in shown[place + 1 :]:
            if abs(one + other - value) <= tolerance:
                yield f"{one:.15g} + {other:.15g}"
            elif abs(other - one - value) <= tolerance:
                yield f"{other:.15g} \u2212 {one:.15g}"
            elif abs(one * other - value) <= tolerance:
                yield f"{one:.15g} \u00d7 {other:.15g}"
            elif abs(one * other / 100 - value) <= tolerance:
                yield f"{one:.15g} % of {other:.15g}"
            elif abs(one / other - value) <= tolerance:
                yield f"{one:.15g} ÷ {other:.15g}"
            elif abs(other / one - value) <= tolerance:
                yield f"{other:.15g} ÷ {one:.15g}"
            elif abs((one + other) / 2 - value) <= tolerance:
                yield f"the mean of {one:.15g} and {other:.15g}"
            else:
                for rate, base in ((one, other), (other, one)):
                    if rate <= 100 and (
                        abs(base * (1 - rate / 100) - value) <= tolerance
                        or abs(base * (1 + rate / 100) - value) <= tolerance
                    ):
                        yield f"{base:.15g} changed by {rate:.15g} %"


def _of_run(value: float, tolerance: float, beside: Sequence[float]) -> str | None:
    """A row of the numbers of the answer added up, or its mean: the lines of a list above their total."""
    sums = [0.0, *accumulate(beside)]
    for end in range(2, len(sums)):
        for start in range(end - 1):
            total = sums[end] - sums[start]
            if abs(total - value) <= tolerance:
                return " + ".join(f"{each:.15g}" for each in beside[start:end])
            if abs(total / (end - start) - value) <= tolerance:
                return f"the mean of {', '.join(f'{each:.15g}' for each in beside[start:end])}"
    return None


def _of_product(value: float, tolerance: float, known: Sorted, multiples: Sequence[int]) -> Iterator[str]:
    """So many times a number of the results: three passengers, four nights; or its equal parts."""
    for times in multiples:
        whole = value * times
        margin = max(tolerance * times / 2, whole * 1e-9)
        if value != int(value) and known.between(whole - margin, whole + margin):
            yield f"{whole:.15g} \u00f7 {times}"
        each = value / times
        margin = max(tolerance / times, each * 1e-9)
        if known.between(each - margin, each + margin):
            yield f"{times} \u00d7 {each:.15g}"


def _of_three(value: float, tolerance: float, shown: Sorted) -> Iterator[str]:
    """Three numbers of the answer, added or taken away."""
    for place, one in enumerate(shown.values):
        for other in shown.values[place:]:
            for third, words in (
                (value - one - other, "{2} + {0} + {1}"),
                (value + one + other, "{2} \u2212 {0} \u2212 {1}"),
                (value + one - other, "{2} \u2212 {0} + {1}"),
                (value - one + other, "{2} + {0} \u2212 {1}"),
            ):
                if third > tolerance and shown.between(third - tolerance, third + tolerance):
                    yield words.format(f"{one:.15g}", f"{other:.15g}", f"{third:.15g}")


def _of_known(value: float, tolerance: float, shown: Sorted, known: Sorted) -> Iterator[str]:
    """A number of the answer and one of the results; of many whole numbers two always fit, so they must be few."""
    if value == int(value) and len(known.values) > _FEW_NUMBERS:
        return
    for one in shown.values:
        for other, words in (
            (value - one, "{1} + {0}"),
            (value + one, "{1} \u2212 {0}"),
            (one - value, "{0} \u2212 {1}"),
        ):
            if other > tolerance and known.between(other - tolerance, other + tolerance):
                yield words.format(f"{one:.15g}", f"{other:.15g}")


def _of_multiple(
    value: float, tolerance: float, shown: Sorted, known: Sorted, multiples: Sequence[int]
) -> Iterator[str]:
    """So many times what two numbers differ by or add up to: the fare difference of each of three passengers."""
    pool = known if len(known.values) <= _FEW_NUMBERS else shown
    for times in multiples:
        each = value / times
        margin = max(tolerance / times, each * 1e-9)
        for one in shown.values:
            for other in (each + one, each - one, one - each):
                if other > margin and pool.between(other - margin, other + margin):
                    yield f"{times} \u00d7 {each:.15g}, from {one:.15g} and {other:.15g}"
