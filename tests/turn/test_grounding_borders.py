"""Grounding at its borders: calculations, columns, readings of numbers and days, and failures that are reported."""

import datetime as dt
import json

import pytest

from toolvet.checks.answer import FailureSignal, SignalType
from toolvet.turn.grounding import ToolCall, ground
from toolvet.turn.grounding.arithmetic import Sorted, _of_multiple, _of_run
from toolvet.turn.grounding.dates import civil, days_since_epoch, numeric_date
from toolvet.turn.grounding.evidence import Evidence, _EvidenceWalk
from toolvet.turn.grounding.failures import FailedCalls, _is_empty
from toolvet.turn.grounding.figures import Figures, _pair, _subset
from toolvet.turn.grounding.mentions import Kind, mentions_in
from toolvet.turn.grounding.numbers import readings
from toolvet.turn.grounding.outcome import outcome_of

ORDER = ToolCall("get_order", {"order_id": "A-77812"}, json.dumps({"order_id": "A-77812", "total": 96.4}))
LOCKED = ToolCall("send_email", {"to": "bob"}, "Error: the database is locked")
REFUSED = ToolCall("transfer", {"amount": 500}, "Error: insufficient funds")


def figures(columns: dict[str, list[float]], counts: set[int] | None = None) -> Figures:
    numbers = [value for values in columns.values() for value in values]
    return Figures(numbers, columns, counts=counts or set(), lists=set(), strings="")


@pytest.mark.parametrize(
    ("value", "beside", "found"),
    [
        (5, [2, 3], "2 + 3"),
        (9, [1, 2, 3, 4, 7], "2 + 3 + 4"),
        (2.5, [2, 3], "the mean of 2, 3"),
        (3, [1, 2, 3, 4], "1 + 2"),
        (2, [2], None),
        (7, [2, 3], None),
    ],
)
def test_a_row_of_numbers_adds_up_or_has_a_mean(value: float, beside: list[float], found: str | None) -> None:
    assert _of_run(value, 0, beside) == found


@pytest.mark.parametrize(
    ("shown", "known", "found"),
    [
        ([4], [6], "3 \u00d7 10, from 4 and 6"),
        ([4], [14], "3 \u00d7 10, from 4 and 14"),
        ([13], [3], "3 \u00d7 10, from 13 and 3"),
        ([4], [5], None),
        ([10], [20], "3 \u00d7 10, from 10 and 20"),
    ],
)
def test_so_many_times_what_two_numbers_add_up_to_or_differ_by(
    shown: list[float], known: list[float], found: str | None
) -> None:
    assert next(_of_multiple(30, 0, Sorted(shown), Sorted(known), [3]), None) == found


@pytest.mark.parametrize(
    ("value", "values", "shown", "found"),
    [
        (8, [3, 5], set(), "5 + 3"),
        (2, [3, 5], set(), "5 \u2212 3"),
        (8, [4, 4], set(), "4 + 4"),
        (8, [4, 5], set(), None),
        # In a long column one of them must be in the answer, unless there are cents.
        (2.6, [n * 1.3 + 0.1 for n in range(14)], set(), "2.7 \u2212 0.1"),
        (2, [float(n) for n in range(0, 28, 2)], set(), None),
        (2, [float(n) for n in range(0, 28, 2)], {4.0}, "6 \u2212 4"),
        (2.5, [float(n) for n in range(14)], set(), None),
    ],
)
def test_two_numbers_of_a_column(value: float, values: list[float], shown: set[float], found: str | None) -> None:
    assert _pair(value, 1e-9, values, shown) == found


@pytest.mark.parametrize(
    ("value", "values", "adds_up"),
    [(3.5, [1, 2.5, 7], True), (3, [1, 2, 7], False), (3.6, [1, 2.5, 7], False), (10.5, [1, 2.5, 7], True)],
)
def test_some_numbers_of_a_column_with_cents_add_up(value: float, values: list[float], adds_up: bool) -> None:  # noqa: FBT001 - a column.
    assert _subset(value, 1e-9, values) is adds_up


@pytest.mark.parametrize(("number", "roughly"), [(95, True), (105, True), (94.9, False), (105.1, False), (100, True)])
def test_a_number_is_roughly_another(number: float, roughly: bool) -> None:  # noqa: FBT001 - a column of the table.
    assert figures({"a": [number]}).roughly(100, 0.05) is roughly


@pytest.mark.parametrize(
    ("value", "columns", "counts", "found"),
    [
        (10, {"a": [10, 30, 60]}, set(), "a share of a"),
        (90, {"a": [10, 30, 60]}, set(), None),
        (50, {"a": [30, 60]}, set(), "30 against 60"),
        (100, {"a": [30, 60]}, set(), "60 against 30"),
        (66.7, {}, {3}, "a share of 3"),
        (66.7, {}, {1, 4}, None),
    ],
)
def test_a_percentage_is_a_share_of_something(
    value: float, columns: dict[str, list[float]], counts: set[int], found: str | None
) -> None:
    assert figures(columns, counts).share(value, 0.05, []) == found


def test_numbers_are_kept_by_their_columns_and_by_their_lists() -> None:
    walk = _EvidenceWalk()
    walk.value({"orders": [{"items": [{"price": 1}, {"price": 2}]}, {"items": [{"price": 3}, {"price": 4}]}], "n": 9})
    columns = walk.all_columns()
    assert sorted(columns.pop("items.price")) == [1, 2, 3, 4]
    assert columns.pop("n") == [9]
    lists = {name: sorted(values) for name, values in columns.items()}
    assert sorted(lists.values()) == [[1, 2], [3, 4]]
    assert all("#" in name and name.endswith("/items.price") for name in lists)
    assert walk.lists == {2}


