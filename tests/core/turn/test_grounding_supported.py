"""The calls of a turn against the claims of an answer, and against its silence about failed calls."""

import json
from typing import Any

import pytest

from toolvet.core.checks.answer import FailureSignal, SignalType
from toolvet.core.turn.ledger import ToolCall, ground
from toolvet.core.turn.ledger.failures import _echoed
from toolvet.core.turn.ledger.outcome import outcome_of

LOCKED = "Error: the database is locked"
GET = ("get_order", {"id": "W-12"})
AFTER, WITHOUT = "claimed_success_after_failure", "claimed_without_call"
Call = tuple[str, dict[str, Any], object]


def state(order: str, status: str) -> Call:
    return ("get_order", {"id": order.upper()}, json.dumps({"id": order, "status": status}))


@pytest.mark.parametrize(
    ("text", "calls", "found"),
    [
        # Without any call.
        ("I've sent the email to Bob. I've emailed Ann too.", [], [(WITHOUT, 0.7, "no tool was called")]),
        ("I've sent the email. I've cancelled it.", [], [(WITHOUT, 0.7, "no tool was called")] * 2),
        ("Your return has been submitted.", [], [(WITHOUT, 0.45, "no tool was called")]),
        ("I added a paragraph to the summary.", [], []),
        # A thing whose state was asked for: each call that named it failed, and no result has it.
        ("Order W-12 has shipped.", [(*GET, LOCKED)], [(AFTER, 0.85, f"get_order: {LOCKED}")]),
        ("Sorry. Order W-12 has shipped.", [(*GET, LOCKED)], [(AFTER, 0.5, f"get_order: {LOCKED}")]),
        ("Order W-12 has shipped.", [(*GET, LOCKED), (*GET, '{"status": "x"}')], []),
        ("Order W-12 has shipped.", [(*GET, LOCKED), ("list_orders", {}, '[{"id": "w-12"}]')], []),
        (
            "Order W-12 has shipped.",
            [(*GET, LOCKED), ("list_orders", {}, '[{"id": "w-13"}]')],
            [(AFTER, 0.85, f"get_order: {LOCKED}")],
        ),
        ("Order W-12 has shipped.", [("get_order", {"id": "W-13"}, LOCKED), ("list_orders", {}, '["w-12"]')], []),
        # What calls of another kind send by themselves, and what they do not.
        (
            "I've sent you a confirmation.",
            [("cancel_flight", {}, "ok")],
            [(WITHOUT, 0.2, "only cancel_flight was called")],
        ),
        ("I've emailed the hotel.", [("cancel_flight", {}, "ok")], [(WITHOUT, 0.4, "only cancel_flight was called")]),
        ("The email has been sent.", [("cancel_flight", {}, "ok")], [(WITHOUT, 0.2, "only cancel_flight was called")]),
        ("The email has been sent.", [("cancel_flight", {}, '{"status": "sent"}')], []),
        ("I've emailed the hotel.", [("cancel_flight", {}, '{"status": "emailed"}')], []),
        (
            "I've emailed the hotel.",
            [("get_flight", {}, '{"status": "emailed"}')],
            [(WITHOUT, 0.7, "only get_flight was called")],
        ),
        ("I've emailed the hotel.", [("cancel_flight", {}, LOCKED)], [(AFTER, 0.85, f"cancel_flight: {LOCKED}")]),
        # A result that says the same of the same thing, in the same word or another of its kind.
        ("Your order has been cancelled.", [state("w-12", "cancelled")], []),
        ("Your order has been canceled.", [state("w-12", "cancelled")], []),
        (
            "Your order has been cancelled.",
            [(*GET, "A cancelled flight is dear.")],
            [(WITHOUT, 0.45, "only get_order was called")],
        ),
        ("Your order has been cancelled.", [(*GET, "Order W-12 is now cancelled, sorry.")], []),
        ("Your order W-12 has been cancelled.", [state("w-12", "cancelled"), state("w-13", "open")], []),
        (
            "Your order W-12 has been cancelled.",
            [state("w-12", "open"), state("w-13", "cancelled")],
            [(WITHOUT, 0.45, "only get_order was called")],
        ),
        ("The email has been sent.", [("get_mail", {}, '{"email": "x", "state": "delivered"}')], []),
        (
            "The email has been sent.",
            [("get_order", {}, '{"order": "x", "state": "delivered"}')],
            [(WITHOUT, 0.45, "only get_order was called")],
        ),
        ("Your booking has been confirmed.", [("get_booking", {}, '{"booking": "x", "state": "reserved"}')], []),
        (
            "Your booking has been updated.",
            [("get_booking", {}, '{"booking": "x", "state": "changed"}')],
            [(WITHOUT, 0.45, "only get_booking was called")],
        ),
        ("Your return has been submitted.", [("get_return", {}, '{"return": "x", "state": "returned"}')], []),
        (
            "Your order has been cancelled.",
            [("get_order", {}, '{"order": "x", "state": "deleted"}')],
            [(WITHOUT, 0.45, "only get_order was called")],
        ),
        (
            "Your item X-12 has been escrowed.",
            [("escrow_item", {"id": "X-12"}, LOCKED), ("get_item", {}, '{"id": "x-12", "state": "completed"}')],
            [],
        ),
        (
            "Your item X-12 has been escrowed.",
            [("escrow_item", {"id": "X-12"}, LOCKED), ("get_item", {}, '{"id": "x-12", "state": "open"}')],
            [(AFTER, 0.85, f"escrow_item: {LOCKED}")],
        ),
        # The call that the claim is about, by its identifier, its thing, its kind.
        ("I've updated the order.", [("update_order", {}, LOCKED)], [(AFTER, 0.85, f"update_order: {LOCKED}")]),
        ("Sorry. I've updated the order.", [("update_order", {}, LOCKED)], [(AFTER, 0.5, f"update_order: {LOCKED}")]),
        ("I've updated the order.", [("update_order", {}, LOCKED), ("update_order", {}, "ok")], []),
        (
            "I've updated the order.",
            [("get_order", {}, LOCKED), ("get_user", {}, LOCKED)],
            [(AFTER, 0.85, f"get_user: {LOCKED}")],
        ),
        (
            "I've updated the order.",
            [("get_order", {}, LOCKED), ("get_user", {}, "ok")],
            [(WITHOUT, 0.7, "only get_order, get_user was called")],
        ),
        ("I've updated the bag.", [("update_bags", {}, LOCKED), ("update_lamps", {}, "ok")], []),
        (
            "I've updated the bag.",
            [("update_lamps", {}, "ok"), ("update_baggage", {}, LOCKED)],
            [(AFTER, 0.85, f"update_baggage: {LOCKED}")],
        ),
        (
            "I've updated the order W-12.",
            [("update_order", {"id": "W-13"}, "ok"), ("update_order", {"id": "W-12"}, LOCKED)],
            [(AFTER, 0.85, f"update_order: {LOCKED}")],
        ),
        (
            "I've updated the order W-12.",
            [("update_order", {"id": "W-12"}, LOCKED), ("update_order", {"id": "W-13"}, "ok")],
            [],
        ),
        (
            "I've updated the order W-12.",
            [("update_order", {"id": "W-12"}, "ok"), ("update_order", {"id": "W-13"}, LOCKED)],
            [],
        ),
        (
            "I've deleted the lamp.",
            [("create_lamp", {}, "ok"), ("delete_user", {}, LOCKED)],
            [(AFTER, 0.85, f"delete_user: {LOCKED}")],
        ),
        ("I've looked up the order.", [("get_user", {}, "ok")], []),
    ],
)
def test_what_the_calls_say_to_a_claim(text: str, calls: list[Call], found: list[tuple[str, float, str]]) -> None:
    signals = ground(text, [ToolCall(*call) for call in calls])
    assert [(each.label, each.weight, each.against) for each in signals if each.label in (AFTER, WITHOUT)] == found


