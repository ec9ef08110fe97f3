"""The parts of grounding at their borders: figures, ids, dates, mentions, words."""

import sys
import unicodedata

import pytest

from toolvet import check_answer
from toolvet.core.turn.ledger import ToolCall, ground
from toolvet.core.turn.ledger.dates import Span, _moved, nearest_days
from toolvet.core.turn.ledger.evidence import Evidence
from toolvet.core.turn.ledger.failures import _echoed
from toolvet.core.turn.ledger.figures import _of_two
from toolvet.core.turn.ledger.mentions import Kind, before_is_name, mentions_in
from toolvet.core.turn.ledger.outcome import outcome_of
from toolvet.core.turn.ledger.tokens import ascii_digits, spoken, without_code
from toolvet.core.turn.ledger.values import _differ_in_one


def evidence(result: object, question: str | None = None) -> Evidence:
    return Evidence([outcome_of(ToolCall("get_data", {}, result))], question)


@pytest.mark.parametrize(
    ("value", "shown", "found"),
    [
        (9, [3, 100], "3 \u00d7 3"),
        (8, [3, 5], "3 + 5"),
        (2, [3, 5], "5 \u2212 3"),
        (15, [3, 5], "3 \u00d7 5"),
        (10, [20, 50], "20 % of 50"),
        (0.25, [5, 20], "5 ÷ 20"),
        (4, [5, 20], "20 ÷ 5"),
        (14, [7, 21], "21 \u2212 7"),
        (4.5, [3, 6], "the mean of 3 and 6"),
        (7.5, [3, 5], None),
        (17, [3, 5], None),
    ],
)
def test_two_figures_give_a_third(value: float, shown: list[float], found: str | None) -> None:
    assert next(_of_two(value, 0, shown), None) == found
    assert found is None or next(_of_two(value + 0.0625, 0.0625, shown), None) == found


def test_totals_of_a_column() -> None:
    figures = evidence({"rows": [{"price": 10}, {"price": 25}, {"price": 13}, {"price": 12}]}).figures
    totals = {name: value for value, name, column in figures._totals if column.endswith("price")}
    assert (totals["total"], totals["mean"], totals["span"]) == (60, 15, 15)
    medians = [value for value, name, column in figures._totals if name == "median" and column.endswith("price")]
    assert medians == [12.5, 13]


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("order 41", True),
        ("order 412, 41", True),
        ("141 then 41 then 413", True),
        ("412", False),
        ("141", False),
        ("41.5", False),
        ("1,41", False),
        ("41.", True),
        ("(41)", True),
    ],
)
def test_a_number_is_held_as_a_whole(text: str, holds: bool) -> None:  # noqa: FBT001 - a column of the table.
    assert evidence(text).holds("41") is holds


@pytest.mark.parametrize(
    ("text", "name"),
    [("Python 3", True), ("v3", True), ("v 3", True), ("python 3", False), ("Python: 3", False), ("3", False)],
)
def test_a_capitalised_word_before_a_number(text: str, name: bool) -> None:  # noqa: FBT001 - a column of the table.
    assert before_is_name(text, text.index("3")) is name
    padded = "x " * 20 + text
    assert before_is_name(padded, padded.index("3")) is name


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("12345678 km", True),
        ("$12345678", True),
        ("EUR 12345678", True),
        ("order 12345678", False),
        ("12345678", False),
    ],
)
def test_a_long_number_with_a_measure_is_no_id(text: str, counts: bool) -> None:  # noqa: FBT001 - a column of the table.
    kinds = [mention.kind for mention in mentions_in(text)]
    assert (Kind.ID in kinds) is not counts


def test_code_is_blanked_and_every_place_is_kept() -> None:
    for fence in ("~~~", "```"):
        text = f"a\n{fence}\nb\n{fence}\nc"
        assert without_code(text) == spoken(text) == "a\n   \n \n   \nc"
    assert without_code("no code") == "no code"


def test_the_nearest_days_are_those_of_known_years_in_order() -> None:
    days = [(2025, 3, day) for day in range(1, 20)] + [(0, 3, 9)]
    assert nearest_days((2025, 3, 10), days) == [f"2025-03-{day:02}" for day in (8, 9, 10, 11, 12)]
    assert nearest_days((0, 3, 10), days) == nearest_days((2025, 3, 10), days)
    assert nearest_days((0, 3, 10), []) == []


