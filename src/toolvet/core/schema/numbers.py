"""Numbers that meet bounds and divisors, exactly: the arithmetic is in fractions, never in floats."""

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction

import msgspec

from toolvet.core.json_value import number


class Interval(msgspec.Struct):
    """The demands on a number; an open end excludes the bound itself.

    `step` is the least common multiple of all divisors.
    """

    low: Fraction | None = None
    low_open: bool = False
    high: Fraction | None = None
    high_open: bool = False
    step: Fraction | None = None

    def holds(self, value: Fraction) -> bool:
        """Whether `value` is inside and a multiple of the step."""
        if self.low is not None and (value < self.low or (self.low_open and value == self.low)):
            return False
        if self.high is not None and (value > self.high or (self.high_open and value == self.high)):
            return False
        return self.step is None or (value / self.step).denominator == 1

    def nearest(self, wish: Fraction) -> Iterator[Fraction]:
        """Yield values inside, the one nearest to `wish` first, then others; at most a few dozen."""
        inside = self._lattice(wish) if self.step is not None else self._reals(wish)
        seen: set[Fraction] = set()
        for value in inside:
            if value not in seen and self.holds(value):
                seen.add(value)
                yield value

    def _lattice(self, wish: Fraction) -> Iterator[Fraction]:
        step = self.step or Fraction(1)
        first = None if self.low is None else math.ceil(self.low / step) + _steps_to_skip(self.low_open, self.low, step)
        last = (
            None
            if self.high is None
            else math.floor(self.high / step) - _steps_to_skip(self.high_open, self.high, step)
        )
        if first is not None and last is not None and first > last:
            return
        start = round(wish / step)
        start = start if first is None else max(start, first)
        start = start if last is None else min(start, last)
        for distance in range(_TRIES):
            yield (start + distance) * step
            yield (start - distance) * step

    def _reals(self, wish: Fraction) -> Iterator[Fraction]:
        yield wish
        low = self.low if self.low is not None else (self.high - 100 if self.high is not None else wish)
        high = self.high if self.high is not None else low + 100
        yield from (low, high)
        for distance in range(1, _TRIES):
            yield from (wish + distance, wish - distance, low + distance, high - distance)
        for parts in range(2, _TRIES):
            yield low + (high - low) / parts


_TRIES = 40


def interval(schemas: Iterable[Mapping[str, object]]) -> Interval:
    """The interval that all of `schemas` leave; draft 4's boolean `exclusiveMinimum` included."""
    found = Interval()
    for schema in schemas:
        for keyword, strict in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            is_low = keyword == "minimum"
            bound, open_bound = exact(schema.get(keyword)), exact(schema.get(strict))
            if bound is not None:
                _narrow(found, bound, is_low=is_low, is_open=schema.get(strict) is True)
            if open_bound is not None:
                _narrow(found, open_bound, is_low=is_low, is_open=True)
        divisor = exact(schema.get("multipleOf"))
        if divisor is not None and divisor > 0:
            found.step = common_multiple(found.step, divisor)
    return found


def exact(value: object) -> Fraction | None:
    """The number as it is written: `0.1` is one tenth."""
    found = number(value)
    return None if found is None else Fraction(repr(found)) if isinstance(found, float) else Fraction(found)


def plain(value: Fraction) -> int | float | None:
    """Return the fraction as JSON: an integer if it is one, else the nearest float; None beyond a float's range."""
    if value.denominator == 1:
        return int(value)
    try:
        return float(value)
    except OverflowError:
        return None


def common_multiple(left: Fraction | None, right: Fraction) -> Fraction:
    """The smallest number that is a multiple of both."""
    if left is None:
        return right
    scale = left.denominator * right.denominator
    return Fraction(math.lcm(left.numerator * right.denominator, right.numerator * left.denominator), scale)


def _steps_to_skip(is_open: bool, bound: Fraction, step: Fraction) -> int:  # noqa: FBT001
    """Return 1 if the bound is excluded and a multiple of the step, else 0."""
    return int(is_open and (bound / step).denominator == 1)


def _narrow(found: Interval, bound: Fraction, *, is_low: bool, is_open: bool) -> None:
    if is_low:
        if found.low is None or bound > found.low or (bound == found.low and is_open):
            found.low, found.low_open = bound, is_open
    elif found.high is None or bound < found.high or (bound == found.high and is_open):
        found.high, found.high_open = bound, is_open
