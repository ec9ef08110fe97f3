"""A whole conversation is judged: arguments, results, and each answer against the calls of its turn."""

import json

import pytest

from toolvet import ConversationCheck, check_conversation
from toolvet.core.checks.result import ResultCheck
from toolvet.core.turn import AnswerCheck

Message = dict[str, object]
WEATHER: Message = {
    "name": "weather",
    "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str) -> Message:
    return {"role": "assistant", "content": text}


def call(name: str, arguments: object, result: object, id_: str = "a") -> list[Message]:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return [
        {"role": "assistant", "content": None, "tool_calls": [{"id": id_, "type": "function", "function": function}]},
        {"role": "tool", "tool_call_id": id_, "content": result},
    ]


def test_arguments_are_checked_where_the_tool_is_known() -> None:
    talk = [user("Warm?"), *call("weather", {"town": "Rome"}, "21 degrees"), assistant("It is 21 degrees in Rome.")]
    for given in (WEATHER, [WEATHER], (WEATHER,), {"tools": [WEATHER]}, [{"functionDeclarations": [WEATHER]}]):
        (found,) = check_conversation(talk, tools=given).failed_calls
        assert found.arguments is not None
        assert not found.arguments.valid
        assert "city" in found.arguments.to_text()
    beside = check_conversation({"messages": talk, "tools": [WEATHER]})
    assert len(beside.failed_calls) == 1
    unknown = check_conversation(talk)
    assert unknown.turns[0].calls[0].arguments is None
    assert unknown.failed_calls == ()


def test_results_are_judged() -> None:
    talk = [user("Warm?"), *call("weather", {"city": "Rome"}, "Error: connection refused"), assistant("I cannot say.")]
    (found,) = check_conversation(talk).failed_calls
    assert found.result is not None
    assert found.result.state == "unreachable"
    settings = {"role": "tool", "tool_call_id": "a", "content": "fine", "is_error": True}
    assert check_conversation([*talk[:2], settings]).failed_calls


def test_an_answer_is_held_against_the_calls_of_its_turn() -> None:
    talk = [user("Mail Ann the report."), *call("weather", {}, "21 degrees"), assistant("Done, I sent it to Ann.")]
    verdict = check_conversation(talk)
    assert verdict.should_escalate
    answer = verdict.turns[0].answer
    assert answer is not None
    assert [signal.label for signal in answer.signals] == ["claimed_without_call"]


def test_an_answer_may_repeat_what_earlier_turns_did_and_found() -> None:
    talk = [
        {"role": "system", "content": "A checked bag costs $50.35."},
        user("Cancel order A-1001, please."),
        *call("cancel_order", {"id": "A-1001"}, '{"status": "cancelled", "refund": 71.35}'),
        assistant("I cancelled order A-1001."),
        user("And what do I get back?"),
        assistant("I cancelled order A-1001, so you get $71.35 back. A checked bag is $50.35."),
    ]
    verdict = check_conversation(talk)
    assert not verdict.should_escalate
    assert [each.answer and each.answer.signals for each in verdict.turns] == [(), ()]
    wrong = check_conversation([*talk[:-1], assistant("You get $71.85 back.")])
    assert wrong.turns[1].answer is not None
    assert [signal.label for signal in wrong.turns[1].answer.signals] == ["unsupported_number"]


def test_a_failure_of_an_earlier_turn_is_no_matter_of_this_one() -> None:
    talk = [
        user("Mail Ann."),
        *call("send_email", {"to": "Ann"}, "Error: connection refused"),
        assistant("I could not send the email: the mail server did not answer."),
        user("Too bad. Thank you anyway!"),
    ]
    verdict = check_conversation([*talk, assistant("You are welcome, have a nice day!")])
    assert verdict.turns[1].answer is not None
    assert verdict.turns[1].answer.signals == ()
    claimed = check_conversation([*talk, assistant("You are welcome. I sent the email to Ann.")])
    assert claimed.turns[1].answer is not None
    assert claimed.turns[1].answer.should_escalate


def test_what_is_said_before_a_call_is_no_answer() -> None:
    first, *rest = call("weather", {"city": "Rome"}, "21 degrees")
    talk = [user("Warm?"), {**first, "content": "Let me look that up:"}, *rest]
    verdict = check_conversation(talk)
    assert verdict.turns[0].answer is None
    assert not verdict.should_escalate


def test_the_reason_why_the_model_stopped_counts() -> None:
    talk = [user("Tell me of Rome."), {**assistant("Rome is a city on the"), "finish_reason": "length"}]
    answer = check_conversation(talk).turns[0].answer
    assert answer is not None
    assert [signal.type.value for signal in answer.signals] == ["incomplete_reasoning"]


def test_a_search_of_the_api_that_shows_nothing_may_have_said_anything() -> None:
    search = {"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "rate"}}
    talk = [
        user("Rate?"),
        search,
        *call("lookup", {}, "1.10 EUR"),
        assistant("It is $1.15, see https://ecb.example/rates/7."),
    ]
    answer = check_conversation(talk).turns[0].answer
    assert answer is not None
    assert answer.signals == ()


def test_a_short_answer_is_an_answer_in_a_conversation_and_an_empty_one_is_not() -> None:
    assert not check_conversation([user("Open on Sunday?"), assistant("Yes.")]).should_escalate
    assert check_conversation([user("Open on Sunday?"), assistant("Yes.")], min_length=20).should_escalate
    assert check_conversation([user("Open on Sunday?"), assistant(" ")]).should_escalate


def test_options_are_those_of_the_checks() -> None:
    talk = [user("Hi"), assistant("That is not my department.")]
    assert check_conversation(talk, custom_patterns={"refusal": ["not my department"]}).should_escalate
    check = ConversationCheck(answers=AnswerCheck(min_length=500), results=ResultCheck())
    assert check(talk).should_escalate
    with pytest.raises(TypeError):
        check_conversation(talk, colour="red")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="known formats"):
        check_conversation("Hi")


def test_the_document_is_json_without_the_messages() -> None:
    talk = [user("secret question"), *call("weather", {"town": "Rome"}, "21 degrees"), assistant("It is 21 degrees.")]
    document = check_conversation(talk, tools=[WEATHER]).to_dict()
    assert "secret question" not in json.dumps(document)
    found = document["turns"]
    assert isinstance(found, list)
    (turn,) = found
    assert turn["messages"] == [0, 1, 2, 3]
    assert turn["calls"][0]["arguments"]["error"]["issues"]


def test_many_turns_are_judged_in_a_bounded_time() -> None:
    talk: list[Message] = []
    for number in range(150):
        talk += [user(f"Order {number}?"), *call("get_order", {"id": number}, f"Order {number}: open", f"c{number}")]
        talk.append(assistant(f"Order {number} is open, as you can see in your account."))
    assert not check_conversation(talk).should_escalate


def test_a_hand_back_is_held_to_its_calls_and_the_parent_to_the_hand_back() -> None:
    def line(kind: str, content: object, agent: str | None = None) -> dict[str, object]:
        return {"type": kind, "message": {"role": kind, "content": content}, "parent_tool_use_id": agent}

    def nested(handed: str, said: str) -> list[list[str | None]]:
        messages = [
            line("user", "Is the suite green?"),
            line("assistant", [{"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "Run it."}}]),
            line("user", "Run the tests.", "t1"),
            line("assistant", [{"type": "tool_use", "id": "s1", "name": "Bash", "input": {"command": "pytest"}}], "t1"),
            line("user", [{"type": "tool_result", "tool_use_id": "s1", "content": "2 failed, 31 passed in 4s"}], "t1"),
            line("assistant", handed, "t1"),
            line("user", [{"type": "tool_result", "tool_use_id": "t1", "content": handed}]),
            line("assistant", said),
        ]
        verdict = check_conversation(messages)
        return [[signal.label for signal in turn.answer.signals] for turn in verdict.turns if turn.answer is not None]

    invented = "claimed_success_after_failure"
    honest = "The run ended with 2 failed, 31 passed."
    assert nested("All tests pass.", "Yes, all tests pass.") == [[invented], []]
    assert nested(honest, "Yes, all tests pass.") == [[], [invented]]
    assert nested(honest, "No: 2 failed, 31 passed.") == [[], []]
