"""Claims of action held against the calls, and failures that an answer honestly reports."""

import json

import pytest

from toolvet.core.turn.check import check_answer
from toolvet.core.turn.ledger import ToolCall, ground
from toolvet.core.turn.ledger.claims import said
from toolvet.core.turn.ledger.outcome import Ability, TurnVocabulary, ability, outcome_of, past_forms, verb_of

ORDER = ToolCall("get_order", {"order_id": "W-1200"}, json.dumps({"order_id": "W-1200", "status": "delivered"}))
LOCKED = "Error: the database is locked"


def labels(text: str, *calls: ToolCall) -> list[str | None]:
    return [signal.label for signal in ground(text, list(calls))]


@pytest.mark.parametrize(
    "text",
    [
        "Your return has been submitted.",
        "All set: the exchange is submitted.",
        "✅ Sent email to the manager",
        "Successfully uploaded the dataset.",
        "Done! The appointment is booked.",
        "Here is what I did:\n- Cancelled the flight\n- Refunded the fee",
        "1. **Created** a ticket for the bug",
        "Both cancellations are complete.",
        "Return request submitted",
        "I went ahead and rescheduled the meeting.",
        "I checked the order and submitted the exchange.",
        "The shipping address has been updated.",
    ],
)
def test_an_action_that_no_call_did_is_found_in_any_grammar(text: str) -> None:
    assert set(labels(text, ORDER)) == {"claimed_without_call"}
    assert labels(text, ORDER, ToolCall("execute", {"what": "all of it"}, "ok")) == []


@pytest.mark.parametrize(
    "text",
    [
        "I can submit the return for you.",
        "Your return would be submitted today.",
        "Once your return has been submitted, you get an email.",
        "Has the return been submitted?",
        "The return was not submitted.",
        "Your order has been delivered.",
        "Refunds are issued within five days.",
        "You have submitted the form.",
        "Your flight has been cancelled by the airline.",
        "I've added a section about tests to the text below.",
        "Set up a return for the watch.",
        "Order placed: May",
        "I've confirmed that the item is in stock.",
        "Both items are confirmed valid options.",
        "I've applied your time preferences to the search.",
        "**Outfit:** Storm Gale (5-piece set)",
    ],
)
def test_offers_rules_and_what_was_read_claim_nothing(text: str) -> None:
    assert ground(text, [ORDER]) == []


def test_what_was_made_successfully_is_a_hint_where_all_calls_read() -> None:
    made = "I have successfully reorganized the blocks into two columns."
    assert [signal.weight for signal in ground(made, [ORDER])] == [0.2]
    assert ground(made, [ORDER, ToolCall("append_block", {}, "ok")]) == []
    assert ground("I have reorganized the blocks into two columns.", [ORDER]) == []
    assert ground("I have successfully written the summary.", [ORDER]) == []


def test_a_payment_method_is_no_text() -> None:
    assert labels("The payment method of the order has been changed.", ORDER) == ["claimed_without_call"]
    assert labels("The method has been changed.", ORDER) == []


def test_a_state_that_a_result_reports_is_borne_out() -> None:
    cancelled = ToolCall("get_order", {"order_id": "W-1200"}, json.dumps({"order_id": "W-1200", "status": "cancelled"}))
    assert labels("Your order W-1200 has been cancelled.", cancelled) == []
    assert labels("Your order W-1200 has been cancelled.", ORDER) == ["claimed_without_call"]


def test_the_tools_teach_verbs_and_things() -> None:
    failed = ToolCall("approve_expense", {"report": "R-1200"}, LOCKED)
    assert labels("I've approved the expense.", failed) == ["claimed_success_after_failure"]
    pages = [ToolCall("fetch_page", {"page_id": "x"}, "the plan")]
    assert [signal.label for signal in ground("I've updated the page.", pages)] == ["claimed_without_call"]
    assert ground("I've updated the page.", [ORDER]) == []
    vocabulary = TurnVocabulary([outcome_of(failed)])
    assert "approved" in vocabulary.verbs
    assert {"expense", "report"} <= vocabulary.things


@pytest.mark.parametrize(
    ("verb", "form"),
    [("cancel", "canceled"), ("cancel", "cancelled"), ("send", "sent"), ("copy", "copied"), ("save", "saved")],
)
def test_past_forms(verb: str, form: str) -> None:
    assert form in past_forms(verb)
    assert past_forms("") == frozenset()


def test_the_failed_call_of_the_same_thing_counts_not_an_earlier_success_of_another() -> None:
    address = ToolCall("modify_address", {"address": "1 Elm Street"}, LOCKED)
    items = ToolCall("modify_items", {"items": ["lamp"]}, "ok")
    text = "Your address has been updated."
    assert labels(text, items, address) == ["claimed_success_after_failure"]
    assert "claimed_success_after_failure" not in labels(text, address, items)
    assert labels(text, items, address, ToolCall("modify_address", {"address": "1 Elm Street"}, "ok")) == []


