"""Single steps of grounding at their borders: words around a value, days that lie apart, what tools can do."""

import pytest

from toolvet.core.turn.ledger import ToolCall, ground
from toolvet.core.turn.ledger.claims import AnswerClaims
from toolvet.core.turn.ledger.dates import Date, ends_a_period, lies_between
from toolvet.core.turn.ledger.evidence import Evidence
from toolvet.core.turn.ledger.failures import FailedCalls
from toolvet.core.turn.ledger.mentions import (
    Kind,
    Mention,
    _blanked,
    _clock,
    before_is_name,
    mentions_in,
    only_shows,
)
from toolvet.core.turn.ledger.outcome import Ability, ability, outcome_of
from toolvet.core.turn.ledger.phrases import SEARCH, STATE, Claim
from toolvet.core.turn.ledger.support import moot_families
from toolvet.core.turn.ledger.tokens import after_reference
from toolvet.core.turn.ledger.values import _url_stands

REFUSED = {"content": [{"type": "text", "text": "Error: no"}], "isError": True}


@pytest.mark.parametrize(
    ("text", "found"),
    [("Order is A-1", True), ("ORDER is A-1", True), ("Order IS A-1", False), ("It is A-1", False)],
)
def test_a_word_for_a_reference_stands_before_a_value(text: str, *, found: bool) -> None:
    assert after_reference(text, text.index("A-1")) is found


def test_what_was_read_leaves_as_many_spaces() -> None:
    assert _blanked("ab http cd x", [(3, 7), (8, 10)]) == "ab         x"
    assert _blanked("ab", []) == "ab"


@pytest.mark.parametrize(
    ("text", "end", "unit"),
    [
        ("61.2 cm by 47 kg", 4, "cm"),
        ("61.2 by 47 kg", 4, "kg"),
        ("5 million by 7 cm", 1, "million"),
        ("5 dollars by 7 cm", 1, "dollars"),
    ],
)
def test_the_unit_after_a_number_is_its_own_before_it_is_one_that_is_shared(text: str, end: int, unit: str) -> None:
    assert [each.unit for each in mentions_in(text) if each.start < end] == [unit]


@pytest.mark.parametrize(
    ("before", "is_name"),
    [("v ", True), ("Python ", True), ("python ", False), ("P" + "x" * 18 + " ", True), ("P" + "x" * 19 + " ", False)],
)
def test_a_name_before_a_number_is_short(before: str, *, is_name: bool) -> None:
    assert before_is_name(before, len(before)) is is_name


@pytest.mark.parametrize("before", ["Says: ", "It says: ", "The page says: "])
def test_a_quotation_is_read_from_the_beginning_of_an_answer_on(before: str) -> None:
    (mention,) = mentions_in(f'{before}"the lamp ships in two days".')
    assert (mention.token, mention.start) == ("the lamp ships in two days", len(before) + 1)


@pytest.mark.parametrize("said", ["Dr. Priya Raman", "It is someone named Priya Raman."])
def test_a_name_stands_in_any_letter_case(said: str) -> None:
    def found(result: object) -> list[str]:
        return [signal.evidence for signal in ground(said, [ToolCall("get_data", {}, result)])]

    assert found({"name": "priya RAMAN"}) == found({"name": "Priya Raman"}) == []
    assert found({"name": "Ann Lee"}) == ["Priya Raman"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("claim_done", Ability.READS),
        ("claim_done_now", Ability.READS),
        ("claim_it", Ability.ANYTHING),
        ("send_mail", Ability.THIS),
        ("think_hard", Ability.READS),
    ],
)
def test_what_a_tool_can_do_by_the_first_words_of_its_name(name: str, expected: Ability) -> None:
    assert ability(name, "send") is expected


def test_the_claims_against_which_calls_say_nothing() -> None:
    done, failed = outcome_of(ToolCall("get", {}, "x")), outcome_of(ToolCall("get", {}, REFUSED))
    assert moot_families([]) == {STATE}
    assert moot_families([done]) == {SEARCH, STATE}
    assert moot_families([failed]) == moot_families([done, failed]) == {SEARCH}