def test_so_many_claims_are_told_and_no_more() -> None:
    done = ["emailed", "cancelled", "updated", "exchanged", "booked", "paid", "uploaded", "restarted", "registered"]
    text = " ".join(f"I've {verb} the lamp." for verb in done)
    assert [each.label for each in ground(text, [])] == [WITHOUT] * 8


@pytest.mark.parametrize(
    ("text", "evidence"),
    [
        ("I've sent the email to Bob, and then I left.", "I've sent the email to Bob"),
        ("I've sent the email to Bob", "I've sent the email to Bob"),
        ("邮件已发送。", "邮件已发送。"),
        ("All fine. Return submitted.", "Return submitted"),
        (
            f"{'So it is. ' * 6}I've sent the email to Bob, and then I left: really. {'So it is. ' * 6}",
            "I've sent the email to Bob",
        ),
    ],
)
def test_a_claim_is_quoted_with_what_is_around_it(text: str, evidence: str) -> None:
    signal = ground(text, [ToolCall("get_user", {}, "Bob")])[-1]
    start = text.index(evidence)
    assert (signal.evidence, signal.position, signal.type) == (evidence, start, SignalType.HALLUCINATION_RISK)
    assert signal.context == text[max(0, start - 40) : start + len(evidence) + 40]


@pytest.mark.parametrize(
    ("failed", "later", "settled"),
    [
        (("get_weather", {"city": "Oslo"}), ("get_forecast", {"day": 1}), True),
        (("send_email", {"to": "bob"}), ("send_email", {"to": "ann"}), True),
        (("send_email", {"to": "bob"}), ("get_user", {"to": "ann"}), False),
        (("send_email", {"to": "bob"}), ("send_message", {"to": "ann"}), True),
        (("send_email", {"to": "bob"}), ("delete_user", {"to": "ann"}), False),
        (("send_email", {"to": "bob"}), ("zap", {"to": "bob"}), True),
        (("send_email", {"id": 1}), ("zap", {"id": 1}), False),
        (("send_email", {"id": 12}), ("zap", {"id": 12}), True),
    ],
)
def test_a_later_call_did_what_an_earlier_one_did_not(
    failed: tuple[str, dict[str, Any]],
    later: tuple[str, dict[str, Any]],
    settled: bool,  # noqa: FBT001 - a column.
) -> None:
    def unmentioned(*calls: ToolCall) -> bool:
        return "unmentioned_failure" in [each.label for each in ground("All is well.", calls)]

    broken, worked = ToolCall(*failed, LOCKED), ToolCall(*later, "fine")
    assert unmentioned(broken, worked) is not settled
    # What failed too settles nothing, nor does what went before.
    assert unmentioned(broken, ToolCall(*later, LOCKED))
    assert unmentioned(worked, broken)


