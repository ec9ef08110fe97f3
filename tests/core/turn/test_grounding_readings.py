"""What grounding reads in texts and results, in tables: calculations, days, times, numbers, spans, and its words."""

import re

import pytest

from toolvet.core.turn.ledger import ToolCall, ground
from toolvet.core.turn.ledger.dates import (
    Date,
    Span,
    _moved,
    cjk_dates,
    days_since_epoch,
    epoch_dates,
    follows_from,
    is_month_end,
    lies_between,
    spans_in,
    times_in,
    worded_date,
    zoned_neighbours,
)
from toolvet.core.turn.ledger.evidence import Evidence
from toolvet.core.turn.ledger.extent import _PartWalk
from toolvet.core.turn.ledger.figures import (
    AnswerNumbers,
    Figures,
    Sorted,
    Steps,
    _of_known,
    _of_product,
    _of_three,
    times_in as counts_in,
)
from toolvet.core.turn.ledger.mentions import mentions_in
from toolvet.core.turn.ledger.outcome import names, outcome_of

PRICES = Figures([10, 20, 30, 40], {"price": [10, 20, 30, 40]}, counts={4}, lists={4}, strings="")


def evidence(result: object) -> Evidence:
    return Evidence([outcome_of(ToolCall("get_data", {}, result))], None)


@pytest.mark.parametrize(
    ("value", "known", "times", "found"),
    [
        (30, 10, 3, "3 \u00d7 10"),
        (2.5, 10, 4, "10 \u00f7 4"),
        (2, 10, 5, None),
        (30, 10.1, 3, None),
        (30.1, 10, 3, None),
    ],
)
def test_so_many_times_a_number_of_the_results(value: float, known: float, times: int, found: str | None) -> None:
    assert next(_of_product(value, 0, Sorted([known]), [times]), None) == found


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (16, "10 + 1 + 5"),
        (4, "10 \u2212 1 \u2212 5"),
        (14, "10 \u2212 1 + 5"),
        (6, "10 + 1 \u2212 5"),
        (100, None),
    ],
)
def test_three_numbers_of_the_answer(value: float, found: str | None) -> None:
    said = list(_of_three(value, 0, Sorted([1, 5, 10])))
    assert (found in said) if found else said == []


@pytest.mark.parametrize(
    ("value", "shown", "known", "found"),
    [
        (7, [3], [4], "4 + 3"),
        (1, [3], [4], "4 \u2212 3"),
        (1, [4], [3], "4 \u2212 3"),
        (7, [3], [5], None),
        # Of many whole numbers two always fit.
        (7, [3], [4, *range(100, 159)], "4 + 3"),
        (7, [3], [4, *range(100, 160)], None),
        (7.5, [3], [4.5, *range(100, 200)], "4.5 + 3"),
    ],
)
def test_a_number_of_the_answer_and_one_of_the_results(
    value: float, shown: list[float], known: list[float], found: str | None
) -> None:
    assert next(_of_known(value, 0, Sorted(shown), Sorted(known)), None) == found


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("3 passengers and two nights", {3, 2}),
        ("12:30, 1.5, 60, 59, 1", {59}),
        ("a dozen, twice", {12, 2}),
        ("$3", set()),
        ("7-8", set()),
    ],
)
def test_how_often_an_answer_may_have_something(text: str, counts: set[int]) -> None:
    assert counts_in(text) == counts


@pytest.mark.parametrize(
    ("value", "aggregate", "near"),
    [
        (100, "the total of price", "the total of price is 100"),
        (25, "the mean of price", None),
        (30, "the median of price", None),
        (60, "the sum of the first of price", None),
        (90, "the sum of three of price", None),
        (70, "the sum of two of price", None),
        (99, None, "the total of price is 100"),
        (111, None, "the total of price is 100"),
        (91, None, "the total of price is 100"),
        (112, None, None),
    ],
)
def test_the_totals_of_a_column(value: float, aggregate: str | None, near: str | None) -> None:
    assert PRICES.aggregate(value, 0) == aggregate
    assert PRICES.near_total(value) == near


