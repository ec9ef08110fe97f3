"""Grounding at its borders: calculations, columns, readings of numbers and days, and failures that are reported."""

import datetime as dt
import json

import pytest

from toolvet.core.checks.answer import FailureSignal, SignalType
from toolvet.core.turn.ledger import ToolCall, ground
from toolvet.core.turn.ledger.dates import civil, days_since_epoch, has_its_weekday, numeric_date
from toolvet.core.turn.ledger.evidence import Evidence, _EvidenceWalk
from toolvet.core.turn.ledger.failures import FailedCalls, _agents, _is_empty
from toolvet.core.turn.ledger.figures import Figures, Sorted, Steps, _of_multiple, _of_run, _pair, _subset
from toolvet.core.turn.ledger.mentions import Kind, mentions_in
from toolvet.core.turn.ledger.outcome import outcome_of
from toolvet.core.turn.ledger.tokens import form_of, is_composed, parts_of, readings
from toolvet.core.turn.ledger.values import _SUPPORTS, slip_of

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
        (2.6, [n * 1.3 + 0.15 for n in range(14)], set(), "2.75 \u2212 0.15"),
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
    assert figures(columns, counts).share(value, 0.05, [], Steps()) == found


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
        ("2026-01-01", ((2026, 1, 1),)),
        ("2026-12-31", ((2026, 12, 31),)),
        ("2026-00-10", ()),
        ("2026-10-00", ()),
        ("2026-10-32", ()),
        ("1000-10-10", ((1000, 10, 10),)),
        ("0999-10-10", ()),
        ("2999-10-10", ((2999, 10, 10),)),
        ("3000-10-10", ()),
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
    assert found == read


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
    # Without the honest words only the failure of the tool is taken back.
    assert not kept(honest, REFUSED, kind=SignalType.REFUSAL)
    assert kept("The transfer could not be completed.", REFUSED, kind=SignalType.REFUSAL)
    assert not kept("I could not find any flights.", ToolCall("search_flights", {}, "[]"))


def test_values_are_looked_at_beside_a_failure_that_the_answer_admits() -> None:
    text = "I could not send the email. The order costs $512.75."
    assert "unsupported_number" in [signal.label for signal in ground(text, [LOCKED, ORDER])]
    assert "unsupported_number" not in [signal.label for signal in ground(text, [LOCKED])]


@pytest.mark.parametrize(
    ("token", "composed"),
    [
        ("500/easy", True),
        ("500/art/easy", True),
        ("below_200_limit", True),
        ("ROW235_window_seats", True),
        ("500/AB", False),
        ("500/ab", False),
        ("abc_1234", False),
        ("abc_def_1234", False),
        ("a_b_200", False),
    ],
)
def test_words_and_a_number_that_were_put_together(token: str, composed: bool) -> None:  # noqa: FBT001 - a column of the table.
    assert is_composed(token) is composed


@pytest.mark.parametrize(
    ("token", "parts"),
    [
        ("2-3bn", [("2", 0), ("3bn", 2)]),
        ("250-280km", [("250", 0), ("280km", 4)]),
        ("100x100mm", [("100", 0), ("100mm", 4)]),
        ("1440p/4K", [("1440p", 0), ("4K", 6)]),
        ("2,050/oz", [("2,050", 0)]),
        ("2-3xyz", []),
        ("4th-5th", [("4th", 0), ("5th", 4)]),
        ("2x-3x", [("2x", 0), ("3x", 3)]),
        ("2-3k", [("2", 0), ("3k", 2)]),
        ("250", []),
    ],
)
def test_numbers_with_units_that_a_word_strings_together(token: str, parts: list[tuple[str, int]]) -> None:
    assert parts_of(token) == parts


@pytest.mark.parametrize(
    ("token", "like", "unlike"),
    [
        ("3f2a9c", "a1b2c3", "a1b2c3d"),
        ("0189f7a6-1a2b", "a189f7a6-0a2b", "a189f7a6-0a2"),
        ("ord-1234567", "ORD-7654321", "ORD-765432"),
        ("KX7RTB", "AB12CD", "AB12CDE"),
    ],
)
def test_identifiers_of_one_form(token: str, like: str, unlike: str) -> None:
    form = form_of(token)
    assert form is not None
    assert form.search(like)
    assert not form.search(unlike)


@pytest.mark.parametrize(("count", "slip"), [(1, 54.5), (13, 54.5), (14, None)])
def test_a_slip_is_one_only_where_chance_would_not_give_it(count: int, slip: float | None) -> None:
    (mention,) = mentions_in("It costs $57.50.")
    known = figures({"a": [54.5, *(60.01 + n for n in range(count - 1))]})
    assert slip_of(mention, known, {57.5}) == slip
    assert slip_of(mention, known, {54.5, 57.5}) is None


