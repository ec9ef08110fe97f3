"""How a number follows from others: in which order it is looked for, its limits on both sides, and what it costs."""

import pytest

from toolvet.core.turn.ledger.figures import (
    AnswerNumbers,
    Figures,
    Sorted,
    Steps,
    _of_known,
    _of_multiple,
    _of_product,
    _of_three,
    _of_two,
    _pair,
    calculation,
    times_in,
)
from toolvet.core.turn.ledger.mentions import mentions_in
from toolvet.core.turn.ledger.values import slip_of

COUNTS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "both": 2,
    "double": 2, "Twice": 2, "pair": 2, "triple": 3, "dozen": 12, "yearly": 12, "annual": 12, "WEEKLY": 52,
    "many": None,
}  # fmt: skip


def left(steps: int) -> Steps:
    """A search with this many steps left."""
    found = Steps()
    found._left = steps
    return found


def figures(columns: dict[str, list[float]], counts: set[int] | None = None, lists: set[int] | None = None) -> Figures:
    numbers = [value for values in columns.values() for value in values]
    return Figures(numbers, columns, counts=counts or set(), lists=lists or set(), strings="")


def test_words_that_count() -> None:
    assert {word: times_in(f"the {word} of them") for word in COUNTS} == {
        word: frozenset() if count is None else frozenset({count}) for word, count in COUNTS.items()
    }


def test_the_number_nearest_and_whether_one_is_in_a_range() -> None:
    known = Sorted([30, 10, 20, 20])
    assert [known.nearest(value) for value in (5, 14, 16, 24, 26, 99)] == [10, 10, 20, 20, 30, 30]
    assert Sorted([]).nearest(5) is None
    ranges = ((10, 10), (9, 10), (10, 11), (8, 9), (11, 19), (30, 99), (31, 99))
    assert [known.between(*each) for each in ranges] == [True, True, True, False, False, True, False]


def test_a_search_ends_with_its_last_step() -> None:
    steps = left(10)
    assert steps.take(9)
    assert not steps.are_spent()
    assert not steps.take(1)
    assert steps.are_spent()
    assert left(11).take(10)


@pytest.mark.parametrize(
    ("value", "beside", "known", "multiples", "found"),
    [
        # Two numbers, a row, a number of the results, three, two of which one is of the results, and a multiple.
        (15, [3, 5], [], [], "3 \u00d7 5"),
        (8, [3, -5], [], [], "3 + 5"),
        (8, [0, 3, 5], [], [], "3 + 5"),
        (95, [21, 33, 41], [], [], "21 + 33 + 41"),
        (24, [7], [8], [3], "3 \u00d7 8"),
        (16, [10, 100, 1, 50, 5], [], [], "10 + 1 + 5"),
        (7, [3], [4], [], "4 + 3"),
        (30, [4], [6], [3], "3 \u00d7 10, from 4 and 6"),
        (31, [4], [6], [3], None),
        # The plainest way goes first.
        (10, [4, 6], [5], [2], "4 + 6"),
        (10, [4], [5, 6], [2], "2 \u00d7 5"),
        (16, [10, 100, 1, 50, 5], [6], [], "10 + 1 + 5"),
        # Of an answer with very many numbers the first forty count.
        (8, [1000.5 + 77.7 * place for place in range(38)] + [3, 5], [], [], "3 + 5"),
        (8, [1000.5 + 77.7 * place for place in range(39)] + [3, 5], [], [], None),
    ],
)
def test_the_way_in_which_a_number_is_calculated(
    value: float, beside: list[float], known: list[float], multiples: list[int], found: str | None
) -> None:
    assert calculation(value, 0, beside, known=Sorted(known), multiples=multiples, steps=Steps()) == found


@pytest.mark.parametrize(
    ("steps", "found"),
    [(21, None), (22, None), (37, None), (38, "3 \u00d7 10, from 4 and 6"), (99, "3 \u00d7 10, from 4 and 6")],
)
def test_a_calculation_costs_by_the_square_of_what_it_looks_at(steps: int, found: str | None) -> None:
    """Two numbers and two multiples: 21 steps, and 16 more for the sums of which there are several."""
    search = left(steps)
    assert calculation(30, 0, [4, 77], known=Sorted([6]), multiples=[3, 7], steps=search) == found
    assert search.are_spent() is (steps <= 37)


def test_what_two_numbers_show_is_found_with_the_last_step_but_one() -> None:
    assert calculation(8, 0, [3, 5], known=Sorted([]), multiples=[], steps=left(18)) == "3 + 5"
    assert calculation(8, 0, [3, 5], known=Sorted([]), multiples=[], steps=left(17)) is None