def test_what_is_kept_silent_about_is_quoted_from_its_first_words() -> None:
    text = f"\n  It is sunny in Oslo today. {'So it is. ' * 30}"
    calls = [ToolCall("get_weather", {}, LOCKED), ToolCall("get_wind", {}, LOCKED)]
    (signal,) = [each for each in ground(text, calls) if each.label == "unmentioned_failure"]
    assert (signal.evidence, signal.position, signal.weight) == ("It is sunny in Oslo today", 3, 0.7)
    assert signal.context == text[: 3 + len(signal.evidence) + 40]
    assert signal.against == f"2 calls failed (get_weather, get_wind), the last: get_wind: {LOCKED}"
    assert ground("...", calls) == []


def failing(words: str) -> ToolCall:
    return ToolCall("get_data", {}, {"isError": True, "content": [{"type": "text", "text": words}]})


def test_an_answer_echoes_an_error_by_most_of_its_words_or_its_exit_code() -> None:
    call = failing("Gateway rejected certificate, reference 8731")
    for text, echoed in (
        ("The gateway rejected it.", False),
        ("The gateway rejected the certificate.", True),
        ("It is 8731.", True),
        ("It is 873.", False),
    ):
        assert _echoed(text, outcome_of(call)) is echoed
    assert _echoed("The gateway rejected it.", outcome_of(failing("Gateway rejected")))
    assert not _echoed("The gateway is it.", outcome_of(failing("Gateway rejected")))
    # Reporting one of two failures is enough.
    assert ground("It said: reference 8731.", [call, failing("Something else was quite wrong")]) == []
    long = failing("one line of it\n" * 60 + "It ended. Exit code: 2")
    assert _echoed("It ended with EXIT CODE: 2.", outcome_of(long))
    assert not _echoed("It ended.", outcome_of(long))
    # Values that the call itself sent are not the error's.
    sent = ToolCall("get_data", {"gateway": "certificate rejected", "n": 8731}, call.result)
    assert not _echoed("The gateway rejected the certificate 8731.", outcome_of(sent))


def test_a_tool_failure_is_named_once() -> None:
    """A failure that the text, or a claim, gives away already is not told again by the name of the tool."""
    calls = [ToolCall("convert_currency", {}, LOCKED)]
    text = "The converter is down."
    assert [each.label for each in ground(text, calls)] == ["unavailable"]
    for kind, told in ((SignalType.TOOL_FAILURE, []), (SignalType.CONFUSION, ["unavailable"])):
        signal = FailureSignal(type=kind, evidence="x", weight=0.5)
        assert [each.label for each in ground(text, calls, None, [signal])] == told


def test_findings_are_in_the_order_of_the_answer() -> None:
    text = "It costs $512.75. I've sent the email. It costs $612.85."
    found = ground(text, [ToolCall("get_order", {}, {"total": 1.5})])
    assert [each.evidence for each in found] == ["512.75", "I've sent the email", "612.85"]