def test_figures_are_found_by_their_value_and_by_what_they_round_to() -> None:
    known = Figures([12.345, 1_000_000_007], {}, counts={7}, lists=set(), strings="")
    assert [known.has(value, 0.01) for value in (12.33, 12.34, 12.35, 12.36)] == [False, True, True, False]
    assert [known.equals(value) for value in (12.345, 12.346, 1_000_000_007, 1_000_000_008)] == [
        True,
        False,
        True,
        False,
    ]
    assert [known.counted(value) for value in (7, 3, 8)] == [True, True, False]
    assert known.like(2) == [12.345]
    assert known.like(1) == known.like(3) == []
    assert (known.nearest(13), known.nearest(10**10)) == (12.345, 1_000_000_007)
    assert PRICES.derivation(120, 0, AnswerNumbers([], frozenset({3})), Steps()) == "3 \u00d7 40"
    assert PRICES.derivation(55.5, 0, AnswerNumbers([]), Steps()) is None


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("on March 3, 2025", [((2025, 3, 3), "March 3, 2025")]),
        ("3 March 2025", [((2025, 3, 3), "3 March 2025")]),
        ("the 3rd of March", [((0, 3, 3), "3rd of March")]),
        ("May 16-17", [((0, 5, 16), "May 16"), ((0, 5, 17), "17")]),
        ("16-17 May 2025", [((2025, 5, 16), "16"), ((2025, 5, 17), "17 May 2025")]),
        ("March 31", [((0, 3, 31), "March 31")]),
        ("March 32", []),
        ("March 0", []),
        ("3. February 12", [((0, 2, 12), "February 12")]),
        ("2. May change", []),
        ("(3. May, it is", [((0, 5, 3), "3. May")]),
        ("so\n> 3. May", []),
        ("the 3 th of May", []),
        ("from 3 to 5 May 2025", [((2025, 5, 3), "3"), ((2025, 5, 5), "5 May 2025")]),
        ("May 3 and 5, 2025", [((0, 5, 3), "May 3"), ((2025, 5, 5), "5")]),
        ("you may 3 times", []),
        ("in march 3 of", []),
        ("Mar 3", [((0, 3, 3), "Mar 3")]),
        ("3 out of 4", []),
        ("3 out. foi a data do pedido", [((0, 10, 3), "3 out.")]),
        ("O pedido de você foi feito em 3 out", [((0, 10, 3), "3 out")]),
    ],
)
def test_days_in_words(text: str, dates: list[tuple[Date, str]]) -> None:
    found = [worded_date(text, each.start(), each.end()) for each in re.finditer(r"(?<!\d)\d{1,2}(?!\d)", text)]
    assert [(each[0], text[each[1] : each[2]]) for each in found if each is not None] == dates


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("2025年3月9日", [((2025, 3, 9), 0, 9)]),
        ("am 3월 9일", [((0, 3, 9), 3, 8)]),
        ("13月9日", []),
        ("3月32日", []),
        ("0999年3月9日", []),
    ],
)
def test_days_of_china_japan_and_korea(text: str, dates: list[tuple[Date, int, int]]) -> None:
    assert list(cjk_dates(text)) == dates


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("2025-03-09T09:59Z", [8]),
        ("2025-03-09T10:00:00.5Z", [8, 10]),
        ("2025-03-09 13:59 UTC", [8, 10]),
        ("2025-03-09T14:00+02:00", [10]),
        ("2025-03-09T14:00", []),
    ],
)
def test_a_time_with_a_zone_is_another_day_elsewhere(text: str, days: list[int]) -> None:
    assert list(zoned_neighbours(text)) == [(2025, 3, day) for day in days]


@pytest.mark.parametrize(
    ("seconds", "days"),
    [
        (946_684_799, set()),
        (946_684_800, {(1999, 12, 31), (2000, 1, 1)}),
        (946_684_800 + 43_199, {(1999, 12, 31), (2000, 1, 1)}),
        (946_684_800 + 43_200, {(2000, 1, 1), (2000, 1, 2)}),
        (4_102_444_800, {(2099, 12, 31), (2100, 1, 1)}),
        (4_102_444_801, set()),
    ],
)
def test_a_unix_time_is_a_day_wherever_the_reader_lives(seconds: int, days: set[Date]) -> None:
    assert set(epoch_dates(seconds)) == days


