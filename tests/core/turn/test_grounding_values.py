"""What follows from the results of a turn and needs no call of its own, what informs, and what weighs."""

import datetime as dt
import json
import re

import pytest
from hypothesis import given, strategies as st
from tests.examples import examples

from toolvet import check_answer
from toolvet.core.turn.ledger import ToolCall, ground
from toolvet.core.turn.ledger.dates import deadline_words, period_words, span_words
from toolvet.core.turn.ledger.tokens import MentionFrame, form_of, frames, is_code, is_identifier, is_placeholder

ESCALATES = 0.3


def found(text: str, result: object, question: object = None) -> dict[str, float]:
    """The findings in an answer, with their weight, with one call that returned `result`."""
    return {
        signal.evidence: signal.weight
        for signal in ground(text, [ToolCall("get_data", {}, result)], question)  # type: ignore[arg-type]
        if (signal.label or "").startswith("unsupported")
    }


ORDERS = {
    "orders": [
        {"id": "ORD-2041", "placed": "2026-11-01", "items": [{"price": 48.2}, {"price": 36.15}, {"price": 12.9}]},
        {"id": "ORD-2042", "placed": "2026-11-20", "items": [{"price": 110.05}, {"price": 7.45}]},
    ],
    "return_window_days": 30,
}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        # Months of other languages.
        ("3 out of 4 builds passed.", {"passed": [1, 2, 3], "all": [1, 2, 3, 4]}),
        ("The restaurant has 2 set menus and the 3 gen models.", {"menus": ["a", "b"]}),
        ("2. Set your token.\n3. May need a restart.", {"ok": True}),
        ("There are 3 may be 4 of them.", {"count": 4}),
        # Sums, products, means, differences, shares, changes, counts.
        ("Order ORD-2041 comes to $97.25.", ORDERS),
        ("Both orders together come to $214.75.", ORDERS),
        ("The first two items cost $84.35.", ORDERS),
        ("For the 3 of you at $640 each that is $1,920. After the vouchers of $400 and $215, $1,305 is left.", 640),
        ("With 15 % off the $80.00 you pay $68.00.", {"price": 80.0}),
        ("It rose from 40 to 50, by 25%.", {"before": 40, "after": 50}),
        ("On average an item costs $32.42.", {"items": [{"price": 48.2}, {"price": 36.15}, {"price": 12.9}]}),
        ("2 of the 3 builds passed, 66.7 %.", {"builds": ["passed", "passed", "failed"]}),
        # Units and magnitudes.
        ("Revenue was $2.98 trillion.", {"revenue": 2981160000000}),
        ("Revenue was $2,981.16B, about 3 trillion.", {"revenue_in_millions": 2981160}),
        ("The market cap is 3.5 billion.", {"cap": 3512345678}),
        ("It is 25m from the door.", {"distance": 25}),
        ("The bag may be 55.9 \u00d7 35.6 cm.", {"inches": [22, 14]}),
        ("It is 61.2 \u00d7 47 cm (24.1 \u00d7 18.5 inches).", {"cm": [61.2, 47]}),
        ("It is 71.6 °F outside.", {"celsius": 22}),
        ("That is 26.2 miles, or 42.2 km.", {"metres": 42195}),
        ("The parcel weighs 154.3 lb.", {"kg": 70}),
        ("The file has 1.46 KB.", {"bytes": 1500}),
        ("Charge every 250-280km.", {"km": [250, 280]}),
        ("It is 1254 meters (0.78 miles) away.", {"steps": [{"meters": 1000}, {"meters": 254}]}),
        ("Each of the 6 shares gets $66,666.67.", {"capital": 400000}),
        ("Item 5 (500/art/easy) is in stock.", {"item": 5, "pieces": 500}),
        ("The trip takes 4h29m.", {"leaves": "07:00", "arrives": "11:29"}),
        # Days.
        ("There are 19 days between the two orders.", ORDERS),
        ("You can return it until December 1, 2026.", ORDERS),
        ("The trial ends two weeks later, on November 15, 2026.", ORDERS),
        ("It renews monthly, next on December 20.", ORDERS),
        ("The quarter ends on December 31, 2026.", ORDERS),
        ("Your appointment is on Friday, November 27, 2026.", ORDERS),
        ("The next Friday is November 27, 2026.", ORDERS),
        ("The fair is on May 16-17.", {"from": "2026-05-16", "to": "2026-05-17"}),
        ("The fair is on 16\u201317 May 2026.", {"days": ["2026-05-16", "2026-05-17"]}),
        # Endings, examples, values over lines, keys, names put together.
        ("The car's VIN ends in 17642.", {"vin": "1HGCM82633A017642"}),
        ("Paid with the card ending in 4242.", {"card": "5555444433334242"}),
        ("I need the order id (e.g., ORD-9999 or #W0000000).", ORDERS),
        ("Codes are in the format ABC-123456.", ORDERS),
        ("Your order ORD-\n2041 is on its way.", ORDERS),
        ("Write to walter_gray@shop.test.", "Cluster: Walter\\nGray walter_gr\\nay@shop.test"),
        ("Write to walter_gray@shop.test.", "Cluster: Walter\nGray walter_gr\nay@shop.test"),
        ('{"ORD-2041_items": 3, "gift_card_4821935_left": 67}', {"id": "ORD-2041", "left": 67}),
        ('{"option": "HOLD_ROOM_AT_725_NOW"}', {"fare": 725}),
        (r"Paid with the card on file)\n\nIf all is right, say yes.\n- Or no.", {"ok": True}),
        ("Your mara_lin_7352 account is active.", {"user_id": "mara_lin_7352"}),
    ],
)
def test_what_follows_from_a_result_is_borne_out(text: str, result: object) -> None:
    assert found(text, result) == {}


