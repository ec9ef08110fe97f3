"""The numbers of a turn's results, and whether another number follows from them."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

_FEW = 12
_MANY = 400
_FEW_LISTS = 20
_MOST_COUNTS = 40
_NEAR_TOTAL = 0.1
_NEAR = 8
_RUN_NAMES = {2: "sum of two", 3: "sum of three", 4: "sum of four"}
_SEARCHED_ENOUGH = "more numbers than are searched"


class AnswerNumbers(NamedTuple):
    """The numbers that an answer names, those of the kind looked for first, and how often it may have something."""

    numbers: Sequence[float]
    times: frozenset[int] = frozenset()


class Steps:
    """How much of a search is left. Results may contain a hundred thousand numbers, and an answer hundreds."""

    def __init__(self) -> None:
        self._left = _MOST_STEPS

    def are_spent(self) -> bool:
        """Whether nothing is left."""
        return self._left <= 0

    def take(self, count: int) -> bool:
        """Use `count` steps; False if none are left."""
        self._left -= count
        return self._left > 0


class Figures:
    """Every number in the results, arguments and question; `columns` are those that share a key.

    `counts` are lengths of lists and texts, `lists` those of lists alone; `strings` are all texts in it, unescaped.
    """

    def __init__(
        self,
        numbers: Iterable[float],
        columns: Mapping[str, Sequence[float]],
        *,
        counts: set[int],
        lists: set[int],
        strings: str,
    ) -> None:
        self._all = Sorted(map(abs, numbers))
        self._columns = {name: values for name, values in columns.items() if len(values) > 1}
        self.counts = counts
        self._lists = lists
        self.strings = strings

    def has(self, value: float, place: float) -> bool:
        """Whether a number is `value`, or becomes it when rounded or cut to the last written place."""
        tolerance = max(place, abs(value) * 1e-9)
        return self._all.between(value - tolerance * 0.5001, value + tolerance * 0.9999)

    def equals(self, value: float) -> bool:
        """Whether a number is `value`."""
        # Floats of ten digits keep their last one: another number is another thing.
        margin = min(abs(value) * 1e-9, 0.4)
        return self._all.between(value - margin, value + margin)

    def roughly(self, value: float, share: float) -> bool:
        """Whether a number is off by at most `share` of `value`."""
        return self._all.between(value * (1 - share), value * (1 + share))

    def nearest(self, value: float) -> float | None:
        """The number that is closest to `value`, for a reader."""
        return self._all.nearest(value)

    def like(self, digits: int) -> list[float]:
        """Return the numbers with this number of digits, without cents."""
        low, high = 10.0 ** (digits - 1), 10.0**digits
        return self._all.values[self._all.at(low) : self._all.at(high)]

    def counted(self, value: float) -> bool:
        """Whether `value` can count things: a whole list or text, or items picked from a list."""
        return value in self.counts or value <= max(self._lengths, default=0)

    @cached_property
    def _lengths(self) -> list[int]:
        return [count for count in self.counts if count <= 10_000]

    @cached_property
    def _totals(self) -> list[tuple[float, str, str]]:
        found: list[tuple[float, str, str]] = []
        lists: list[float] = []
        for name, values in self._columns.items():
            total = sum(values)
            found += ((abs(total), "total", name), (abs(total) / len(values), "mean", name))
            if "#" in name:
                lists.append(total)
                continue
            ordered = sorted(values)
            middle, other = ordered[len(ordered) // 2], ordered[(len(ordered) - 1) // 2]
            found.append((ordered[-1] - ordered[0], "span", name))
            found += [(abs(each), "median", name) for each in {middle, (middle + other) / 2}]
        if len(lists) <= _FEW_LISTS:
            for at, one in enumerate(lists):
                found += [(abs(one + other), "total of two lists", "") for other in lists[at + 1 :]]
        return sorted(found)

    @cached_property
    def _runs(self) -> list[tuple[float, str, str]]:
        """The sums of the first rows of a column, and of neighbours: the legs of a journey, the lines of an invoice."""
        found: list[tuple[float, str, str]] = []
        for name, values in self._columns.items():
            if "#" not in name:
                sums = [0.0, *accumulate(values[:_MANY])]
                found += [(abs(each), "sum of the first", name) for each in sums[2:]]
                for width in (2, 3, 4):
                    found += [
                        (abs(sums[at + width] - sums[at]), _RUN_NAMES[width], name) for at in range(len(sums) - width)
                    ]
        return sorted(found)

    def aggregate(self, value: float, tolerance: float) -> str | None:
        """Return the total, mean or other figure of a column that equals `value`, in words; None if none does."""
        # A sum of floats is slightly off.
        margin = max(tolerance, abs(value) * 1e-12)
        return _found_in(self._totals, value, margin) or _found_in(self._runs, value, margin)

    def near_total(self, value: float) -> str | None:
        """The total of a column that is close to `value`, at most a tenth off, in words."""
        at = bisect_left(self._totals, (value,))
        around = [each for each in self._totals[max(0, at - _NEAR) : at + _NEAR] if each[1] == "total"]
        best = min(around, key=lambda each: abs(each[0] - value), default=None)
        if best is None or abs(best[0] - value) > _NEAR_TOTAL * abs(value):
            return None
        return f"{_of(best)} is {round(best[0], 2):.15g}"

    def derivation(self, value: float, place: float, shown: AnswerNumbers, steps: Steps) -> str | None:
        """How `value` follows from numbers that belong together, in words; None if it does not.

        A calculation usually shows what it starts from. The search is bounded: beyond that a number is given the
        benefit of the doubt.
        """
        if steps.are_spent():
            return _SEARCHED_ENOUGH
        multiples = sorted({count for count in (*shown.times, *self._lists) if 1 < count <= _MOST_COUNTS})
        tolerance = max(place, abs(value) * 1e-9) * 0.9999
        found = self.aggregate(value, tolerance) or calculation(
            value, tolerance, shown.numbers, known=self._all, multiples=multiples, steps=steps
        )
        if found is not None:
            return found
        numbers = set(shown.numbers)
        for name, values in self._columns.items():
            if steps.are_spent():
                break
            if len(values) <= _MANY and steps.take(len(values)):
                if pair := _pair(value, tolerance, values, numbers):
                    return f"{pair} of {_plain(name)}"
                if 2 < len(values) <= _FEW and steps.take(1 << len(values)) and _subset(value, tolerance, values):
                    return f"sum of some of {_plain(name)}"
        return _SEARCHED_ENOUGH if steps.are_spent() else None

    def share(self, value: float, place: float, beside: Sequence[float], steps: Steps) -> str | None:
        """How `value` is a percentage of numbers that belong together: a part, a ratio, a change; else None."""
        groups = [beside[:60], *(values for values in self._columns.values() if len(values) <= 60)]
        for values in groups:
            if not steps.take(len(values) * len(values) // 4):
                return _SEARCHED_ENOUGH
            for one in values:
                for other in values:
                    if other and one is not other:
                        ratio = one / other * 100
                        if abs(ratio - value) <= place or abs(abs(ratio - 100) - value) <= place:
                            return f"{one:.15g} against {other:.15g}"
        for name, values in self._columns.items():
            total = sum(values)
            if total and any(abs(each / total * 100 - value) <= place for each in values[:_MANY]):
                return f"a share of {_plain(name)}"
        for count in self.counts:
            if 1 < count <= _MANY and abs(round(value * count / 100) * 100 / count - value) <= place:
                return f"a share of {count}"
        return None


def _found_in(figures: list[tuple[float, str, str]], value: float, margin: float) -> str | None:
    at = bisect_left(figures, (value - margin,))
    return _of(figures[at]) if at < len(figures) and figures[at][0] <= value + margin else None


def _plain(name: str) -> str:
    return name.rpartition("/")[2] or "the numbers"


def _of(aggregate: tuple[float, str, str]) -> str:
    _, what, name = aggregate
    return f"the {what} of {_plain(name)}" if name else what


def _pair(value: float, tolerance: float, values: Sequence[float], shown: set[float]) -> str | None:
    """How two numbers of a column differ by `value` or add up to it; of many whole ones, one must be in the answer."""
    ordered = sorted(set(values))
    distinctive = value != int(value) and any(each != int(each) for each in ordered[:_FEW])
    ones = ordered if distinctive or len(ordered) <= _FEW else [each for each in ordered if each in shown]
    for one in ones:
        for wanted, sign in ((value - one, "+"), (value + one, "\u2212")):
            at = bisect_left(ordered, wanted - tolerance)
            if (
                at < len(ordered)
                and ordered[at] <= wanted + tolerance
                and (ordered[at] != one or values.count(one) > 1)
            ):
                return f"{ordered[at]:.15g} {sign} {one:.15g}"
    return None


def _subset(value: float, tolerance: float, values: Sequence[float]) -> bool:
    """Whether some numbers of a short column add up to `value`; only with cents, as whole ones fit by chance."""
    if all(each == int(each) for each in values):
        return False
    sums = {0.0}
    for each in values:
        sums |= {total + each for total in sums}
    return any(abs(total - value) <= tolerance for total in sums)


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


def times_in(text: str) -> frozenset[int]:
    """The small whole numbers in a text, as digits or English words: `3 passengers`, `two nights`."""
    found = {int(match[0]) for match in _SMALL.finditer(text)}
    return frozenset(found | {_WORDS[word] for word in _WORD.findall(text.lower()) if word in _WORDS})


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
    """Yield a multiple of a number in the results, or its equal part: three passengers, four nights."""
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
    """Yield a multiple of the difference or sum of two numbers: the fare difference of each of three passengers."""
    pool = known if len(known.values) <= _FEW_NUMBERS else shown
    for times in multiples:
        each = value / times
        margin = max(tolerance / times, each * 1e-9)
        for one in shown.values:
            for other in (each + one, each - one, one - each):
                if other > margin and pool.between(other - margin, other + margin):
                    yield f"{times} \u00d7 {each:.15g}, from {one:.15g} and {other:.15g}"