def test_what_a_call_sent_is_no_report_of_it() -> None:
    missing = ToolCall("get_order", {"order_id": "ORD-404"}, "Error: order ORD-404 not found")
    other = ToolCall("get_user", {"user": "lena"}, '{"name": "Lena"}')
    assert labels("Order ORD-404 has shipped.", missing) == ["claimed_success_after_failure"]
    assert labels("Order ORD-404 has shipped.", missing, other) == ["claimed_success_after_failure"]
    assert labels("I could not find order ORD-404.", missing, other) == []


@pytest.mark.parametrize(
    ("name", "family", "able"),
    [
        ("mail-send_message", "send", Ability.THIS),
        ("mcp__drive__list_files", "save", Ability.READS),
        ("open_webpage", "create", Ability.READS),
        ("open_ticket", "create", Ability.THIS),
        ("draft_refund", "pay", Ability.READS),
        ("transfer_to_human_agent", "pay", Ability.READS),
        ("transfer_to_human_agent", "handoff", Ability.THIS),
        ("claim_done", "anything", Ability.READS),
        ("zapier_dispatch", "send", Ability.ANYTHING),
        ("delete_user", "send", Ability.OTHER),
        ("merge_pull_request", "create", Ability.OTHER),
        ("submit_request", "create", Ability.ANYTHING),
    ],
)
def test_what_a_tool_can_do_by_its_name(name: str, family: str, able: Ability) -> None:
    assert ability(name, family) is able


def test_the_verb_of_a_tool_is_not_its_servers() -> None:
    assert verb_of("mcp__github__create_issue") == "create"
    assert verb_of("notion-API-patch-page") == "patch"


def test_a_later_call_with_the_same_arguments_settles_a_failure() -> None:
    sent = {"path": "notes.txt", "text": "buy milk"}
    calls = [ToolCall("write_note", sent, LOCKED), ToolCall("put_document", sent, "ok")]
    assert ground("All good.", list(calls)) == []


def test_nothing_found_and_said_so_is_no_failure() -> None:
    empty = ToolCall("search_flights", {"to": "Oslo"}, "[]")
    quality = check_answer("I was unable to find any flights to Oslo: there are no flights on that day.", calls=[empty])
    assert not quality.should_escalate
    full = ToolCall("search_flights", {"to": "Oslo"}, '[{"flight": "HAT"}]')
    assert check_answer("I was unable to retrieve the flights.", calls=[full]).should_escalate


@pytest.mark.parametrize(
    "text", ["`", "**", "\u200b" * 50, "Sent " * 500, "- " * 500, "I've " + "a" * 5_000, "has been " * 300]
)
def test_no_text_makes_it_raise(text: str) -> None:
    said(text)
    ground(text, [ORDER])


@pytest.mark.parametrize(
    "text",
    [
        "All future meetings with Carlos have been cancelled.",
        "All meetings on Friday before 11:30 have been cancelled.",
        "The visits did not grow, so I sent an email to Lena.",
        "Since the visits look good, I sent an email to Lena.",
        "All customers that haven't responded in 5 weeks have been moved to lost.",
        "Taylor Jackson has been successfully reassigned to Raj in the CRM.",
        "Customer record for Casey White deleted successfully.",
        "I was able to successfully update the name of the event.",
        "I created `/lib/utils.sh` with three functions.",
    ],
)
def test_what_does_not_take_a_claim_back(text: str) -> None:
    assert "claimed_without_call" in labels(text, ORDER)


@pytest.mark.parametrize(
    "text",
    [
        "I would do this:\n1. Search for the customers.\n2. Confirm that the field has been updated.",
        "The steps:\n- Return a confirmation that the customers have been reassigned.",
        "1. Tell them your plans changed and provide the dates.",
        "If the visits did not grow, and so I sent an email, tell me.",
        "I hope that it has not been sent.",
        "The satellite has been successfully deployed into orbit.",
        "I've replied to your question above.",
        "I created utils/text.py:\n```python\nprint(1)\n```",
        "Pluto has been added to the list of planets.",
    ],
)
def test_instructions_conditions_and_texts_claim_nothing(text: str) -> None:
    assert "claimed_without_call" not in labels(text, ORDER)


def test_a_program_that_only_ended_with_another_code_than_zero_did_its_parts() -> None:
    said_so = "Created `/scripts/health.sh` and ran it."
    script = {"command": "cat > /scripts/health.sh; sh /scripts/health.sh"}
    assert labels(said_so, ToolCall("bash", script, "PASS: a\nFAIL: b\n\nExit code: 1")) != [
        "claimed_success_after_failure"
    ]
    assert labels(said_so, ToolCall("bash", script, "STDERR: permission denied\n\nExit code: 1")) == [
        "claimed_success_after_failure"
    ]


def test_an_exit_code_that_is_shown_is_mentioned() -> None:
    call = ToolCall("bash", {"command": "sh /x.sh"}, "bash: line 2: syntax error near unexpected token\n\nExit code: 2")
    assert labels("Its output:\n```text\nnothing\nExit code: 2\n```\nThat is all.", call) == []
    assert labels("Its output has two lines. That is all there is to see.", call) == ["unmentioned_failure"]