@pytest.mark.parametrize(
    ("text", "result", "evidence"),
    [
        ("Order ORD-2041 comes to $98.25.", ORDERS, "98.25"),
        ("Both orders together come to $241.57.", ORDERS, "241.57"),
        ("With 15 % off the $80.00 you pay $66.00.", {"price": 80.0, "off": 15}, "66.00"),
        ("The market cap is 4.5 billion.", {"cap": 3512345678}, "4.5"),
        ("It is 75.6 °F outside.", {"celsius": 22}, "75.6"),
        ("You can return it until December 9, 2026.", ORDERS, "December 9, 2026"),
        ("The meeting is on December 31, 2026.", ORDERS, "December 31, 2026"),
        ("Your appointment is on Friday, November 26, 2026.", ORDERS, "November 26, 2026"),
        ("The fair is on May 16-19.", {"from": "2026-05-16", "to": "2026-05-17"}, "19"),
        ("The order of 3 March arrived.", {"placed": "2026-02-03"}, "3 March"),
        ("O pedido de 3 out. chegou.", {"data": "2026-02-03"}, "3 out."),
        ("Paid with the card ending in 4243.", {"card": "5555444433334242"}, "4243"),
    ],
)
def test_what_does_not_follow_informs_and_escalates_nothing(text: str, result: object, evidence: str) -> None:
    signals = found(text, result)
    assert list(signals) == [evidence]
    assert signals[evidence] < 0.1


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("Your order ORD-2043 is on its way.", ORDERS),
        ("The booking is KX7RTB.", {"booking": "KX2RTB"}),
        ("Item 7310255849 is back in stock.", {"item_id": 7310255842}),
        ("The user is mara_lin_7353.", {"user_id": "mara_lin_7352"}),
        ("Write to lina@shop.test.", {"email": "lena@shop.test"}),
        ("See https://shop.test/orders/ORD-77.", {"url": "https://shop.test/orders/ORD-78"}),
        ("The total is $57.50.", {"total": 54.5}),
    ],
)
def test_what_a_result_has_in_another_form_weighs(text: str, result: object) -> None:
    signals = found(text, result, "How is my order?")
    assert len(signals) == 1
    assert max(signals.values()) > ESCALATES
    assert check_answer(text, calls=[ToolCall("get_data", {}, result)]).should_escalate


@pytest.mark.parametrize(
    "text",
    [
        "A Sony WH-1000XM5 or an i5-13600K would do.",
        "Call Medicare at 1-800-633-4227.",
        "See https://www.python.org/downloads/release-4711.",
        "Write to help@elsewhere.test.",
        "See https://shop.test/returns-and-refunds.",
    ],
)
def test_knowledge_of_the_model_informs(text: str) -> None:
    result = {"id": "ORD-2041", "version": "v1.9.3", "file": "report_20261122.csv", "url": "https://shop.test/orders"}
    signals = found(text, {**result, "mail": "lena@shop.test"}, "What would you buy?")
    assert signals
    assert sum(signals.values()) <= 0.21


@pytest.mark.parametrize("text", ["Upgrade to v2.7.14.", "I would save it as report_20261123.csv.", "Use #3b82f6."])
def test_versions_files_and_colours_do_not_weigh(text: str) -> None:
    result = {"version": "v1.9.35", "file": "report_20261122.csv", "colour": "#1f2937"}
    assert sum(found(text, result, "What now?").values()) < 0.1


def test_a_reference_in_a_form_that_no_result_uses_weighs_less_than_a_slip() -> None:
    text = "Your exchange is done. Reference: ORD-2041-EX."
    assert found(text, ORDERS, "Please exchange it.") == {"ORD-2041-EX": 0.3}
    # Without the words of the person it may be theirs.
    assert found(text, ORDERS)["ORD-2041-EX"] < 0.1


def test_many_values_that_inform_do_not_escalate() -> None:
    text = "It costs $4,711.23, $815.44, $1,234.56, $99.12, $7,301.88, $640.07 and $55.30."
    quality = check_answer(text, calls=[ToolCall("get_data", {}, {"total": 1})])
    assert len(quality.signals) > 4
    assert not quality.should_escalate
    assert quality.score >= 0.75


def test_the_derivation_nearby_is_quoted() -> None:
    signals = ground("The three items come to $98.25.", [ToolCall("get_order", {}, ORDERS["orders"][0])])  # type: ignore[index]
    assert [signal.against for signal in signals] == [
        "not in the results of get_order; the nearest number there is 48.2, the total of items.price is 97.25"
    ]