@pytest.mark.parametrize(
    ("count", "unit", "shown", "known", "lies"),
    [
        (5, "days", (2026, 11, 3), (2026, 11, 8), True),
        (5, "days", (2026, 11, 8), (2026, 11, 3), True),
        (6, "days", (2026, 11, 8), (2026, 11, 3), False),
        (1, "week", (2026, 11, 1), (2026, 11, 8), True),
        (0, "days", (2026, 11, 3), (2026, 11, 3), False),
        (1, "lamp", (2026, 11, 1), (2026, 11, 8), False),
        (5, "days", (0, 11, 8), (0, 11, 3), False),
        (40_000, "days", (2026, 11, 8), (2136, 5, 15), True),
        (40_001, "days", (2026, 11, 8), (2136, 5, 16), False),
    ],
)
def test_so_many_days_lie_between_two(count: int, unit: str, shown: Date, known: Date, *, lies: bool) -> None:
    assert lies_between(count, unit, [shown], [known]) is lies
    assert lies_between(count, unit, [], [shown, known]) is lies


def test_a_day_without_its_year_is_one_of_any_year() -> None:
    def found(text: str) -> list[str]:
        return [signal.evidence for signal in ground(text, [ToolCall("get_data", {}, "on 3 November 2025")])]

    assert found("It came on November 3.") == []
    assert found("It came on November 4.") == ["November 4"]


@pytest.mark.parametrize(
    ("after", "claims"),
    [("。", 1), ("ら、お知らせします。", 0), ("後は待ちます。", 0), ("。ら、お知らせします。", 1)],
)
def test_a_condition_that_is_glued_to_the_verb_takes_a_claim_back(after: str, claims: int) -> None:
    assert len(ground(f"メールを送信しました{after}", [])) == claims


def test_a_claim_is_about_a_deed_unless_its_row_says_otherwise() -> None:
    claim = Claim(match="x")
    assert (claim.family, claim.frame, claim.passive, claim.text_work) == ("", None, False, False)


@pytest.mark.parametrize(
    ("text", "shows"), [('"K-1234": 5', True), ('so "K-1234" : 5', True), ('"K-1234" 5', False), ("K-1234: 5", False)]
)
def test_the_key_of_a_member_only_shows_a_value(text: str, *, shows: bool) -> None:
    (mention,) = (each for each in mentions_in(text) if each.token == "K-1234")
    assert only_shows(text, mention) is shows


@pytest.mark.parametrize(("day", "dates"), [("1/5/26", ["1/5/26"]), ("1-5-26", ["1-5-26"]), ("1/5/2", [])])
def test_a_day_in_numbers_has_six_letters_at_least(day: str, dates: list[str]) -> None:
    assert [each.token for each in mentions_in(f"On {day} it came") if each.kind is Kind.DATE] == dates


@pytest.mark.parametrize(
    ("error", "answer", "is_reported"),
    [
        ("Error: order not found", "I could not find the order, it does not exist.", True),
        ("Error: order not found", "The order is on its way.", False),
        ("Request timed out", "The request timed out.", False),
        ("Internal server error", "There was a server error.", False),
    ],
)
def test_only_a_refusal_is_reported_in_words_for_its_state(error: str, answer: str, *, is_reported: bool) -> None:
    failed = outcome_of(ToolCall("get_order", {}, {"content": [{"type": "text", "text": error}], "isError": True}))
    silent = FailedCalls(answer, [failed]).unmentioned(AnswerClaims([], admits=False, asks=False), [])
    assert (not silent) is is_reported


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("at 9 pm", [(1260,)]),
        ("at 11 pm", [(1380,)]),
        ("at 11:30 pm", [(1410,)]),
        ("at 11:30", [(690, 1410)]),
        ("at 13:30", [(810,)]),
        ("at 12 am", [(0,)]),
        ("at 111 pm", []),
    ],
)
def test_a_time_of_day_has_one_reading_or_two(text: str, minutes: list[tuple[int, ...]]) -> None:
    assert [each.minutes for each in mentions_in(text) if each.kind is Kind.TIME] == minutes


