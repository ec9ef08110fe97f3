"""The numbers of a turn's results, and whether another number follows from them."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate

_FEW = 12
_MANY = 400
_MOST_MULTIPLES = 20
_ROUGHLY = 0.05


class Figures:
    """Every number in the results, arguments and question; `columns` are those that share a key.

    `counts` are lengths of lists and texts; `strings` are all texts in it, unescaped.
    """

    def __init__(
        self, numbers: Iterable[float], columns: Mapping[str, Sequence[float]], counts: set[int], strings: str
    ) -> None:
        self._sorted = sorted(set(map(abs, numbers)))
        self._columns = columns
        self.counts = counts
        self.strings = strings

    def has(self, value: float, place: float) -> bool:
        """Whether a number is `value`, or becomes it when rounded or cut to the last written place."""
        tolerance = max(place, abs(value) * 1e-9)
        return self._near(value, value - tolerance * 0.5001, value + tolerance * 0.9999)

    def equals(self, value: float) -> bool:
        """Whether a number is `value`."""
        margin = abs(value) * 1e-9
        return self._near(value, value - margin, value + margin)

    def roughly(self, value: float) -> bool:
        """Whether a number is within five per cent."""
        return self._near(value, value * (1 - _ROUGHLY), value * (1 + _ROUGHLY))

    def _near(self, value: float, low: float, high: float) -> bool:
        del value
        at = bisect_left(self._sorted, low)
        return at < len(self._sorted) and self._sorted[at] <= high

    def nearest(self, value: float) -> float | None:
        """The number that is closest to `value`, for a reader."""
        if not self._sorted:
            return None
        at = bisect_left(self._sorted, value)
        return min(self._sorted[max(0, at - 1) : at + 1], key=lambda each: abs(each - value))

    def counted(self, value: float) -> bool:
        """Whether so many things can be counted: a whole list or text, or those picked from a list."""
        return value in self.counts or value <= max(self._lengths, default=0)

    @cached_property
    def _lengths(self) -> list[int]:
        return [count for count in self.counts if count <= 10_000]

    @cached_property
    def _aggregates(self) -> list[float]:
        """Total, mean, span of every column, and the sums of its beginnings."""
        found: list[float] = []
        for values in self._columns.values():
            if len(values) > 1:
                total = sum(values)
                ordered = sorted(values)
                middle = ordered[len(ordered) // 2]
                found += [total, total / len(values), ordered[-1] - ordered[0], middle]
                found.append((middle + ordered[(len(ordered) - 1) // 2]) / 2)
                found += list(accumulate(values[:_MANY]))
                # Neighbours belong together: the legs of a journey, the lines of an invoice.
                for width in (2, 3, 4):
                    found += (sum(values[at : at + width]) for at in range(min(len(values), _MANY) - width + 1))
        return sorted(map(abs, found))

    def follows(self, value: float, place: float, beside: Sequence[float]) -> bool:
        """Whether `value` is a sum, difference, product, mean or share of numbers that belong together.

        `beside` are the numbers that the answer names besides; a calculation usually shows what it starts from.
        """
        tolerance = max(place, abs(value) * 1e-9) * 0.9999
        at = bisect_left(self._aggregates, value - tolerance)
        if at < len(self._aggregates) and self._aggregates[at] <= value + tolerance:
            return True
        if _calculated(value, tolerance, beside[:60]):
            return True
        shown = set(beside)
        return any(
            _pair(value, tolerance, values, shown) for values in self._columns.values() if len(values) <= _MANY
        ) or any(_subset(value, tolerance, values) for values in self._columns.values() if 2 < len(values) <= _FEW)

    def share(self, value: float, place: float, beside: Sequence[float]) -> bool:
        """Whether `value` is a percentage of numbers that belong together: a part of a count, a ratio, a change."""
        groups = [beside[:60], *(values for values in self._columns.values() if 1 < len(values) <= 60)]
        for values in groups:
            for one in values:
                for other in values:
                    if other and one is not other:
                        ratio = one / other * 100
                        if abs(ratio - value) <= place or abs(abs(ratio - 100) - value) <= place:
                            return True
        for values in self._columns.values():
            total = sum(values)
            if total and any(abs(each / total * 100 - value) <= place for each in values[:_MANY]):
                return True
        return any(
            abs(round(value * count / 100) * 100 / count - value) <= place
            for count in self.counts
            if 1 < count <= _MANY
        )


def _pair(value: float, tolerance: float, values: Sequence[float], shown: set[float]) -> bool:
    """Whether two numbers of a column differ by `value` or add up to it.

    In a long column of whole numbers two numbers always do, so one of them must be in the answer.
    """
    ordered = sorted(set(values))
    distinctive = value != int(value) and any(each != int(each) for each in ordered[:_FEW])
    ones = ordered if distinctive or len(ordered) <= _FEW else [each for each in ordered if each in shown]
    for one in ones:
        for wanted in (value - one, value + one):
            at = bisect_left(ordered, wanted - tolerance)
            if (
                at < len(ordered)
                and ordered[at] <= wanted + tolerance
                and (ordered[at] != one or values.count(one) > 1)
            ):
                return True
    return False


def _subset(value: float, tolerance: float, values: Sequence[float]) -> bool:
    """Whether some numbers of a short column add up to `value`; only with cents, as whole ones fit by chance."""
    if all(each == int(each) for each in values):
        return False
    sums = {0.0}
    for each in values:
        sums |= {total + each for total in sums}
    return any(abs(total - value) <= tolerance for total in sums)


def _calculated(value: float, tolerance: float, beside: Sequence[float]) -> bool:
    """Whether the numbers of the answer itself give `value`: two of them, or a row of them added up."""
    for place, one in enumerate(beside):
        for other in beside[place + 1 :]:
            if (
                abs(one + other - value) <= tolerance
                or abs(abs(one - other) - value) <= tolerance
                or abs(one * other - value) <= tolerance
                or abs(one * other / 100 - value) <= tolerance
                or (other and abs(one / other - value) <= tolerance)
                or (one and abs(other / one - value) <= tolerance)
            ):
                return True
    sums = [0.0, *accumulate(beside)]
    return any(
        abs(later - earlier - value) <= tolerance
        for place, later in enumerate(sums)
        for earlier in sums[: max(0, place - 1)]
    )
