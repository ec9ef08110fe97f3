"""How a figure comes from two others: each way, and just as far off as is allowed."""

import pytest

from toolvet.core.turn.ledger.figures import _of_two

# A power of two, as nothing may be rounded.
TOLERANCE = 2.0**-10
WAYS = [
    ((3.0, 8.0), 9.0, "3 \u00d7 3"),
    ((3.0, 8.0), 64.0, "8 \u00d7 8"),
    ((3.0, 8.0), 11.0, "3 + 8"),
    ((3.0, 8.0), 5.0, "8 \u2212 3"),
    ((3.0, 8.0), 24.0, "3 \u00d7 8"),
    ((50.0, 800.0), 400.0, "50 % of 800"),
    ((50.0, 800.0), 425.0, "the mean of 50 and 800"),
    ((4.0, 64.0), 0.0625, "4 \u00f7 64"),
    ((2.0, 64.0), 32.0, "64 \u00f7 2"),
    ((50.0, 800.0), 1200.0, "800 changed by 50 %"),
    ((25.0, 800.0), 600.0, "800 changed by 25 %"),
    ((100.0, 800.0), 1600.0, "800 changed by 100 %"),
    ((800.0, 100.0), 1600.0, "800 changed by 100 %"),
]


@pytest.mark.parametrize(("shown", "value", "way"), WAYS)
@pytest.mark.parametrize("sign", [-1, 0, 1])
def test_a_figure_comes_from_two_others_up_to_the_tolerance(
    shown: tuple[float, float], value: float, way: str, sign: int
) -> None:
    assert list(_of_two(value + sign * TOLERANCE, TOLERANCE, shown)) == [way]


@pytest.mark.parametrize(("shown", "value"), [(shown, value) for shown, value, _ in WAYS])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_figure_that_is_farther_off_comes_from_nothing(shown: tuple[float, float], value: float, sign: int) -> None:
    assert not list(_of_two(value + sign * TOLERANCE * 2, TOLERANCE, shown))


def test_a_rate_above_a_hundred_changes_nothing() -> None:
    assert not list(_of_two(2010.0, TOLERANCE, (101.0, 1000.0)))