@pytest.mark.parametrize(
    ("value", "shown", "found"),
    [
        (68, [15, 80], "80 changed by 15 %"),
        (92, [15, 80], "80 changed by 15 %"),
        (18, [15, 120], "15 % of 120"),
        (17.25, [15, 115], "15 % of 115"),
        (27, [20, 22.5], "22.5 changed by 20 %"),
        (60, [30, 100], "30 changed by 100 %"),
        (60.3, [30, 101], None),
    ],
)
def test_a_number_is_another_changed_by_a_percentage(value: float, shown: list[float], found: str | None) -> None:
    assert next(_of_two(value, 1e-9, shown), None) == found
    if found is not None and "changed" in found:
        assert next(_of_two(value + 0.25, 0.25, shown), None) == found
        assert next(_of_two(value - 0.25, 0.25, shown), None) == found
        assert next(_of_two(value + 0.25, 0.125, shown), None) is None


@pytest.mark.parametrize(
    ("value", "tolerance", "known", "times", "found"),
    [
        # A rounded figure is known to within its last place, of the whole or of a part.
        (2.5, 0.1, 10.2, 4, "10 \u00f7 4"),
        (2.5, 0.1, 10.25, 4, None),
        (30, 0.3, 10.1, 3, "3 \u00d7 10"),
        (30, 0.3, 9.9, 3, "3 \u00d7 10"),
        (30, 0.3, 10.15, 3, None),
        # Very large numbers lose their last digits.
        (30_000_000_020, 0, 10_000_000_000, 3, "3 \u00d7 10000000006.6667"),
        (30_000_000_060, 0, 10_000_000_000, 3, None),
        (2_500_000_000.5, 0, 10_000_000_000, 4, "10000000002 \u00f7 4"),
        (2_500_000_005.5, 0, 10_000_000_000, 4, None),
    ],
)
def test_so_many_times_a_number_that_was_rounded(
    value: float, tolerance: float, known: float, times: int, found: str | None
) -> None:
    assert next(_of_product(value, tolerance, Sorted([known]), [times]), None) == found


def test_three_numbers_and_one_of_the_results_may_be_off_by_their_last_place() -> None:
    assert next(_of_three(16.5, 0.5, Sorted([1, 5, 10])), None) is not None
    assert next(_of_three(100.75, 0.5, Sorted([1, 5, 90])), None) is None
    assert next(_of_known(7.5, 0.5, Sorted([3]), Sorted([4])), None) == "4.5 + 3"
    assert next(_of_known(6.5, 0.5, Sorted([3]), Sorted([4])), None) == "3.5 + 3"
    assert next(_of_known(7.75, 0.5, Sorted([3]), Sorted([4])), None) is None
    # Nothing is added where nothing is left.
    assert next(_of_known(3, 0.5, Sorted([3]), Sorted([0.25])), None) is None


def test_multiples_of_sums_are_looked_for_among_few_numbers_of_the_results_else_in_the_answer() -> None:
    many = [1000.5 + place for place in range(61)]
    assert next(_of_multiple(30, 0, Sorted([10, 20]), Sorted(many), [3]), None) == "3 \u00d7 10, from 10 and 20"
    assert next(_of_multiple(30, 0, Sorted([10, 20]), Sorted(many[:60]), [3]), None) is None
    assert next(_of_multiple(30, 0.3, Sorted([4]), Sorted([6.1]), [3]), None) == "3 \u00d7 10, from 4 and 6"
    assert next(_of_multiple(30, 0.3, Sorted([4]), Sorted([6.15]), [3]), None) is None
    assert next(_of_multiple(3e10, 0, Sorted([4e9]), Sorted([6_000_000_007]), [3]), None) is not None
    assert next(_of_multiple(3e10, 0, Sorted([4e9]), Sorted([6_000_000_013]), [3]), None) is None