MESSAGES = [
    {"role": "system", "content": "A checked bag costs $50.35."},
    {"role": "user", "content": [{"type": "text", "text": "My order is ORD-7001."}]},
    {"role": "assistant", "content": "It costs $61.17."},
    {"role": "tool", "content": '{"fee": 12.25}'},
]


def test_a_conversation_bears_out_what_the_person_the_system_and_the_tools_said() -> None:
    assert found("ORD-7001: $50.35 for the bag and $12.25 as a fee.", ORDERS, MESSAGES) == {}
    assert list(found("The bag costs $61.17.", ORDERS, MESSAGES)) == ["61.17"]
    gemini = [{"role": "user", "parts": [{"text": "I paid $61.17."}]}]
    assert found("You paid $61.17.", ORDERS, gemini) == {}


def test_what_the_person_is_said_to_have_given_needs_no_result_where_their_words_are_not_known() -> None:
    text = "You mentioned order ORD-7001, which I cannot find."
    assert found(text, ORDERS) == {}
    assert list(found(text, ORDERS, "Where is my parcel?")) == ["ORD-7001"]


@pytest.mark.parametrize(
    "question", ["x", [], [None], [5], [object()], [{"role": 1}], [{"content": [{"text": 5}]}], ({},)]
)
def test_no_question_makes_it_raise(question: object) -> None:
    found("Order ORD-1 of May 5 costs $5.12.", ORDERS, question)


def test_frames_and_words_keep_their_proofs() -> None:
    for name in frames().__struct_fields__:
        frame: MentionFrame = getattr(frames(), name)
        pattern = re.compile(frame.match, 0 if name in ("names", "references") else re.IGNORECASE)
        assert all(pattern.search(text) for text in frame.hits), name
        assert not any(pattern.search(text) for text in frame.misses), name
    for frame, words in ((span_words().period, period_words()), (span_words().deadline, deadline_words())):
        assert all(words.search(text) for text in frame.hits)
        assert not any(words.search(text) for text in frame.misses)


def test_what_names_a_thing() -> None:
    assert all(map(is_identifier, ("ORD-2041", "#W1234567", "gift_card_4821936", "HAT069")))
    assert not any(map(is_identifier, ("4h29m", "500-piece", "utf-8", "v2", "#3b82f6")))
    assert all(map(is_identifier, ("A1234", "AB123", "#123")))
    assert not any(map(is_identifier, ("A123", "ABC12", "#12", "1-234-56")))
    assert [form_of(token) is None for token in ("v2.7.14", "a.csv", "#", "x" * 61, "x" * 60, "A-1")] == [
        True, True, True, True, False, False,
    ]  # fmt: skip
    assert all(map(is_code, ("KX7RTB", "5TQWPL")))
    assert not any(map(is_code, ("HTML", "Monday", "12345678901")))
    assert all(map(is_placeholder, ("#W0000000", "ORD-123456", "ORD-654321", "XXX-1")))
    assert not any(map(is_placeholder, ("ORD-2041", "#W1234890")))


DIGITS = st.characters(categories=["Nd", "Nl", "No"])


@examples(80)
@given(st.lists(DIGITS | st.sampled_from(" -:./,%$#eEhm°\n") | st.sampled_from(["May ", "am", "€"]), max_size=40))
def test_digits_of_every_script_are_read(parts: list[str]) -> None:
    text = "".join(parts)
    check_answer(text, calls=[ToolCall("t", {"x": text}, {"y": [text, 1, 2.5]})], question=text)


def test_the_khmer_digit_that_raised() -> None:
    check_answer("\u17e8e", calls=[{"name": "t", "arguments": {}, "result": {}}])


@examples(60)
@given(st.lists(st.integers(100, 99_999), min_size=2, max_size=6, unique=True))
def test_the_sum_of_the_prices_of_a_list_is_borne_out(cents: list[int]) -> None:
    rows = {"lines": [{"name": "x", "price": each / 100} for each in cents]}
    assert found(f"Together that is ${sum(cents) / 100:,.2f}.", rows) == {}


@examples(60)
@given(st.dates(dt.date(1100, 1, 1), dt.date(2900, 1, 1)), st.integers(1, 400))
def test_a_day_so_many_days_later_is_borne_out(day: dt.date, count: int) -> None:
    later = day + dt.timedelta(days=count)
    assert found(f"It ends {count} days later, on {later.isoformat()}.", {"from": day.isoformat()}) == {}


@pytest.mark.parametrize(
    "numbers",
    [
        [each * 7 + 0.31 for each in range(100_000)],
        [{"price": each * 1.37, "count": each} for each in range(40_000)],
        [{f"k{each}": [each, each + 0.5]} for each in range(20_000)],
    ],
)
def test_a_hundred_thousand_numbers_are_searched_within_bounds(numbers: list[object]) -> None:
    answer = " ".join(f"${each * 3 + 0.07:,.2f}" for each in range(300)) + " 12.34% on May 5, 2031"
    ground(answer, [ToolCall("dump", {}, json.dumps(numbers))])