def test_times_of_day_are_read_with_their_minutes() -> None:
    assert times_in("at 9:30, 24:59, 25:00, 9:60, 9h05, 1:2, 12.30 and 13:45:59") == {570, 1499, 545, 750, 825}


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("at 9:30 pm", [("9:30", (1290,))]),
        ("at 12:30 am", [("12:30", (30,))]),
        ("at 12:30 p.m.", [("12:30", (750,))]),
        ("at 9 PM", [("9", (1260,))]),
        ("at 9pm", [("9pm", (1260,))]),
        ("at 13:05", [("13:05", (785,))]),
        ("at 12:59", [("12:59", (779, 59))]),
        ("at 24:00", [("24:00", (1440,))]),
        ("at 25:00", []),
        ("at 9:60", []),
        ("10:00-11:30", [("10:00", (600, 1320)), ("11:30", (690, 1410))]),
    ],
)
def test_the_times_that_an_answer_mentions(text: str, times: list[tuple[str, tuple[int, ...]]]) -> None:
    assert [(each.token, each.minutes) for each in mentions_in(text)] == times


@pytest.mark.parametrize(
    ("text", "values", "unit", "money", "about"),
    [
        ("costs $1,234.50", [1234.5], "", True, False),
        ("€ 40", [40], "", True, False),
        ("about 270 km", [270], "km", False, True),
        ("3.5 million people", [3_500_000, 3.5], "million", False, False),
        ("25 %", [25], "%", False, False),
        ("~270 of them", [270], "of", False, True),
    ],
)
def test_a_number_with_what_stands_beside_it(
    text: str,
    values: list[float],
    unit: str,
    money: bool,  # noqa: FBT001 - a column of the table.
    about: bool,  # noqa: FBT001 - a column of the table.
) -> None:
    (found,) = mentions_in(text)
    assert [each.value for each in found.numbers] == values
    assert (found.unit, found.money, found.about) == (unit, money, about)


@pytest.mark.parametrize(
    "text",
    ["2019", "0 %", "50 %", "100 %", "$0", "Python 3.12", "version 3.12 of it", "30 days", "within 31 days", "12 rows"],
)
def test_numbers_that_claim_nothing(text: str) -> None:
    assert list(mentions_in(text)) == []


def test_measures_share_their_unit() -> None:
    assert [(each.token, each.unit) for each in mentions_in("61.2 by 47 cm")] == [("61.2", "cm"), ("47", "cm")]


@pytest.mark.parametrize(
    ("token", "text", "ends"),
    [
        ("4242", "card 555500004242", True),
        ("4242", "card 42420", False),
        ("4242", "x4242y 4242", True),
        ("4242", "x4242y " * 49 + "4242", True),
        ("4242", "x4242y " * 50 + "4242", False),
    ],
)
def test_a_longer_word_ends_in_it(token: str, text: str, ends: bool) -> None:  # noqa: FBT001 - a column of the table.
    assert evidence(text).ends(token) is ends


@pytest.mark.parametrize(
    ("content", "opaque"),
    [
        ([{"type": "text", "text": ""}], True),
        ([{"type": "text", "text": "a"}], False),
        ([{"type": "text", "text": "a"}, {"type": "image", "data": "x", "mimeType": "image/png"}], True),
        ([{"type": "text", "text": "a"}, {"type": "resource", "resource": {"blob": "x"}}], True),
        ([{"type": "resource", "resource": {"text": "x"}}], False),
    ],
)
def test_what_cannot_be_read(content: list[object], opaque: bool) -> None:  # noqa: FBT001 - a column of the table.
    assert evidence({"content": content}).opaque is opaque


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("30 days", {Span(days=30)}),
        ("two weeks", {Span(days=14)}),
        ('"term_months": 12', {Span(months=12)}),
        ("5 business days", {Span(days=5, working=True)}),
        ("a year", {Span(months=12)}),
        ("tomorrow", {Span(days=1)}),
        ("three-month", {Span(months=3)}),
        ("30 apples", set()),
    ],
)
def test_spans_of_time(text: str, spans: set[Span]) -> None:
    assert spans_in(text) == spans


@pytest.mark.parametrize(
    ("date", "span", "follows"),
    [
        ((2026, 12, 2), Span(days=30), True),
        ((2026, 10, 3), Span(days=30), True),
        ((2026, 12, 3), Span(days=30), False),
        ((0, 12, 2), Span(days=30), True),
        ((2026, 11, 4), Span(days=2, working=True), True),
        ((2026, 11, 9), Span(days=5, working=True), True),
        ((2026, 11, 6), Span(days=5, working=True), False),
        ((2027, 2, 2), Span(months=3), True),
        ((2027, 2, 3), Span(months=3), False),
    ],
)
def test_a_day_follows_from_another(date: Date, span: Span, follows: bool) -> None:  # noqa: FBT001 - a column of the table.
    """From the second of November 2026, a Monday."""
    assert follows_from(date, {(2026, 11, 2)}, {(11, 2)}, {span}) is follows


