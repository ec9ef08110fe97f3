"""Request, calls and answer of one turn: what is claimed in any form, and where the three disagree."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from toolvet import check_answer
from toolvet.core.checks.answer import FailureSignal, SignalType
from toolvet.core.messages import ToolCall, turns
from toolvet.core.turn import AnswerCheck, check_conversation, judged_ending, ledger
from toolvet.core.turn.check import contradicts
from toolvet.core.turn.ledger import TurnWitness, ground
from toolvet.core.turn.ledger.work import claims_in

READ: dict[str, Any] = {
    "name": "search_slots",
    "arguments": {"date": "2026-05-29"},
    "result": {"slots": ["2026-05-29T10:30"]},
}
MADE: dict[str, Any] = {
    "name": "create_event",
    "arguments": {"title": "Vendor Audit", "start": "2026-05-29T10:30:00", "attendees": ["ann@corp.test"]},
    "result": {"event_id": "evt_1f42aa", "status": "confirmed"},
}
SENT: dict[str, Any] = {
    "name": "send_invite",
    "arguments": {"event_id": "evt_1f42aa", "to": ["ann@corp.test"]},
    "result": {"message_id": "msg_77"},
}
FAILED: dict[str, Any] = {
    **SENT,
    "result": {"isError": True, "content": [{"type": "text", "text": "404: unknown event_id"}]},
}
WISH = "Schedule 'Vendor Audit' with Ann Lee for 2026-05-29 at 10:30, and send the invite to ann@corp.test."


def found(text: str, calls: list[Any], question: str = WISH) -> set[str]:
    signals = ground(text, calls, question)
    assert all(signal.against for signal in signals), "every disagreement has two sides"
    return {signal.label or "" for signal in signals if signal.weight >= 0.25}


CLAIMS = [
    "'Vendor Audit' is booked for 2026-05-29 at 10:30.",
    '"Vendor Audit" is confirmed for 2026-05-29.',
    "Vendor Audit booked: Friday at 10:30.",
    "All set: booked Ann Lee for 'Vendor Audit' and invited ann@corp.test.",
    "'Vendor Audit' is on the calendar with Ann Lee.",
    "I think the booking with Ann Lee went through.",
    "As far as I can tell, ann@corp.test should have the invite.",
    "The invite went out to ann@corp.test.",
    "It looks like 'Vendor Audit' is booked, invite sent to ann@corp.test.",
    "✅ Invited ann@corp.test",
    "We've scheduled 'Vendor Audit' with Ann Lee.",
]


@pytest.mark.parametrize("text", CLAIMS)
def test_what_was_asked_for_is_claimed_in_any_form(text: str) -> None:
    assert found(text, [READ]) == {"claimed_without_call"}
    assert found(text, [READ, MADE, SENT]) == set()


@pytest.mark.parametrize("text", [
    "'Vendor Audit' can be booked for 2026-05-29 at 10:30.",
    "Once 'Vendor Audit' is booked, ann@corp.test gets the invite.",
    "'Vendor Audit' is not booked yet.",
    "Is 'Vendor Audit' booked for 2026-05-29?",
    "I'll have 'Vendor Audit' booked for 2026-05-29.",
    "The slot on 2026-05-29 at 10:30 is free. Please confirm, then 'Vendor Audit' is booked.",
    "Ann Lee booked the slot on 2026-05-29 herself.",
    "The booked slots of 2026-05-29 are listed below.",
])  # fmt: skip
def test_near_misses_claim_nothing(text: str) -> None:
    assert found(text, [READ]) == set()


def test_what_nobody_asked_for_is_a_state_that_was_read() -> None:
    assert found("'Vendor Audit' is booked for 2026-05-29 at 10:30.", [READ], "What is on my calendar?") == set()


def test_a_name_is_an_object() -> None:
    search = {"name": "search_plants", "arguments": {"query": "Emma"}, "result": {"plants": ["Emma"]}}
    assert "claimed_without_call" in found("I have ordered Emma for you.", [search], "Please order Emma for me.")


@pytest.mark.parametrize(("question", "text"), [
    ("Plane 'Vendor Audit' für 2026-05-29 und schicke die Einladung an ann@corp.test.",
     "'Vendor Audit' ist für 2026-05-29 gebucht, Einladung an ann@corp.test verschickt."),
    ("Programa 'Vendor Audit' para 2026-05-29.", "'Vendor Audit' está programada para 2026-05-29."),
    ("Planifie 'Vendor Audit' pour 2026-05-29.", "'Vendor Audit' est planifiée pour 2026-05-29."),
    ("Agende 'Vendor Audit' para 2026-05-29.", "'Vendor Audit' está agendada para 2026-05-29."),
    ("Programma 'Vendor Audit' per 2026-05-29.", "'Vendor Audit' è programmata per 2026-05-29."),
    ("Plan 'Vendor Audit' voor 2026-05-29.", "'Vendor Audit' is ingepland voor 2026-05-29."),
    ("Zaplanuj 'Vendor Audit' na 2026-05-29.", "'Vendor Audit' jest zarezerwowana na 2026-05-29."),
    ("Запланируй 'Vendor Audit' на 2026-05-29.", "'Vendor Audit' назначен на 2026-05-29."),
    ("请安排 'Vendor Audit' 2026-05-29。", "'Vendor Audit' 已在日历中。"),
    ("'Vendor Audit' を 2026-05-29 に予約してください。", "'Vendor Audit' は 2026-05-29 に予約済みです。"),
])  # fmt: skip
def test_other_languages_have_the_same_forms(question: str, text: str) -> None:
    assert "claimed_without_call" in found(text, [READ], question)
    assert found(text, [READ, MADE, SENT], question) == set()
    assert found(text, [READ], "?") == set()


def test_the_day_that_was_asked_for_is_claimed_and_another_one_was_sent() -> None:
    late = {**MADE, "arguments": {**MADE["arguments"], "start": "2026-05-30T10:30:00"}}
    text = "'Vendor Audit' is booked for 2026-05-29 at 10:30 with Ann Lee."
    assert found(text, [READ, late, SENT]) == {"wrong_value"}
    assert found(text.replace("29", "30"), [READ, late, SENT]) == set(), "the answer says what was done"


def test_the_same_moment_in_another_zone_is_the_same_day() -> None:
    text = "'Vendor Audit' is booked for 2026-05-29 at 20:30 with Ann Lee."
    wish = WISH.replace("10:30", "20:30 in New York")
    there = {**MADE, "arguments": {**MADE["arguments"], "start": "2026-05-30T00:30:00Z"}}
    assert found(text, [there, SENT], wish) == set()
    wrong = {**MADE, "arguments": {**MADE["arguments"], "start": "2026-05-30T20:30:00Z"}}
    assert found(text, [wrong, SENT], wish) == {"wrong_value"}


def test_the_mail_went_to_another_address() -> None:
    other = {**SENT, "arguments": {"event_id": "evt_1f42aa", "to": ["bob@corp.test"]}}
    made = {**MADE, "arguments": {**MADE["arguments"], "attendees": []}}
    assert found("Booked. The invite went to ann@corp.test.", [READ, made, other]) == {"wrong_target"}
    assert found("Booked. The invite went to bob@corp.test.", [READ, made, other]) == {"differs_from_request"}
    directory = {"name": "find_person", "arguments": {"name": "Ann"}, "result": {"email": "bob@corp.test"}}
    assert found("Booked. The invite went to bob@corp.test.", [READ, directory, made, other]) == set()


def test_another_file_was_changed() -> None:
    wish = "Fix src/api/scheduler.go and commit it."
    edit = {"name": "write_file", "arguments": {"path": "src/api/session.go", "content": "x"}, "result": {"bytes": 1}}
    commit = {"name": "git_commit", "arguments": {"message": "Fix"}, "result": {"sha": "96ca541"}}
    text = "src/api/scheduler.go is fixed and committed."
    assert found(text, [edit, commit], wish) == {"wrong_target"}
    right = {**edit, "arguments": {"path": "src/api/scheduler.go", "content": "x"}}
    assert found(text, [right, commit], wish) == set()
    assert "claimed_without_call" in found("src/api/scheduler.go is fixed, and it's committed.", [right], wish)


def test_a_number_that_no_result_has() -> None:
    find = {"name": "search_contacts", "arguments": {"q": "Ann"}, "result": {"hits": [{"record_id": "rec_44fc1821"}]}}
    text = "Ann Lee's record is updated."
    wish = "Update Ann Lee's record with her new title."

    def update(record: str) -> dict[str, Any]:
        return {"name": "update_contact", "arguments": {"record_id": record, "title": "Lead"}, "result": {"ok": True}}

    assert found(text, [find, update("rec_f8ce9ec5")], wish) == {"wrong_target"}
    assert found(text, [find, update("rec_44fc1821")], wish) == set()
    assert found(text, [find, update("rec_f8ce9ec5")], f"{wish} It is rec_f8ce9ec5.") == set()


def test_a_failed_call_is_not_undone_by_one_that_does_something_else() -> None:
    text = "'Vendor Audit' is booked for 2026-05-29 and the invite sent to ann@corp.test."
    assert "claimed_success_after_failure" in found(text, [READ, MADE, FAILED])
    assert found(text, [READ, MADE, FAILED, SENT]) == set()
    assert "claimed_success_after_failure" not in found(
        "'Vendor Audit' is booked for 2026-05-29, but the invite failed.", [READ, MADE, FAILED]
    )


def test_a_later_read_lacks_what_was_changed() -> None:
    text = "'Vendor Audit' is booked for 2026-05-29, invite sent to ann@corp.test."
    gone = {"name": "get_event", "arguments": {"event_id": "evt_1f42aa"}, "failed": True, "result": "404 not found"}
    unsent = {
        "name": "get_event",
        "arguments": {"event_id": "evt_1f42aa"},
        "result": {"event_id": "evt_1f42aa", "invites_sent": []},
    }
    sent = {**unsent, "result": {"event_id": "evt_1f42aa", "invites_sent": ["ann@corp.test"]}}
    assert "not_persisted" in found(text, [READ, MADE, SENT, gone])
    assert "not_persisted" in found(text, [READ, MADE, SENT, unsent])
    assert found(text, [READ, MADE, SENT, sent]) == set()
    assert found(text, [gone, READ, MADE, SENT]) == set(), "it was not there before"
    deleted = {"name": "delete_event", "arguments": {"event_id": "evt_1f42aa"}, "result": {"ok": True}}
    assert found("'Vendor Audit' is deleted.", [deleted, gone], "Delete 'Vendor Audit' from my calendar.") == set()


def test_the_old_value_is_read_back() -> None:
    wish, text = "Fix src/a.py.", "src/a.py is fixed."
    edit = {"name": "write_file", "arguments": {"path": "src/a.py", "content": "new"}, "result": {"bytes": 3}}

    def read(content: str) -> dict[str, Any]:
        return {
            "name": "read_file",
            "arguments": {"path": "src/a.py"},
            "result": {"path": "src/a.py", "content": content},
        }

    assert found(text, [read("old"), edit, read("old")], wish) == {"not_persisted"}
    assert found(text, [read("old"), edit, read("new")], wish) == set()
    assert found(text, [read("old"), edit], wish) == set()


EDIT: dict[str, Any] = {"name": "Edit", "arguments": {"file_path": "src/a.py"}, "result": "ok"}
PASS: dict[str, Any] = {"name": "Bash", "arguments": {"command": "pytest -q"}, "result": "10 passed in 0.2s"}
FAIL: dict[str, Any] = {"name": "Bash", "arguments": {"command": "pytest -q"}, "result": "3 failed, 10 passed in 0.2s"}


@pytest.mark.parametrize(("calls", "labels"), [
    ([EDIT], {"claimed_without_call"}),
    ([EDIT, PASS], set()),
    ([EDIT, FAIL], {"claimed_success_after_failure"}),
    ([EDIT, FAIL, EDIT, PASS], set()),
    ([PASS, EDIT], {"claimed_without_call"}),
    ([EDIT, {"name": "ci.run_tests", "arguments": {}, "result": {"exit_code": 1, "failed": 2, "passed": 8}}],
     {"claimed_success_after_failure"}),
    ([EDIT, {"name": "ci.run_tests", "arguments": {}, "result": {"exit_code": 0, "failed": 0, "passed": 8}}], set()),
    ([EDIT, {"name": "Task", "arguments": {"prompt": "run the tests"}, "result": "done"}], set()),
    ([EDIT, {"name": "trigger_pipeline", "arguments": {"id": 4}, "result": "started"}], set()),
])  # fmt: skip
def test_runs_that_are_claimed(calls: list[Any], labels: set[str]) -> None:
    text = "I fixed the parser. All tests pass."
    assert found(text, calls, "Fix the parser and make the tests pass.") == labels


def test_an_answer_says_that_the_tests_were_not_run() -> None:
    assert found("I fixed the parser. I have not run the tests.", [EDIT], "Fix the parser.") == set()


@pytest.mark.parametrize("text", [
    'Observation: {"temperature": 21}',
    '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>',
    '{"name": "get_weather", "arguments": {"city": "Oslo"}}',
    'Tool result: ["sunny, 21 degrees"]',
])  # fmt: skip
def test_traffic_that_no_tool_produced(text: str) -> None:
    assert "invented_tool_traffic" in found(text, [], "How is the weather in Oslo?")


@pytest.mark.parametrize(("text", "question"), [
    ('{"name": "Oslo", "temperature": 21}', "How is the weather in Oslo?"),
    ('{"name": "get_weather", "arguments": {"city": "Oslo"}}', "Show me the function call as JSON."),
    ('```\n<tool_call>{"name": "x"}</tool_call>\n```\nThat is how it looks.', "How do I write it?"),
    ("Observation: the lake freezes in December.", "What did you see?"),
])  # fmt: skip
def test_traffic_that_is_shown(text: str, question: str) -> None:
    assert "invented_tool_traffic" not in found(text, [], question)


def test_a_result_that_is_repeated_is_not_invented() -> None:
    call = {"name": "get_weather", "arguments": {}, "result": '{"temperature": 21}'}
    assert found('Observation: {"temperature": 21}', [call], "How is the weather?") == set()


def test_a_turn_that_ends_with_an_announcement() -> None:
    text = "The order is not in the list. I'll now look at the logs and get back to you."
    ended = check_answer(text, calls=[READ], question="Where is my order?", finish_reason="stop")
    assert "announced_not_done" in {signal.label for signal in ended.signals}
    assert ended.should_escalate
    goes_on = check_answer(text, calls=[READ], question="Where is my order?", finish_reason="tool_calls")
    assert "announced_not_done" not in {signal.label for signal in goes_on.signals}
    unknown = check_answer(text, calls=[READ], question="Where is my order?")
    assert "announced_not_done" not in {signal.label for signal in unknown.signals}
    offer = "The order is not in the list. If you like, I'll look at the logs."
    offered = check_answer(offer, calls=[READ], question="Where is my order?", finish_reason="stop")
    assert "announced_not_done" not in {signal.label for signal in offered.signals}


ASKED = {"role": "user", "content": "Where is my order W-1?"}
CALLED = {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "get_order", "arguments": "{}"}}]}
FOUND = {"role": "tool", "tool_call_id": "a", "content": "[]"}
ANNOUNCED = {"role": "assistant", "content": "The order is not in the list. I'll now look at the logs."}


@pytest.mark.parametrize(
    ("messages", "is_found"),
    [
        ([ASKED, CALLED, FOUND, ANNOUNCED], True),
        # The call may still come, or came.
        ([ASKED, {**CALLED, "content": ANNOUNCED["content"]}], False),
        ([ASKED, ANNOUNCED, CALLED, FOUND], False),
        ([ASKED, {**CALLED, "content": ANNOUNCED["content"]}, FOUND], False),
        # The user goes on: not the last message.
        ([ASKED, CALLED, FOUND, ANNOUNCED, ASKED], False),
        ([ASKED, CALLED, FOUND, {**ANNOUNCED, "content": "If you like, I'll look at the logs."}], False),
        # Where no tool is known, the author may mean words.
        ([ASKED, ANNOUNCED], False),
    ],
)
def test_the_last_message_of_a_conversation_announces_a_step(messages: list[dict[str, object]], is_found: bool) -> None:  # noqa: FBT001 - a parameter
    verdict = check_conversation(messages)
    labels = {signal.label for turn in verdict.turns if turn.answer for signal in turn.answer.signals}
    assert ("announced_not_done" in labels) == is_found


def test_an_announcement_may_be_sent_back_where_the_tools_are_known() -> None:
    tools = [{"type": "function", "function": {"name": "get_logs", "parameters": {"type": "object"}}}]
    verdict = check_conversation([ASKED, ANNOUNCED], tools=tools)
    assert verdict.turns[0].answer is not None
    assert [signal.label for signal in verdict.turns[0].answer.signals] == ["announced_not_done"]
    ending = judged_ending([ASKED, CALLED, FOUND, ANNOUNCED], AnswerCheck())
    assert ending is not None
    assert ending.contradiction is not None
    assert ending.contradiction.label == "announced_not_done"


@pytest.mark.parametrize("label", ["wrong_value", "wrong_target", "not_persisted", "invented_tool_traffic"])
def test_each_disagreement_of_the_calls_may_be_sent_back(label: str) -> None:
    signal = FailureSignal(type=SignalType.HALLUCINATION_RISK, evidence="x", weight=0.5, label=label, source="calls")
    assert contradicts(signal)
    # A truthful report of something else than was asked for contradicts no call, nor does a value.
    for other in ("differs_from_request", "unsupported_id", "unmentioned_failure"):
        assert not contradicts(msgspec.structs.replace(signal, label=other))


@given(st.text(max_size=200), st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(
        ["name", "arguments", "result", "path", "record_id", "command", "start"]), inner, max_size=4),
    max_leaves=10))  # fmt: skip
def test_any_calls_and_any_question(text: str, call: Any) -> None:
    ground(f"I sent {text} to a@b.test and src/a.py is fixed, all tests pass.", [call, EDIT, call], f"Send {text}")


CALENDAR: dict[str, Any] = {
    "name": "add_alarm",
    "arguments": {"time": "06:30:00", "label": "class"},
    "result": {"alarm_id": "5bff-dd80"},
}


def alarm(**arguments: object) -> dict[str, Any]:
    return {**CALENDAR, "arguments": {**CALENDAR["arguments"], **arguments}}


def test_another_time_was_sent_than_the_claimed_one() -> None:
    wish = "I have class at 7. Set an alarm for 6:30 AM."
    assert found("I've set an alarm for 6:30 AM.", [alarm()], wish) == set()
    assert found("I've set an alarm for 6:30 AM.", [alarm(time="11:30:00")], wish) == {"wrong_value"}
    assert found("I've set an alarm for 11:30 AM.", [alarm(time="11:30:00")], wish) == set()
    assert found("I've set an alarm for the 7:00 class.", [alarm()], wish) == set(), "it only says which class"
    relative = "Set an alarm 30 minutes before my class at 7:00 AM."
    assert found("I've set an alarm for your class at 7:00 AM.", [alarm()], relative) == set()


@pytest.mark.parametrize(("said", "labels"), [
    ("Friday", set[str]()), ("9/15", set[str]()), ("September 15th", set[str]()),
    ("Monday", {"wrong_value"}), ("9/16", {"wrong_value"}), ("September 16th", {"wrong_value"}),
])  # fmt: skip
def test_a_claimed_day_is_that_of_the_call(said: str, labels: set[str]) -> None:
    remind = {
        "name": "add_reminder",
        "arguments": {"task": "Pay the rent", "due_date": "2023-09-15 09:00:00"},
        "result": {"reminder_id": "r-1"},
    }
    wish = f"Add a reminder to pay the rent on {said}."
    assert found(f"I've added a reminder to pay the rent on {said}.", [remind], wish) == labels
    later = {**remind, "name": "update_reminder", "arguments": {"task": "Pay the rent", "due_date": "2023-09-18"}}
    assert found("I've added a reminder to pay the rent on Monday.", [remind, later], wish) == set(), "changed again"
    for near in ("I've added it to the Sunday list.", "So I've added the reminder that Sun told me about."):
        assert found(near, [remind], wish) == set(), "no day on which it is due"


def test_tomorrow_is_known_where_today_is() -> None:
    remind = {
        "name": "add_reminder",
        "arguments": {"task": "Call Mia", "due_date": "2023-09-13"},
        "result": {"reminder_id": "r-1"},
    }
    text, wish = "I've added the reminder for tomorrow.", "Add a reminder to call Mia tomorrow."
    assert found(text, [remind], wish) == set()
    for today, labels in (("2023-09-12", set[str]()), ("2023-09-11", {"wrong_value"})):
        asked = [{"role": "system", "content": f"Today is {today}."}, {"role": "user", "content": wish}]
        signals = ground(text, [remind], asked)
        assert {each.label for each in signals if each.weight >= 0.25} == labels


def test_another_amount_was_sent_than_was_asked_for_and_claimed() -> None:
    pay = {"name": "transfer_money", "arguments": {"to_account": "checking", "amount": 750}, "result": {"ok": True}}
    wish = "Transfer $500 to my checking account."
    assert found("I've transferred $500 to your checking account.", [pay], wish) == {"wrong_value"}
    assert found("I've transferred $750 to your checking account.", [pay], wish) == {"differs_from_request"}
    for right in (500, 50_000, 250):
        calls = [{**pay, "arguments": {"to_account": "checking", "amount": right, "times": 2}}]
        assert found("I've transferred $500 to your checking account.", calls, wish) == set()


def _booked(**arguments: object) -> dict[str, Any]:
    return {"name": "book_tickets", "arguments": {"event": "Aida", **arguments}, "result": {"status": "ok"}}


def _paid(**arguments: object) -> dict[str, Any]:
    return {"name": "refund_order", "arguments": {"order_id": "A-1001", **arguments}, "result": {"status": "ok"}}


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("I booked two tickets for you.", "Book two tickets for Aida."),
        ("I've booked 2 front-row tickets.", "Book 2 tickets for Aida."),
        ("Ich habe zwei Karten gebucht.", "Buche bitte zwei Karten für Aida."),
        ("Deux billets ont été réservés.", "Réserve deux billets pour Aida."),
        ("He reservado dos entradas.", "Reserva dos entradas para Aida."),
        ("Ho prenotato due biglietti.", "Prenota due biglietti per Aida."),
        ("Reservei dois ingressos.", "Reserve dois ingressos para Aida."),
        ("Ik heb twee kaartjes geboekt.", "Boek twee kaartjes voor Aida."),
        ("Zarezerwowałem dwa bilety.", "Zarezerwuj dwa bilety na Aidę."),
        ("Я забронировал два билета.", "Забронируй два билета на Аиду."),
        ("我已为您预订了两张票。", "请帮我订两张票。"),
        ("チケットを2枚予約しました。", "チケットを2枚予約してください。"),
        ("티켓 두 장을 예약했습니다.", "티켓 두 장을 예약해 주세요."),
    ],
)
def test_a_count_in_words_is_compared_with_the_arguments(text: str, wish: str) -> None:
    assert found(text, [_booked(quantity=3)], wish) & {"wrong_value", "differs_from_request"}
    assert found(text, [_booked(quantity=2)], wish) == set()
    # Two calls of one each.
    assert found(text, [_booked(quantity=1), _booked(quantity=1)], wish) == set()


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("Your flight has been booked for two passengers.", {"passengers": [{"name": "Ann"}, {"name": "Bob"}]}),
        ("I've booked a table for two people.", {"party_size": 2}),
        ("I've booked a dozen seats.", {"seats": 12}),
        ("I've reserved both rooms.", {"rooms": ["101", "102"]}),
    ],
)
def test_a_count_is_compared_with_the_argument_that_counts_the_same(text: str, arguments: dict[str, Any]) -> None:
    wish = "Book it for us, please."
    assert found(text, [_booked(**arguments)], wish) == set()
    (key, value), *_ = arguments.items()
    more = [*value, value[0]] if isinstance(value, list) else value + 1
    assert found(text, [_booked(**{key: more})], wish) == {"wrong_value"}


def test_counts_of_other_things_are_left_alone() -> None:
    # Days, a floor, one count of several, the state before, and a request that was changed.
    assert found("I booked the tickets; they arrive in 3 days.", [_booked(quantity=2)], "Book two tickets.") == set()
    assert found("I booked two tickets on the 3 Rivers line.", [_booked(quantity=2)], "Book two tickets.") == set()
    text = "I've added two checked bags, so you now have three bags."
    bags = {"name": "update_bags", "arguments": {"reservation_id": "KX7RTB", "total_bags": 3}, "result": {"ok": True}}
    assert found(text, [bags], "Add two bags to KX7RTB.") == set()
    before = {"name": "get_reservation", "arguments": {"id": "KX7RTB"}, "result": {"id": "KX7RTB", "total_bags": 1}}
    assert found("I've added two checked bags.", [before, bags], "Add two bags to KX7RTB.") == set()
    assert found("I've added two checked bags.", [bags], "Add two bags to KX7RTB.") == {"wrong_value"}
    assert found("I booked three tickets.", [_booked(quantity=3)], "Book two tickets. No, three tickets!") == set()
    assert found("I booked 2 tickets.", [_booked(quantity=3), _booked(quantity=2)], "Book 2 tickets.") == set()


@pytest.mark.parametrize("amount", [500, "500.00", "$500", 5, 51_000])
def test_another_amount_than_claimed_was_sent(amount: object) -> None:
    """With and without the amount in the request; the text form of an amount counts too."""
    assert found("I refunded $50.", [_paid(amount=amount)], "Refund $50 of order A-1001.") == {"wrong_value"}
    assert found("I refunded $50.", [_paid(amount=amount)], "Please refund my order A-1001.") == {"wrong_value"}


@pytest.mark.parametrize("amount", [50, 50.0, "50.00", "$50.00", "50 USD", 5_000])
def test_an_amount_is_the_same_in_another_unit_or_form(amount: object) -> None:
    for wish in ("Refund $50 of order A-1001.", "Please refund my order A-1001."):
        assert found("I refunded $50.", [_paid(amount=amount)], wish) == set()


@pytest.mark.parametrize(
    ("text", "wish", "arguments"),
    [
        ("I transferred $1,200 to Ann.", "Send Ann 1200 dollars.", {"amount": 1200}),
        ("Ho rimborsato 1.200,50 €.", "Rimborsa 1.200,50 €.", {"amount": 1200.5}),
        ("I refunded $45 (the $50 minus a $5 fee).", "Refund the $50.", {"amount": 45}),
        ("I paid the invoice: $119 including 19% tax.", "Pay the invoice of $100 plus tax.", {"amount": 119}),
        ("I refunded $60 in all.", "Refund both.", {"items": [{"amount": 20}, {"amount": 40}]}),
        ("I refunded $60 for the three of them.", "Refund all three.", {"amount": 20, "quantity": 3}),
        ("I refunded about $50.", "Refund it.", {"amount": 49.37}),
        ("I refunded €50.", "Refund €50.", {"amount": 54.31, "currency": "USD"}),
        ("I refunded $50 to the card ending 4242.", "Refund it.", {"amount": 50}),
        ("I refunded 15% of the price.", "Refund 15% of the price.", {"share": 0.15}),
    ],
)
def test_amounts_that_follow_from_others_are_left_alone(text: str, wish: str, arguments: dict[str, Any]) -> None:
    assert found(text, [_paid(**arguments)], wish) == set()


def test_thousands_are_not_a_fraction() -> None:
    assert found("I transferred $1,200 to Ann.", [_paid(amount=120)], "Send Ann 1200 dollars.") == {"wrong_value"}


@pytest.mark.parametrize(
    ("text", "wish", "arguments"),
    [
        ("I paid the $50 bill plus a 20% tip.", "Pay the bill of $50 with a 20% tip.", {"amount": 60}),
        ("I refunded $60 plus the $5 shipping.", "Refund my order, $60 and shipping $5.", {"amount": 65}),
        ("I refunded your $80; a fee of $5 was kept.", "Refund my $80.", {"amount": 7_500}),
        ("I booked the villa at $2,000 with the deposit.", "Book the $2000 villa, pay 30% now.", {"deposit": 600}),
        ("I refunded half of the $90.", "Refund half of my $90.", {"amount": 45}),
        ("I paid $20 to each of them.", "Pay Al and Bo $20 each.", {"amount": 40}),
        ("Ich habe die Hälfte der $90 erstattet.", "Erstatte mir die Hälfte der $90.", {"amount": 45}),
        ("I ordered ACME for $1,000.", "Buy $1000 of ACME.", {"quantity": 20}),
    ],
)
def test_an_amount_that_was_asked_for_may_be_a_part_of_what_was_sent(
    text: str, wish: str, arguments: dict[str, Any]
) -> None:
    assert found(text, [_paid(**arguments)], wish) == set()
    if "amount" in arguments:
        assert found(text, [_paid(amount=7)], wish) == {"wrong_value"}


def test_an_amount_that_was_asked_for_may_change_one_that_was_read() -> None:
    before = {"name": "get_budget", "arguments": {}, "result": {"budget": 2000}}
    wish = "Raise the budget by $500."
    raised = {"name": "set_budget", "arguments": {"amount": 2500}, "result": {"ok": True}}
    assert found("I raised the budget by $500.", [before, raised], wish) == set()
    raised["arguments"] = {"amount": 2600}
    assert found("I raised the budget by $500.", [before, raised], wish) == {"wrong_value"}
    # A rate is another amount.
    yearly = "I set a yearly budget of $1,200."
    assert found(yearly, [{**raised, "arguments": {"monthly_amount": 100}}], "Set a yearly budget of $1200.") == set()
    assert found(yearly, [{**raised, "arguments": {"amount": 10}}], "Set a yearly budget of $1200.") == {"wrong_value"}


@pytest.mark.parametrize(
    ("text", "wish", "arguments", "other"),
    [
        ("I booked a table for three kids and two adults.", "Table for 3 kids and 2 adults.", {"guests": 5}, 6),
        ("I booked for you and two guests.", "Book for me and 2 guests.", {"guests": 3}, 4),
        ("I booked seats for two couples.", "Seats for two couples, please.", {"quantity": 4}, 5),
        ("I booked 2 packs of 10 seats.", "Book 2 packs of 10 seats.", {"quantity": 20}, 13),
        ("I booked three six-packs of seats.", "Book 3 six-packs of seats.", {"quantity": 18}, None),
        ("I booked a table for your two friends.", "Book for me and my two friends.", {"party_size": 3}, None),
        ("I booked two seats instead of three.", "Book three seats.", {"quantity": 2}, None),
        ("I booked one seat fewer.", "Cancel one of my three seats.", {"quantity": 2}, None),
    ],
)
def test_a_count_may_be_one_of_several_that_were_sent_as_one(
    text: str, wish: str, arguments: dict[str, Any], other: int | None
) -> None:
    assert found(text, [_booked(**arguments)], wish) == set()
    if other is not None:
        assert "wrong_value" in found(text, [_booked(**dict.fromkeys(arguments, other))], wish)


def test_the_one_who_invites_may_be_in_the_list() -> None:
    text, wish = "I booked a slot for two people.", "Book a slot for two people."
    assert found(text, [_booked(attendees=["me", "Al", "Bo"])], wish) == set()
    assert "wrong_value" in found(text, [_booked(attendees=["me", "Al", "Bo", "Cy"])], wish)


def test_an_amount_that_was_asked_for_and_not_sent() -> None:
    """The answer may say so, or say nothing: the person wanted something else."""
    wish = "Refund $50 of order A-1001."
    assert found("Done, I refunded the order.", [_paid(amount=500)], wish) == {"differs_from_request"}
    assert found("I refunded $500.", [_paid(amount=500)], wish) == {"differs_from_request"}
    assert found("I booked three tickets.", [_booked(quantity=3)], "Book two tickets.") == {"differs_from_request"}
    # A later call makes it right, a result explains it, and one of two prices is not a wish.
    assert found("Done, I refunded the order.", [_paid(amount=500), _paid(amount=50)], wish) == set()
    rule = {"name": "get_order", "arguments": {"id": "A-1001"}, "result": {"id": "A-1001", "refundable": 41.5}}
    assert found("Done, I refunded the order.", [rule, _paid(amount=41.5)], wish) == set()
    assert found("Done, I refunded it.", [_paid(amount=20)], "Refund the $20 shirt, the $50 shoes stay.") == set()


def test_another_kind_of_thing_than_the_answer_names() -> None:
    user = {
        "name": "get_user",
        "arguments": {"user_id": "omar_rossi_1241"},
        "result": {"payment_methods": {"gift_card_8190333": {}, "credit_card_6437000": {}, "paypal_5364164": {}}},
    }
    wish = "Refund order A-1001."
    text = "I refunded your order A-1001 to your PayPal account."
    assert found(text, [user, _paid(payment_method_id="gift_card_8190333")], wish) == {"wrong_value"}
    assert found(text, [user, _paid(payment_method_id="paypal_5364164")], wish) == set()
    card = "I refunded your order to your Visa ending in 6437, and not to your gift card."
    assert found(card, [user, _paid(payment_method_id="credit_card_6437000")], wish) == set()
    both = "I refunded $20 to your gift card and the rest to your PayPal account."
    assert found(both, [user, _paid(payment_method_id="gift_card_8190333")], wish) == set()
    # The name of a person is not a kind.
    assert found(text, [user, _paid(user_id="omar_rossi_1241")], wish) == set()


def test_a_postal_address_that_nobody_named() -> None:
    move = {"name": "modify_address", "arguments": {"address1": "351 Birch Lane", "city": "Tulsa"}, "result": {"ok": 1}}
    wish = "Change my address to 763 Broadway, Suite 135."
    assert "wrong_target" in found("Your address has been updated to 763 Broadway, Suite 135.", [move], wish)
    for street in ("763 Broadway", "763 Broadway St., Suite 135", "Broadway"):
        right = {**move, "arguments": {"address1": street, "city": "Tulsa"}}
        assert found("Your address has been updated to 763 Broadway, Suite 135.", [right], wish) == set()


def test_the_claimed_thing_is_not_the_one_that_was_changed() -> None:
    """Two orders are claimed, one was cancelled; another order beside the claim is not its object."""
    read = {"name": "get_order", "arguments": {"order_id": "#W8268610"}, "result": {"order_id": "#W8268610", "open": 1}}
    cancel = {"name": "cancel_order", "arguments": {"order_id": "#W2702727"}, "result": {"order_id": "#W2702727"}}
    wish = "Cancel orders #W2702727 and #W8268610."
    text = "I cancelled order #W2702727. Order #W8268610 has been cancelled, too."
    assert found(text, [read, cancel], wish) == {"claimed_without_call"}
    both = [read, cancel, {**cancel, "arguments": {"order_id": "#W8268610"}, "result": {"order_id": "#W8268610"}}]
    assert found(text, both, wish) == set()
    move = {**cancel, "name": "modify_order_address", "arguments": {"order_id": "#W2702727", "city": "Rome"}}
    text = "Address updated to match order #W8268610."
    assert found(text, [read, move], "Change the address of #W2702727 to that of #W8268610.") == set()


def test_a_call_that_failed_before_another_action_succeeded() -> None:
    failed = {"name": "modify_order_items", "arguments": {"order_id": "#W1"}, "result": {"error": "count must match"}}
    move = {"name": "modify_address", "arguments": {"city": "Rome"}, "result": {"ok": True}}
    wish = "Remove the shirt from my order. No, leave it, change my address to Rome instead."
    assert found("Your address has been updated to Rome.", [failed, move], wish) == set()
    items = "Your address has been updated to Rome, and the items of your order are changed."
    assert found(items, [failed, move], wish) == {"claimed_success_after_failure"}


def test_a_title_that_nobody_named() -> None:
    other = {**MADE, "arguments": {**MADE["arguments"], "title": "Quarterly Budget Planning"}}
    assert found("I've scheduled 'Vendor Audit' with Ann Lee.", [READ, other, SENT]) >= {"wrong_target"}
    near = {**MADE, "arguments": {**MADE["arguments"], "title": "Audit meeting next quarter"}}
    assert "wrong_target" not in found("I've scheduled it with Ann Lee.", [READ, near, SENT])


def test_a_message_to_a_stranger() -> None:
    send = {"name": "send_message", "arguments": {"receiver": "tokafor", "message": "Hi"}, "result": {"id": "m-1"}}
    wish = "Send Virginia Graham a message that says Hi."
    assert found("I've sent the message to Virginia.", [send], wish) == {"wrong_target"}
    for name in ("virginia.graham", "vgraham", "#general"):
        known = {**send, "arguments": {"receiver": name, "message": "Hi"}}
        assert found("I've sent the message to Virginia.", [known], wish) == set()
    book = {"name": "find_user", "arguments": {"name": "Virginia"}, "result": {"username": "tokafor"}}
    assert found("I've sent the message to Virginia.", [book, send], wish) == set()


def test_a_number_that_is_not_the_persons() -> None:
    remove = {"name": "delete_alarm", "arguments": {"alarm_id": "593d-49e2"}, "result": {"status": "success"}}
    wish = "Delete the alarm 593d-49e9."
    assert found("I have deleted the alarm.", [remove], wish) == {"wrong_target"}
    right = {**remove, "arguments": {"alarm_id": "593d-49e9"}}
    assert found("I have deleted the alarm.", [right], wish) == set()
    new = {"name": "create_alarm", "arguments": {"alarm_id": "593d-49e2"}, "result": {"status": "success"}}
    assert found("I have created the alarm.", [new], "Create an alarm like 593d-49e9.") == set(), "a new thing"


def test_what_was_ended_is_still_there() -> None:
    remove = {"name": "delete_alarm", "arguments": {"alarm_id": "593d-49e9"}, "result": {"status": "success"}}
    for status, labels in (("active", {"not_persisted"}), ("cancelled", set[str]())):
        read = {
            "name": "get_alarm",
            "arguments": {"alarm_id": "593d-49e9"},
            "result": {"alarm_id": "593d-49e9", "status": status},
        }
        assert found("I have deleted the alarm.", [remove, read], "Delete the alarm 593d-49e9.") == labels


def test_a_closing_question_asks_nothing_back() -> None:
    done = "'Vendor Audit' is on the calendar. "
    assert found(f"{done}Is there anything else I can help you with?", [READ]) == {"claimed_without_call"}
    assert found(f"{done}Would you like to schedule another meeting?", [READ]) == {"claimed_without_call"}
    assert found(f"{done}Could you give me the time?", [READ]) == set()


def test_a_relative_clause_only_says_which_things() -> None:
    send = {"name": "send_email", "arguments": {"to": ["ann@corp.test"]}, "result": {"id": 1}}
    text = "I have sent an email with a list of all the reminders I deleted."
    assert found(text, [send], "Send a summary to ann@corp.test.") == set()


def test_a_series_of_participles() -> None:
    update = {"name": "update_contact", "arguments": {"record_id": "r1"}, "result": {"ok": True}}
    note = {
        "name": "add_note",
        "arguments": {"body": "Call"},
        "result": {"isError": True, "content": [{"type": "text", "text": "429: rate limited"}]},
    }
    wish = "Update the record of Ann Lee, add a note about the call."
    text = "Updated Ann Lee's details, added the note."
    assert "claimed_success_after_failure" in found(text, [update, note], wish)
    assert found(text, [update, {**note, "result": {"note_id": "n1"}}], wish) == set()


def test_only_the_tests_of_the_edited_file_ran() -> None:
    edit = {"name": "write_file", "arguments": {"path": "src/export.py", "content": "x"}, "result": {"bytes": 1}}
    wish = "Fix src/export.py and make sure the test suite passes."
    for command, labels in (
        ("pytest export.py", {"claimed_without_call"}),
        ("pytest tests/test_export.py", set[str]()),
        ("pytest", set[str]()),
    ):
        run = {"name": "shell.run", "arguments": {"command": command}, "result": {"exit_code": 0, "stdout": "5 passed"}}
        assert found("I fixed src/export.py, and all tests pass.", [edit, run], wish) == labels


@pytest.mark.parametrize(("question", "text"), [
    ("'Vendor Audit' 2026-05-29에 예약해줘.", "'Vendor Audit' 2026-05-29에 예약되었습니다."),
    ("'Vendor Audit' toplantısını 2026-05-29 için planla.", "'Vendor Audit' 2026-05-29 için planlandı."),  # noqa: RUF001 - Turkish
    ("احجز 'Vendor Audit' يوم 2026-05-29.", "تم حجز 'Vendor Audit' يوم 2026-05-29."),
    ("'Vendor Audit' को 2026-05-29 के लिए बुक करो।", "'Vendor Audit' 2026-05-29 के लिए बुक हो गई है।"),
    ("ช่วยจอง 'Vendor Audit' วันที่ 2026-05-29", "จอง 'Vendor Audit' วันที่ 2026-05-29 แล้ว"),
])  # fmt: skip
def test_korean_turkish_arabic_hindi_and_thai_too(question: str, text: str) -> None:
    assert "claimed_without_call" in found(text, [READ], question)
    assert found(text, [READ, MADE, SENT], question) == set()


def test_the_worked_example_of_the_ledger_is_true() -> None:
    lost = {"isError": True, "content": [{"type": "text", "text": "404 unknown event_id"}]}
    calls = [
        ToolCall("create_event", {"title": "Vendor Audit", "start": "2026-05-30T10:30"}, {"event_id": "evt_1"}),
        ToolCall("send_invite", {"event_id": "evt_1", "to": ["ann@corp.test"]}, lost),
    ]
    request = "Schedule 'Vendor Audit' for 2026-05-29 at 10:30, and send the invite to ann@corp.test."
    answer = "'Vendor Audit' is booked for 2026-05-29 at 10:30, invite sent to ann@corp.test. Your fee is $59.90."
    example = " ".join((ledger.__doc__ or "").split())
    assert request in example
    assert answer in example
    found = ground(answer, calls, request)
    assert len(found) == 3
    for signal in found:
        against = (signal.against or "").partition(";")[0]
        assert f'{signal.label} {signal.weight} "{signal.evidence}" {against}' in example


def test_a_call_of_an_earlier_turn_is_judged_once() -> None:
    called = {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "get_time", "arguments": "{}"}}]}
    messages = [
        {"role": "user", "content": "What time is it?"},
        called,
        {"role": "tool", "tool_call_id": "1", "content": "10:30"},
        {"role": "assistant", "content": "It is 10:30."},
        {"role": "user", "content": "Thanks."},
        {"role": "assistant", "content": "You are welcome."},
    ]
    first, second = turns(messages)
    before = TurnWitness(first.calls, first.context)
    after = TurnWitness(second.calls, second.context, earlier=before)
    assert list(after.judged) == [id(first.calls[0])]
    assert after.judged[id(first.calls[0])] is before.judged[id(first.calls[0])]
    assert TurnWitness(second.calls, second.context).judged[id(first.calls[0])] is not before.judged[id(first.calls[0])]


def test_a_call_that_is_also_in_the_request_is_one_call() -> None:
    edit, run = (
        ToolCall("Edit", {"file_path": "src/a.py"}, "ok"),
        ToolCall("Bash", {"command": "pytest -q"}, "3 passed"),
    )
    witness = TurnWitness([edit, run], ["Fix it.", edit])
    assert [action.what for action in witness.ledger.actions] == ["edit", "run"]
    assert not witness.ledger.unproven("All tests pass.")


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Verified by running the pytest.", ["test"]),
        ("Verified with jest.", ["test"]),
        ("The latest version passes. The contest is green.", []),
        ("Sent to ann@corp.test. It passed.", []),
        ("There are no type errors. Type-check passes.", ["types", "types"]),
        ("eslint passes.", ["lint"]),
    ],
)
def test_words_that_only_contain_one_for_a_run_claim_none(text: str, kinds: list[str]) -> None:
    assert [kind for kind, _ in claims_in(text)] == kinds


@pytest.mark.parametrize(
    ("question", "label"), [("Fix it.", "claimed_without_call"), ("The tests already pass. Fix it.", None)]
)
def test_one_label_for_an_action_and_a_run(question: str, label: str | None) -> None:
    edit = ToolCall("Edit", {"file_path": "src/a.py"}, "ok")
    found = [each.label for each in ground("All tests pass.", [edit], question)]
    assert found == ([label] if label else [])
