"""How many items a response keeps, as a numbered state from nothing to nearly all, and the search for the largest.

With the items `a`, `b`, `c` in order of importance, state 2 keeps `a` and `b`. Where shortened items may be kept whole
again, states 4 and 5 keep all three, the first one or two of them whole.
"""

from collections.abc import Callable
from typing import Any

from toolvet.core.envelope.fit.items import PayloadItems
from toolvet.core.envelope.fit.measure import Measure
from toolvet.core.envelope.json_copy import encode_json

Shorten = Callable[[int], Any]
"""The number of an item → what replaces it; the item itself where nothing shorter does."""


class FitStates:
    """State `n` keeps the `n` most important items, each as `shorten` returns it.

    With `restores`, states beyond the number of items keep all items, and more and more of them whole. The length of an
    item is counted when a state that keeps it is needed, so items that cannot fit are never measured. `top` is the
    largest state.
    """

    def __init__(self, items: PayloadItems, measure: Measure, shorten: Shorten | None, *, restores: bool) -> None:
        self._items = items
        self._measure = measure
        self._shorten = shorten
        self._short: list[Any] = []
        self._totals = [0]
        count = len(items.values)
        # One state more would be the response that did not fit.
        self.top = 2 * count - 1 if restores and count else count - (shorten is None)

    def total_length(self, state: int) -> int:
        """The length that the items of a state add to a response with empty lists, commas included."""
        while len(self._totals) <= state:
            self._totals.append(self._totals[-1] + self._next_cost(len(self._totals) - 1))
        return self._totals[state]

    def _next_cost(self, index: int) -> int:
        count = len(self._items.values)
        if index >= count:
            number = self._items.order[index - count]
            return self._cost(self._items.values[number]) - self._cost(self._short[index - count])
        number = self._items.order[index]
        item = self._items.values[number]
        self._short.append(item if self._shorten is None else self._shorten(number))
        return self._cost(self._short[-1]) + 1

    def _cost(self, value: Any) -> int:
        return self._measure(encode_json(value))

    def kept_items(self, state: int) -> dict[int, Any]:
        """The items that a state keeps, by number, each as it is sent."""
        self.total_length(state)
        count = len(self._items.values)
        kept = dict(zip(self._items.order[: min(state, count)], self._short, strict=False))
        for number in self._items.order[: max(0, state - count)]:
            kept[number] = self._items.values[number]
        return kept

    def largest_by_sums(self, room: Callable[[int], int]) -> int:
        """The largest state, by the sums alone, whose items are not longer than `room` of that state; -1 for none."""
        state = 0
        while state < self.top and self.total_length(state + 1) <= room(state + 1):
            state += 1
        return state if self.total_length(state) <= room(state) else -1


def largest_fitting(fits: Callable[[int], bool], start: int, top: int) -> int:
    """The largest state from 0 to `top` that fits, searched from `start` in growing steps; -1 for none.

    The state that it returns was tested. No larger one fits, provided that every state below a fitting one fits, too.
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