def test_a_day_follows_from_one_without_its_year() -> None:
    for date, follows in (((2026, 12, 2), True), ((2026, 12, 3), False), ((0, 12, 2), True)):
        assert follows_from(date, {(0, 11, 2)}, {(11, 2)}, {Span(days=30)}) is follows
    # The last day of a month is whole months from any last day.
    for date, span, follows in (
        ((2026, 2, 28), Span(months=1), True),
        ((2026, 2, 27), Span(months=1), False),
        ((2026, 4, 30), Span(months=3), True),
    ):
        assert follows_from(date, {(2026, 1, 31)}, {(1, 31)}, {span}) is follows


def test_days_between_days() -> None:
    assert not lies_between(0, "days", {(2026, 12, 1)}, {(2026, 12, 1)})
    assert not lies_between(30, "apples", {(2026, 12, 1)}, {(2026, 11, 1)})
    assert lies_between(40_000, "days", {(2036, 5, 10)}, {(1926, 11, 4)})
    assert not lies_between(40_001, "days", {(2036, 5, 11)}, {(1926, 11, 4)})
    known = {(2026, 11, 1)}
    assert [lies_between(n, "days", {(2026, 12, 1)}, known) for n in (29, 30, 31)] == [False, True, False]
    assert [lies_between(n, "weeks", {(2026, 11, 29)}, known) for n in (3, 4, 5)] == [False, True, False]
    # Day 0 is a Thursday.
    for sign, days in ((1, [1, 4, 5, 7]), (-1, [-1, -2, -3, -7])):
        spans = [Span(days=count, working=True) for count in (1, 2, 3, 5)]
        assert [days_since_epoch(*_moved((1970, 1, 1), span, sign)) for span in spans] == days
    ends = [(2026, 2, 28), (2024, 2, 28), (2024, 2, 29), (2026, 12, 31), (2026, 11, 29)]
    assert [is_month_end(date) for date in ends] == [True, False, True, True, False]


def test_tools_are_named_once_and_five_of_them() -> None:
    def named(*tools: str) -> str:
        return names([outcome_of(ToolCall(tool, {}, "x")) for tool in tools])

    assert named("a", "b", "a", "") == "a, b, an unnamed tool"
    assert named(*"abcde") == "a, b, c, d, e"
    assert named(*"abcdef") == "a, b, c, d, e and others"


@pytest.mark.parametrize(
    ("text", "result", "label", "weight", "against"),
    [
        ("It costs $57.50.", {"total": 54.5}, "number", 0.35, "; the number there is 54.5"),
        ("It costs $512.75.", {"total": 54.5, "n": 500}, "number", 0.08, "; the nearest number there is 500"),
        ("On November 9, 2026.", {"at": "2026-11-03"}, "date", 0.08, "; days there are 2026-11-03"),
        ("Order A-77821.", {"id": "A-77812"}, "id", 0.5, ""),
        ("See https://a.test/t/99.", {"u": "https://a.test/t/98"}, "url", 0.45, ""),
        ("See https://b.test/t/99.", {"u": "https://a.test/t/98"}, "url", 0.08, ""),
        ("Write to lina@a.test.", {"u": "lena@a.test"}, "email", 0.5, ""),
        ("Write to lina@b.test.", {"u": "lena"}, "email", 0.08, ""),
        (
            "Total 97.",
            {"rows": [{"p": 40.5}, {"p": 59.25}]},
            "number",
            0.08,
            "; the nearest number there is 59.25, the total of rows.p is 99.75",
        ),
    ],
)
def test_what_an_unsupported_value_weighs_and_what_is_there_instead(
    text: str, result: object, label: str, weight: float, against: str
) -> None:
    (signal,) = ground(text, [ToolCall("get_data", {}, result)])
    assert (signal.label, signal.weight) == (f"unsupported_{label}", weight)
    assert signal.against == f"not in the results of get_data{against}"


def test_what_informs_costs_little_together() -> None:
    text = "Lots: 512.75 apples, 1713.15 pears, 26714.95 plums, 415815.05 nuts."
    weights = [signal.weight for signal in ground(text, [ToolCall("get_data", {}, {"a": 1})])]
    assert weights == [0.05] * 4


def test_a_walk_through_a_payload_has_an_end() -> None:
    walk = _PartWalk()
    walk._left = 3
    walk.read({"a": {"rows": [1, 2]}, "b": [1, 2, 3]})
    assert walk.shown == {2}