def test_a_walk_through_the_evidence_has_an_end() -> None:
    walk = _EvidenceWalk()
    walk._left = 4
    walk.value([1, 2, 3, 4, 5, 6])
    assert walk.numbers == [1, 2, 3]


@pytest.mark.parametrize("text", ["12", '"12"', "true", "a {1}"])
def test_a_text_that_is_no_object_stays_a_text(text: str) -> None:
    assert Evidence([outcome_of(ToolCall("get_data", {}, text))], None).figures.strings.splitlines() == [text]


def test_days_are_counted_as_the_calendar_does() -> None:
    first = dt.date(1970, 1, 1).toordinal()
    for ordinal in (*range(first - 40_000, first + 40_000), 1, dt.date.max.toordinal()):
        day = dt.date.fromordinal(ordinal)
        date = (day.year, day.month, day.day)
        assert civil(ordinal - first) == date
        assert days_since_epoch(date) == ordinal - first


@pytest.mark.parametrize(
    ("token", "dates"),
    [
        ("3.11.12", ()),
        ("03.11.12", ((2012, 3, 11), (2012, 11, 3))),
        ("3/11/12", ((2012, 3, 11), (2012, 11, 3))),
        ("3.11.2012", ((2012, 3, 11), (2012, 11, 3))),
        ("11.11.12", ((2012, 11, 11),)),
        ("22.11.2026", ((2026, 11, 22),)),
        ("2026-11-22", ((2026, 11, 22),)),
        ("2026-13-22", ()),
        ("20261122", ((2026, 11, 22),)),
        ("18261122", ()),
        ("3-11.2012", ()),
    ],
)
def test_the_days_that_a_token_can_be(token: str, dates: tuple[tuple[int, int, int], ...]) -> None:
    assert numeric_date(token) == dates


@pytest.mark.parametrize(
    ("numeral", "read"),
    [
        ("1 234", [(1234, 1, True)]),
        ("1'234", [(1234, 1, True)]),
        ("1,234,567", [(1234567, 1, True)]),
        ("12,34,567", [(1234567, 1, True)]),
        ("1,2345,678", []),
        ("1,2,345", []),
        ("1234,567,890", []),
        ("1,234,56", []),
        ("1,234", [(1234, 1, True), (1.234, 0.001, False)]),
        ("0,234", [(0.234, 0.001, False)]),
        ("1234,5", [(1234.5, 0.1, False)]),
        ("1.234,5", [(1234.5, 0.1, False)]),
        ("1,234.5", [(1234.5, 0.1, False)]),
        ("1.2.3", []),
        ("", []),
        ("1" * 40, [(float("1" * 40), 1, True)]),
        ("1" * 41, []),
    ],
)
def test_a_numeral_is_read_in_every_way_that_it_can_be(numeral: str, read: list[tuple[float, float, bool]]) -> None:
    found = [(each.value, each.place, each.whole) for each in readings(numeral)]
    assert found == [(value, pytest.approx(place), whole) for value, place, whole in read]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("45 apples", [(Kind.NUMBER, "45")]),
        ("45. Apples", []),
        ("45) Apples", []),
        ("Of 45: apples", [(Kind.NUMBER, "45")]),
        ("145. Apples", [(Kind.NUMBER, "145")]),
        ("12 apples", []),
        ("12_34-56", []),
        ("3-15", [(Kind.NUMBER, "15")]),
    ],
)
def test_what_a_number_mentions(text: str, found: list[tuple[Kind, str]]) -> None:
    assert [(each.kind, each.token) for each in mentions_in(text)] == found


@pytest.mark.parametrize(
    ("result", "is_empty"),
    [
        ("[]", True),
        ("No results found for Oslo", True),
        ("{}", True),
        ('[{"id": 1}]', False),
        ({"content": [{"type": "text", "text": "[]"}, {"type": "text", "text": "[]"}]}, False),
        ("0 results" + " " * 391, True),
        ("0 results" + " " * 392, False),
        ("Error: the database is locked", False),
    ],
)
def test_a_call_that_found_nothing(result: object, is_empty: bool) -> None:  # noqa: FBT001 - a column of the table.
    assert _is_empty(outcome_of(ToolCall("search", {}, result))) is is_empty


def kept(text: str, *calls: ToolCall, kind: SignalType = SignalType.TOOL_FAILURE) -> bool:
    signal = FailureSignal(type=kind, evidence="could not", weight=0.5, position=0)
    return FailedCalls(text, [outcome_of(call) for call in calls]).kept([signal]) == [signal]


def test_a_refusal_that_is_honestly_reported_is_no_failure_of_the_tool() -> None:
    honest = "The transfer could not be completed because your balance is too low."
    assert not kept(honest, REFUSED)
    assert kept(honest, LOCKED)
    assert kept(honest, REFUSED, LOCKED)
    assert kept(honest, LOCKED, REFUSED)
    assert kept(honest)
    assert not kept("The transfer could not be completed.", REFUSED)
    assert kept("The transfer could not be completed: the service is down.", REFUSED)
    assert kept("The transfer could not be completed.", REFUSED, kind=SignalType.CONFUSION)
    assert not kept("I could not find any flights.", ToolCall("search_flights", {}, "[]"))


def test_values_are_looked_at_beside_a_failure_that_the_answer_admits() -> None:
    text = "I could not send the email. The order costs $512.75."
    assert "unsupported_number" in [signal.label for signal in ground(text, [LOCKED, ORDER])]
    assert "unsupported_number" not in [signal.label for signal in ground(text, [LOCKED])]