@pytest.mark.parametrize(
    ("columns", "value", "found"),
    [
        ({"a": [5]}, 5, None),
        ({"a": [5, 6]}, 11, "the total of a"),
        ({"rows.a": [5, 6]}, 5.5, "the mean of rows.a"),
        ({"": [5, 8]}, 13, "total"),
        ({"a": [-5, -6]}, 11, "the total of a"),
        ({"a": [9, 1, 4]}, 8, "the span of a"),
        ({"a": [9, 1, 5, 2]}, 3.5, "the median of a"),
        ({"a": [9, 1, 5, 2]}, 5, "the median of a"),
        ({"a": [1, 10, 100, 1_000, 10_000]}, 1_100, "the sum of two of a"),
        ({"a": [1, 10, 100, 1_000, 10_000]}, 11_000, "the sum of two of a"),
        ({"a": [1, 10, 100, 1_000, 10_000]}, 11_100, "the sum of three of a"),
        ({"a": [1, 10, 100, 1_000, 10_000]}, 11_110, "the sum of four of a"),
        ({"a": [1, 10, 100, 1_000, 10_000, 100_000]}, 11_111, "the sum of the first of a"),
        ({"a": [1, 10, 100, 1_000, 10_000, 100_000]}, 1_001, None),
        # Lists have a total, and two of them one together; a figure of one list alone is not a row.
        ({"1#/a": [1, 2], "2#/a": [10, 20], "3#/a": [100, 200]}, 30, "the total of a"),
        ({"1#/a": [1, 2], "2#/a": [10, 20], "3#/a": [100, 200]}, 15, "the mean of a"),
        ({"1#/a": [1, 2], "2#/a": [10, 20], "3#/a": [100, 200]}, 33, "total of two lists"),
        ({"1#/a": [1, 2], "2#/a": [10, 20], "3#/a": [100, 200]}, 303, "total of two lists"),
        ({"1#/a": [1, 2], "2#/a": [10, 20], "3#/a": [100, 200]}, 330, "total of two lists"),
        ({"1#/a": [1, 2], "2#/a": [10, 20], "3#/a": [100, 200]}, 60, None),
        ({"1#/a": [1, 2], "2#/a": [10, 20], "3#/a": [100, 200]}, 333, None),
        ({"1#/a": [1, 7, 30]}, 37, None),
        ({f"{n}#/a": [2**n, 0.5] for n in range(20)}, 4, "total of two lists"),
        ({f"{n}#/a": [2**n, 0.5] for n in range(21)}, 4, None),
        # The prices of a list are added up by floats.
        ({"a": [0.1, 0.2, 0.7, 7.7, 8.8]}, 17.5, "the total of a"),
    ],
)
def test_what_a_column_amounts_to(columns: dict[str, list[float]], value: float, found: str | None) -> None:
    assert figures(columns).aggregate(value, 0) == found


def test_an_aggregate_may_be_off_by_the_last_place() -> None:
    known = figures({"a": [1.25, 2.5]})
    assert [known.aggregate(value, 0.25) is not None for value in (3.5, 3.75, 4.0, 4.125, 3.375)] == [
        True, True, True, False, False,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "near"), [(90.9, None), (91, "the total of a is 100"), (111, "the total of a is 100"), (111.2, None)]
)
def test_a_total_is_near_within_a_tenth(value: float, near: str | None) -> None:
    assert figures({"a": [1, 99]}).near_total(value) == near
    assert figures({}).near_total(value) is None


def test_numbers_of_so_many_digits_and_how_many_can_be_counted() -> None:
    assert figures({"a": [9.99, 10, 99.99, 100]}).like(2) == [10, 99.99]
    assert figures({"a": [99.99, 100, 999.99, 1_000]}).like(3) == [100, 999.99]
    assert figures({}, counts={3, 9}).counted(5)
    for most, counted in ((10_000, True), (10_001, False)):
        known = figures({}, counts={most})
        assert known.counted(most)
        assert known.counted(most - 1) is counted
    assert not figures({}).counted(1)


def test_what_a_number_is_rounded_or_cut_to() -> None:
    known = Figures([12.345, 1e12], {}, counts=set(), lists=set(), strings="")
    assert [known.has(value, 0.01) for value in (12.335, 12.3351, 12.35, 12.3501)] == [False, True, True, False]
    # A very large number loses its last digits.
    assert [known.has(1e12 + more, 0) for more in (-1_100, -900, 400, 600)] == [False, True, True, False]
    assert [known.equals(1e12 + more) for more in (-1, 0, 0.25, 1)] == [False, True, True, False]


@pytest.mark.parametrize(
    ("known", "value", "times", "found"),
    [
        (figures({"a": [7]}, lists={40}), 280, (), "40 \u00d7 7"),
        (figures({"a": [7]}, lists={41}), 287, (), None),
        (figures({"a": [7]}, lists={2}), 14, (), "2 \u00d7 7"),
        (figures({"a": [7]}, lists={1}), 7, (), None),
        (figures({"a": [7]}), 21, (3,), "3 \u00d7 7"),
        (figures({"a": [7]}), 21, (), None),
        (figures({"a": [7, 100, 9]}), 2, (), "9 \u2212 7 of a"),
        (figures({"1#/a": [7, 100, 9]}), 2, (), "9 \u2212 7 of a"),
        (figures({"a": [1.5, 20, 300, 4_000, 50_000]}), 54_001.5, (), "sum of some of a"),
        (figures({"a": [1, 20, 300, 4_000, 50_000]}), 54_001, (), None),
        (figures({"a": [1.5, *(10.0**n for n in range(1, 12))]}), 1010.5 + 1, (), "sum of some of a"),
        (figures({"a": [1.5, *(10.0**n for n in range(1, 13))]}), 1010.5 + 1, (), None),
    ],
)
def test_how_a_number_follows_from_those_of_the_results(
    known: Figures, value: float, times: tuple[int, ...], found: str | None
) -> None:
    assert known.derivation(value, 0, AnswerNumbers([], frozenset(times)), Steps()) == found