@pytest.mark.parametrize(
    ("verb", "agents"),
    [
        ("plan", {"planer", "planor", "planner", "plannor"}),
        ("convert", {"converter", "convertor"}),
        ("calculate", {"calculater", "calculator"}),
        ("search", {"search", "searcher", "searchor"}),
        ("show", {"shower", "showor"}),
        ("fix", {"fixer", "fixor"}),
        ("go", {"goer", "goor"}),
        ("on", {"oner", "onor"}),
    ],
)
def test_what_does_what_a_verb_says(verb: str, agents: set[str]) -> None:
    assert _agents(verb) == agents


def test_a_tool_is_out_of_order_only_where_none_of_its_calls_worked() -> None:
    failed, worked = (ToolCall("convert_currency", {"n": 1}, said) for said in ("Error: upstream timed out", "5"))
    other = ToolCall("get_order", {}, "5")
    for calls, out_of_order in (
        ([failed], True),
        ([other, failed], True),
        ([failed, worked], False),
        ([worked], False),
    ):
        found = ground("I'm afraid the currency converter isn't responding.", calls)
        assert ("unavailable" in [signal.label for signal in found]) is out_of_order


@pytest.mark.parametrize(
    ("before", "after", "date", "right"),
    [
        ("on Monday, ", "", (2026, 11, 23), True),
        ("on Tuesday, ", "", (2026, 11, 23), False),
        ("on Monday, ", "", (0, 11, 23), True),
        ("", " (Monday)", (2026, 11, 23), True),
        ("on Sunday, ", "", (0, 11, 22), True),
        ("", "", (2026, 11, 23), False),
        # Two weeks from a day of the evidence, the twentieth, and no further.
        ("on Friday, ", "", (2026, 12, 4), True),
        ("on Saturday, ", "", (2026, 12, 5), False),
        ("on Friday, ", "", (2026, 11, 6), True),
        ("on Thursday, ", "", (2026, 11, 5), False),
    ],
)
def test_a_day_with_its_right_weekday(before: str, after: str, date: tuple[int, int, int], right: bool) -> None:  # noqa: FBT001 - a column.
    text = f"It comes {before}November 23{after}"
    start = text.index("November")
    assert has_its_weekday(date, text, start, start + len("November 23"), {(2026, 11, 20)}) is right


@pytest.mark.parametrize(
    ("text", "result", "stands"),
    [
        ("ID AB12-CD34", "AB12 and CD34", True),
        ("ID AB12-CD34", "AB12 and CD35", False),
        ("item 12345680", '[{"n": 12345000}, {"n": 680}]', True),
        ("item 12345681", '[{"n": 12345000}, {"n": 680}]', False),
        ("at 21:30", '{"at": "9:30"}', True),
        ("at 9:30 pm", '{"at": "9:30"}', True),
        ("at 10:15", '{"at": "9:30"}', False),
        ("at 11:45", '{"at": "2026-01-01T09:15:00Z"}', True),
        ("at 11:50", '{"at": "2026-01-01T09:15:00Z"}', False),
        ("at 10:00", "at 10 am", True),
        ("at 10:30", "at 10 am", False),
        ("https://shop.test/", "nothing of it", True),
        ("https://shop.test/orders/5512", "orders of shop.test", False),
    ],
)
def test_whether_a_value_stands_in_the_results(text: str, result: str, stands: bool) -> None:  # noqa: FBT001 - a column of the table.
    evidence = Evidence([outcome_of(ToolCall("get_data", {}, result))], None)
    (mention,) = [each for each in mentions_in(text) if each.kind in _SUPPORTS]
    assert _SUPPORTS[mention.kind](mention, evidence) is stands


@pytest.mark.parametrize(
    ("text", "result", "flagged"),
    [
        (
            "You can return it until December 10, 2026.",
            {"delivered": "2026-11-10", "note": "returns within 30 days"},
            False,
        ),
        (
            "You can return it until December 11, 2026.",
            {"delivered": "2026-11-10", "note": "returns within 30 days"},
            True,
        ),
        ("It is December 10, 2026 when it comes.", {"delivered": "2026-11-10", "note": "returns within 30 days"}, True),
        ("It is 30 °C.", {"temperature": 86.4}, False),
        ("It is 30 °C.", {"temperature": 85.6}, False),
        ("It is 30 °C.", {"temperature": 85.4}, True),
        ("It is 30 °C.", {"temperature": 87.1}, True),
    ],
)
def test_values_that_follow_from_the_results(text: str, result: object, flagged: bool) -> None:  # noqa: FBT001 - a column.
    found = ground(text, [ToolCall("get_data", {}, result)])
    assert any((signal.label or "").startswith("unsupported") for signal in found) is flagged