@pytest.mark.parametrize(
    ("text", "echoed"),
    [
        ("The gateway rejected the certificate.", True),
        ("It was the gateway.", False),
        ("Something went wrong: 8731.", True),
        ("All is well.", False),
    ],
)
def test_an_answer_that_uses_the_words_of_an_error_echoes_it(text: str, echoed: bool) -> None:  # noqa: FBT001 - a column.
    result = {"isError": True, "content": [{"type": "text", "text": "Gateway rejected certificate, reference 8731"}]}
    assert _echoed(text, outcome_of(ToolCall("get_data", {}, result))) is echoed


@pytest.mark.parametrize(
    ("token", "stands"),
    [
        ("ORD-2041", True),
        ("ord-2041", True),
        ("#ORD-2041", True),
        ("ORD2041", True),
        ("EU-WEST-77_2041", True),
        ("zone_2041", True),
        ("ORD-2042", False),
        ("XYZ-9913", False),
    ],
)
def test_an_id_stands_in_any_spelling_and_by_its_parts(token: str, stands: bool) -> None:  # noqa: FBT001 - a column.
    result = {"id": "ORD-2041", "zone": "eu-west-77", "other": "A-1"}
    found = [
        signal
        for signal in ground(f"The order is {token}.", [ToolCall("get_data", {}, result)])
        if token in signal.evidence
    ]
    assert (not found) is stands


@pytest.mark.parametrize(("total", "flagged"), [(5, False), (6, True)])
def test_as_many_as_there_are_is_not_a_part(total: int, flagged: bool) -> None:  # noqa: FBT001 - a column of the table.
    rows = [{"id": f"o-{n}"} for n in range(5)]
    result = {"orders": rows, "page_info": {"page": 1, "per_page": 5, "total": total}}
    found = ground("That is the complete list.", [ToolCall("list_orders", {}, result)])
    assert any("part" in str(signal.label) for signal in found) is flagged


def test_one_word_of_an_error_is_no_echo() -> None:
    error = {"isError": True, "content": [{"type": "text", "text": "Gateway"}]}
    assert not _echoed("The gateway is a bridge.", outcome_of(ToolCall("get_data", {}, error)))


@pytest.mark.parametrize(
    ("date", "months", "sign", "first"),
    [
        ((2025, 3, 10), 10, 1, (2026, 1, 10)),
        ((2025, 3, 10), 9, 1, (2025, 12, 10)),
        ((2025, 3, 10), 3, -1, (2024, 12, 10)),
        ((2025, 3, 10), 2, -1, (2025, 1, 10)),
        ((2025, 3, 10), 25, 1, (2027, 4, 10)),
    ],
)
def test_months_move_a_date_over_the_end_of_a_year(
    date: tuple[int, int, int], months: int, sign: int, first: tuple[int, int, int]
) -> None:
    assert next(_moved(date, Span(months=months), sign)) == first


def test_the_digits_of_every_script_are_read() -> None:
    for code in range(sys.maxunicode + 1):
        digit = unicodedata.decimal(chr(code), None)
        if digit is not None:
            assert ascii_digits(chr(code)) == str(digit), hex(code)


@pytest.mark.parametrize(
    ("one", "other"), [("1234.", "1235."), ("1234.", "1243."), ("1234.", "2134."), ("10.25", "10.52")]
)
def test_one_digit_is_wrong_or_two_neighbours_changed_places(one: str, other: str) -> None:
    assert _differ_in_one(one, other)
    assert _differ_in_one(other, one)


@pytest.mark.parametrize("other", ["1234.", "12345.", "1256.", "1245.", "1223.", "3214.", "4231.", "4321."])
def test_more_than_that_is_another_number(other: str) -> None:
    # Of two neighbours both must have changed places.
    assert not _differ_in_one("1234.", other)
    assert not _differ_in_one(other, "1234.")


@pytest.mark.parametrize("calls", [[], [ToolCall("get_weather", {"city": "Rome"}, "sunny")]])
def test_the_weight_of_what_no_call_did(calls: list[ToolCall]) -> None:
    (signal,) = check_answer("I have sent the email to Bob.", calls=calls).signals
    assert signal.weight == 0.7
