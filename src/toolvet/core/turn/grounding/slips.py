"""Amounts that differ from one in the results by a digit, so that it is known what they should have been.

    answer     Your total is $57.50.
    results    {"total": 54.5}            one digit differs, and the answer says 54.50 nowhere

An amount that differs in more may be calculated in a way that was not found.
"""

from collections.abc import Collection

from toolvet.core.turn.grounding.figures import Figures
from toolvet.core.turn.grounding.mentions import Mention

_FEWEST_DIGITS = 4
_MOST_CHANCE = 0.05


def slip_of(mention: Mention, figures: Figures, shown: Collection[float]) -> float | None:
    """The number of the results of which an amount is a slip of one digit; None where chance would give one too.

    `shown` are the numbers of the answer: an amount beside the right one is something else.
    """
    reading = mention.numbers[0]
    if not mention.money or mention.about or reading.place > 1:
        return None
    written = _written(reading.value)
    digits = len(written) - 1
    if digits < _FEWEST_DIGITS:
        return None
    known = figures.like(len(written.partition(".")[0]))
    # Each number of the results has nine neighbours in every place; by chance one of them is this amount.
    if len(known) * 9 * digits > _MOST_CHANCE * 10**digits:
        return None
    near = [each for each in known if each not in shown and _differ_in_one(_written(each), written)]
    return near[0] if len(near) == 1 else None


def _written(value: float) -> str:
    return f"{value:.2f}" if value != int(value) else f"{value:.0f}."


def _differ_in_one(one: str, other: str) -> bool:
    """Whether two numerals of one length differ in one digit, or in two neighbours that changed places."""
    if len(one) != len(other):
        return False
    apart = [at for at, (left, right) in enumerate(zip(one, other, strict=True)) if left != right]
    if len(apart) == 2:
        first, second = apart
        return second == first + 1 and one[first] == other[second] and one[second] == other[first]
    return len(apart) == 1