def test_what_is_not_searched_to_its_end_is_given_the_benefit_of_the_doubt() -> None:
    known = figures({"a": [7, 100, 9]})
    enough = "more numbers than are searched"
    assert known.derivation(3.25, 0, AnswerNumbers([]), Steps()) is None
    assert known.derivation(3.25, 0, AnswerNumbers([]), left(0)) == enough
    assert known.derivation(3.25, 0, AnswerNumbers([]), left(2)) == enough
    assert known.share(3.25, 0.01, [], left(2)) == enough
    assert known.share(3.25, 0.01, [], Steps()) is None
    # Pairs are looked for in a column of four hundred rows, and not in a longer one.
    rows = [n * n + 0.25 * (n % 2) for n in range(401)]
    assert figures({"a": rows[:400]}).derivation(98.75, 0, AnswerNumbers([]), Steps()) == "100 \u2212 1.25 of a"
    assert figures({"a": rows}).derivation(98.75, 0, AnswerNumbers([]), Steps()) is None


@pytest.mark.parametrize(
    ("value", "place", "numbers", "found"),
    [
        (80, 0.5, ([40, 50], {}, set()), "40 against 50"),
        (25, 0.5, ([40, 50], {}, set()), "50 against 40"),
        (20, 0.5, ([40, 50], {}, set()), "40 against 50"),
        (20.5, 0.5, ([40, 50], {}, set()), "40 against 50"),
        (79.5, 0.5, ([40, 50], {}, set()), "40 against 50"),
        (21.5, 0.5, ([40, 50], {}, set()), None),
        (80, 0.5, ([], {"a": [0, 40, 50]}, set()), "40 against 50"),
        (80, 0.5, ([0, 40, 50], {}, set()), "40 against 50"),
        (12.5, 0.1, ([], {"a": [10, 20, 50]}, set()), "a share of a"),
        (12.5, 0.1, ([], {"a": [-10, 10]}, set()), None),
        (37.5, 0.1, ([], {}, {8}), "a share of 8"),
        (37.5, 0.1, ([], {}, {1, 7}), None),
        (37.625, 0.125, ([], {}, {8}), "a share of 8"),
        (37.75, 0.125, ([], {}, {8}), None),
        (33.25, 0.001, ([], {}, {400}), "a share of 400"),
        (33.416, 0.001, ([], {}, {401}), None),
        (50, 0.5, ([10 * 7**n for n in range(60)] + [5], {}, set()), None),
        (50, 0.5, ([10 * 7**n for n in range(59)] + [5], {}, set()), "5 against 10"),
        (50, 0.1, ([], {"a": [10.0 * 7**n for n in range(59)] + [5]}, set()), "5 against 10"),
        (50, 0.1, ([], {"a": [10.0 * 7**n for n in range(60)] + [5]}, set()), None),
    ],
)
def test_a_percentage_of_numbers_that_belong_together(
    value: float, place: float, numbers: tuple[list[float], dict[str, list[float]], set[int]], found: str | None
) -> None:
    beside, columns, counts = numbers
    assert figures(columns, counts).share(value, place, beside, Steps()) == found


@pytest.mark.parametrize(
    ("count", "shown", "found"), [(12, set[float](), "6 \u2212 4"), (13, set[float](), None), (13, {4.0}, "6 \u2212 4")]
)
def test_of_a_long_column_one_number_must_be_in_the_answer(count: int, shown: set[float], found: str | None) -> None:
    values = [0.0, 4.0, 6.0, *(10.0**n for n in range(2, count - 1))]
    assert len(values) == count
    assert _pair(2, 1e-9, values, shown) == found
    assert _pair(2.25, 0.25, values, {4.0}) is not None


@pytest.mark.parametrize(
    ("text", "known", "slip"),
    [
        ("It costs $57.50.", [54.5], 54.5),
        ("It costs $1234.", [1235], 1235),
        ("It costs $123.", [124], None),
        ("It costs $5.75.", [5.45], None),
        ("It is 57.50 km.", [54.5], None),
        ("It costs about $57.50.", [54.5], None),
        ("It costs $5.75 million.", [5_450_000], None),
        ("It costs $57.50.", [54.5, 57.6], None),
        ("It costs $57.50.", [545], None),
        ("It costs $57.50.", [64.5], None),
    ],
)
def test_an_amount_that_differs_by_one_digit_is_a_slip(text: str, known: list[float], slip: float | None) -> None:
    mention = next(iter(mentions_in(text)))
    found = Figures(known, {}, counts=set(), lists=set(), strings="")
    assert slip_of(mention, found, {reading.value for reading in mention.numbers}) == slip
