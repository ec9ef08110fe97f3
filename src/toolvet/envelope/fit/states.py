"""How much of the items is kept, from nothing to nearly all, in numbers: so the richest that fits can be searched."""

from collections.abc import Callable
from typing import Any

from toolvet.envelope.fit.items import Items
from toolvet.envelope.fit.measure import Measure
from toolvet.envelope.json_copy import written

Shorten = Callable[[int], Any]
"""The number of an item → what stands for it; the item itself where nothing shorter does."""


class States:
    """State `n` keeps the `n` items that matter most, each as `shorten` gives it.

    With `restores`, states beyond the number of items keep all, and more and more of them whole. What an item costs is
    counted when a state that keeps it is asked for, so that of many items only those are looked at that may fit.
    """

    def __init__(self, items: Items, measure: Measure, shorten: Shorten | None, *, restores: bool) -> None:
        self._items = items
        self._measure = measure
        self._shorten = shorten
        self._short: list[Any] = []
        self._totals = [0]
        count = len(items.values)
        # The last one of each would be the response that did not fit.
        self.top = 2 * count - 1 if restores and count else count - (shorten is None)

    def total(self, state: int) -> int:
        """What the items of a state add to the length of a response with empty lists, commas included."""
        while len(self._totals) <= state:
            self._totals.append(self._totals[-1] + self._added(len(self._totals) - 1))
        return self._totals[state]

    def _added(self, index: int) -> int:
        count = len(self._items.values)
        if index >= count:
            number = self._items.order[index - count]
            return self._cost(self._items.values[number]) - self._cost(self._short[index - count])
        number = self._items.order[index]
        whole = self._items.values[number]
        self._short.append(whole if self._shorten is None else self._shorten(number))
        return self._cost(self._short[-1]) + 1

    def _cost(self, value: Any) -> int:
        return self._measure(written(value))

    def chosen(self, state: int) -> dict[int, Any]:
        """The numbers of the items that a state keeps, with what stands for each."""
        self.total(state)
        count = len(self._items.values)
        kept = dict(zip(self._items.order[: min(state, count)], self._short, strict=False))
        for number in self._items.order[: max(0, state - count)]:
            kept[number] = self._items.values[number]
        return kept

    def fitting(self, room: Callable[[int], int]) -> int:
        """The richest state, by the sums alone, whose items take no more than `room` leaves them; -1 for none."""
        state = 0
        while state < self.top and self.total(state + 1) <= room(state + 1):
            state += 1
        return state if self.total(state) <= room(state) else -1


def richest(fits: Callable[[int], bool], start: int, top: int) -> int:
    """The largest state from 0 to `top` that fits, searched from `start` on in growing steps; -1 for none.

    What it gives was asked for, so it fits; that nothing larger does is only sure if whatever is smaller fits as well.
    """
    start = min(max(start, 0), top)
    good, bad, stride = -1, top + 1, 1
    if fits(start):
        good = start
        while good + stride < bad:
            if not fits(good + stride):
                bad = good + stride
                break
            good += stride
            stride *= 2
    else:
        bad = start
        while bad > 0:
            lower = max(0, bad - stride)
            if fits(lower):
                good = lower
                break
            bad, stride = lower, stride * 2
    while good >= 0 and bad - good > 1:
        middle = (good + bad) // 2
        if fits(middle):
            good = middle
        else:
            bad = middle
    return good