@pytest.mark.parametrize(
    ("address", "found"), [("Ann@ACME.com", []), ("ann@acme.com", []), ("bob@acme.com", ["bob@acme.com"])]
)
def test_an_address_stands_in_any_letter_case(address: str, found: list[str]) -> None:
    signals = ground(f"The contact is {address}.", [ToolCall("get_data", {}, {"mail": "ann@acme.com"})])
    assert [signal.evidence for signal in signals] == found


@pytest.mark.parametrize(
    ("text", "ends"),
    [("Quarter ends: September 30", True), ("A quarter ends: September 30", True), ("On x: 30", False)],
)
def test_the_word_of_a_period_may_be_the_first_of_the_answer(text: str, *, ends: bool) -> None:
    assert ends_a_period((2026, 9, 30), text, text.index(":") + 2, len(text)) is ends
    assert not ends_a_period((2026, 9, 29), text, text.index(":") + 2, len(text))


@pytest.mark.parametrize(
    ("token", "is_phone"), [("12-34-567", True), ("12-34-56", False), ("1234-567", False), ("12 34 567", False)]
)
def test_seven_digits_in_three_groups_look_like_a_phone(token: str, *, is_phone: bool) -> None:
    assert ([each.kind for each in mentions_in(f"Call {token} today")] == [Kind.ID]) is is_phone


@pytest.mark.parametrize(
    ("token", "minutes"),
    [
        ("25:10", ()),
        ("12:60", ()),
        ("10", ()),
        ("23:59", (1439,)),
        ("12:00", (720, 0)),
        ("0:30", (30, 750)),
        ("9PM", (1260,)),
    ],
)
def test_the_minutes_of_a_clock(token: str, minutes: tuple[int, ...]) -> None:
    assert _clock(f"at {token}", token, 3 + len(token)) == minutes


def test_four_words_are_a_quotation() -> None:
    assert [each.token for each in mentions_in('It says "one two three four".')] == ["one two three four"]
    assert list(mentions_in('It says "one two three".')) == []


@pytest.mark.parametrize(("between", "ends"), [(50, True), (51, True), (52, False), (100, False)])
def test_the_word_of_a_period_is_not_far(between: int, *, ends: bool) -> None:
    before, after = f"The quarter {'x' * between} September 30", f"September 30 {'x' * between} quarter"
    assert ends_a_period((2026, 9, 30), before, before.index("Sept"), len(before)) is ends
    assert ends_a_period((2026, 9, 30), after, 0, 12) is ends


@pytest.mark.parametrize(
    ("url", "stands"),
    [
        ("https://acme.com", True),
        ("https://acme.com/", True),
        ("https://acme.com/s?q=x", True),
        ("https://acme.com/t", False),
        ("https://acme.com/search?q=1", True),
        ("https://acme.com/abc", True),
        ("https://acme.com/abc/88", False),
        ("https://x.example.com/9", True),
    ],
)
def test_the_front_page_of_a_site_and_its_search_stand_by_themselves(url: str, *, stands: bool) -> None:
    evidence = Evidence([outcome_of(ToolCall("get_data", {}, {"a": "abc"}))], None)
    assert _url_stands(Mention(Kind.URL, 0, len(url), url), evidence) is stands


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A\nB\nReturns close 30 days later, December 3, 2026.", []),
        ("Within 30 days.\nOk.\nCome on December 3, 2026.", ["December 3, 2026"]),
    ],
)
def test_a_span_of_days_counts_in_its_own_line(text: str, found: list[str]) -> None:
    signals = ground(text, [ToolCall("get_data", {}, {"at": "2026-11-03"})])
    assert [signal.evidence for signal in signals] == found


@pytest.mark.parametrize("after", ["!", ", as you asked.", ": done."])
def test_the_words_of_a_claim_end_with_it(after: str) -> None:
    (signal,) = ground(f"I've sent the email{after}", [])
    assert (signal.evidence, signal.position) == ("I've sent the email", 0)
