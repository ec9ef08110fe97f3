"""Turns: where they begin and end, which result belongs to which call, and what is done with strange messages."""

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import NoReturn

import pytest
from hypothesis import given, strategies as st
from tests.examples import examples

from toolvet import ToolCall, Turn, turns
from toolvet.core.messages import UNKNOWN

Message = dict[str, object]


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str | None, *calls: Message) -> Message:
    return {"role": "assistant", "content": text, **({"tool_calls": list(calls)} if calls else {})}


def call(name: str, id_: str | None = None) -> Message:
    function: Message = {"type": "function", "function": {"name": name, "arguments": "{}"}}
    return function if id_ is None else {**function, "id": id_}


def returned(content: object, id_: str | None = None, name: str | None = None) -> Message:
    named = {"tool_call_id": id_, "name": name}
    return {"role": "tool", "content": content, **{key: value for key, value in named.items() if value is not None}}


def results(turn: Turn) -> list[tuple[str, object]]:
    return [(each.name, each.result) for each in turn.calls]


def only(*messages: object) -> Turn:
    (turn,) = turns(list(messages))
    return turn


def test_no_messages_are_no_turns() -> None:
    assert turns([]) == []


def test_the_assistant_may_speak_first() -> None:
    first, second = turns([assistant("Hello!"), user("Hi, who are you?"), assistant("A clerk.")])
    assert (first.question, first.answer) == ("", "Hello!")
    assert (second.question, second.answer) == ("Hi, who are you?", "A clerk.")


def test_two_messages_of_the_user_are_one_question() -> None:
    turn = only(user("One thing."), user("And another."), assistant("Yes."))
    assert turn.question == "One thing.\n\nAnd another."
    assert turn.indices == (0, 1, 2)


def test_a_question_without_an_answer_is_a_turn() -> None:
    assert only(user("Anybody?")) == Turn("Anybody?", None, indices=(0,))


def test_an_empty_answer_is_an_answer_and_calls_without_text_are_none() -> None:
    assert only(user("Hi"), assistant("")).answer == ""
    assert only(user("Hi"), assistant(None)).answer == ""
    assert only(user("Hi"), assistant("", call("ping", "a"))).answer is None


def test_what_is_said_before_a_result_is_no_answer() -> None:
    block = {"type": "tool_use", "id": "t", "name": "send", "input": {}}
    said = {"role": "assistant", "content": [block, {"type": "text", "text": "It is sent."}]}
    result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t"}]}
    assert only(user("Send it."), said).answer == "It is sent."
    turn = only(user("Send it."), said, result)
    assert (turn.answer, turn.midturn, turn.calls[0].result) == (None, ("It is sent.",), "")


def test_results_without_ids_find_their_calls_by_name_and_order() -> None:
    turn = only(assistant(None, call("a"), call("b"), call("a")), returned("3", name="b"), returned("1"), returned("2"))
    assert results(turn) == [("a", "1"), ("b", "3"), ("a", "2")]


def test_an_id_that_comes_again_is_of_the_call_that_waits() -> None:
    turn = only(
        assistant(None, call("a", "1")), returned("x", "1"), assistant(None, call("b", "1")), returned("y", "1")
    )
    assert results(turn) == [("a", "x"), ("b", "y")]


def test_a_call_without_a_result_stays_and_says_so() -> None:
    turn = only(assistant(None, call("a", "1"), call("b", "2")), returned("x", "1"), assistant("Done."))
    assert turn.calls[1].result is UNKNOWN
    assert [each.answered for each in turn.calls] == [True, False]


def test_a_result_without_a_call_stays_and_is_noted() -> None:
    turn = only(user("Hi"), returned("21 degrees", "no such id", "weather"), assistant("Warm."))
    assert results(turn) == [("weather", "21 degrees")]
    assert turn.notes == ("the result of weather in message 1 answers no call",)


def test_a_result_of_an_earlier_turn_goes_to_its_call() -> None:
    first, second = turns(
        [assistant("Wait.", call("a", "1")), user("Well?"), returned("x", "1"), assistant("It is x.")]
    )
    assert results(first) == [("a", "x")]
    assert (second.calls, second.answer) == ((), "It is x.")


def test_a_strange_message_in_the_middle_is_skipped_and_noted() -> None:
    turn = only(user("Hi"), {"event": "ping"}, 5, assistant("Hello."))
    assert turn.skipped == (1, 2)
    assert turn.notes[0] == "message 1 was skipped: dict of no known format"
    assert turn.answer == "Hello."


@pytest.mark.parametrize("junk", [None, 5, "hello", b"[]", [5], ["hello"], [{"event": "ping"}, {}], {"a": 1}, object()])
def test_what_is_no_conversation_is_a_type_error_that_lists_the_formats(junk: object) -> None:
    with pytest.raises(TypeError, match=r"OpenAI chat.*ShareGPT"):
        turns(junk)


def test_calls_of_the_old_kind_are_read() -> None:
    turn = only(
        {"role": "assistant", "content": None, "function_call": {"name": "add", "arguments": "{}"}},
        {"role": "function", "name": "add", "content": "3"},
    )
    assert results(turn) == [("add", "3")]


def test_records_of_calls_among_messages_are_calls() -> None:
    turn = only(user("Hi"), {"name": "add", "arguments": {}, "result": 3}, ToolCall("sub", {}, 1), assistant("3 and 1"))
    assert results(turn) == [("add", 3), ("sub", 1)]


def test_a_tool_of_the_api_that_keeps_its_result_has_not_failed() -> None:
    turn = only(
        {"type": "web_search_call", "id": "w", "status": "completed", "action": {"type": "search", "query": "x"}},
        {"type": "mcp_call", "id": "m", "name": "ask", "server_label": "s", "arguments": "{}", "error": "no such page"},
        {"type": "mcp_call", "id": "n", "name": "ask", "server_label": "s", "arguments": "{}", "output": "yes"},
        {"type": "computer_call", "call_id": "c", "status": "completed", "action": {"type": "click"}},
        {"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot"}},
    )
    assert [(each.name, each.failed, each.answered) for each in turn.calls] == [
        ("web_search", False, False),
        ("ask", True, True),
        ("ask", None, True),
        ("computer", None, True),
    ]


def test_server_tools_of_anthropic_are_calls() -> None:
    found = {"type": "web_search_result", "title": "t", "url": "u", "encrypted_content": "…"}
    error = {"type": "web_search_tool_result_error", "error_code": "max_uses_exceeded"}
    ran = {"type": "code_execution_result", "stdout": "3", "stderr": "", "return_code": 0}
    blocks = [
        *(
            {"type": "server_tool_use", "id": id_, "name": name, "input": {}}
            for id_, name in zip("abc", "xyz", strict=True)
        ),
        {"type": "web_search_tool_result", "tool_use_id": "a", "content": [found]},
        {"type": "web_search_tool_result", "tool_use_id": "b", "content": error},
        {"type": "code_execution_tool_result", "tool_use_id": "c", "content": ran},
        {"type": "text", "text": "It is 3."},
    ]
    turn = only(user("?"), {"role": "assistant", "content": blocks})
    assert [(each.answered, each.failed) for each in turn.calls] == [(False, False), (True, True), (True, None)]
    assert turn.answer == "It is 3."


def test_a_document_of_the_user_is_context_and_no_question() -> None:
    document = {"type": "document", "source": {"type": "text", "data": "A bag costs $50."}}
    turn = only({"role": "user", "content": [document, {"type": "text", "text": "What is it?"}]}, assistant("$50."))
    assert turn.question == "What is it?"
    assert turn.context == ["A bag costs $50.", "What is it?"]


def test_a_whole_response_of_an_api_is_a_message() -> None:
    chat = {"object": "chat.completion", "choices": [{"message": assistant("Yes."), "finish_reason": "length"}]}
    assert only(user("?"), chat).finish_reason == "length"
    output = [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Yes."}]}]
    response = {"object": "response", "output": output, "incomplete_details": {"reason": "max_output_tokens"}}
    assert only(user("?"), response) == Turn("?", "Yes.", finish_reason="max_output_tokens", indices=(0, 1))


def test_a_generator_of_messages_is_read() -> None:
    def messages() -> Iterator[Message]:
        yield user("?")
        yield assistant("Yes.")

    (turn,) = turns(messages())
    assert turn.answer == "Yes."


def test_objects_are_read_by_their_attributes() -> None:
    block = SimpleNamespace(type="tool_use", id="t", name="weather", input={})
    result = {
        "type": "tool_result",
        "tool_use_id": "t",
        "content": [SimpleNamespace(type="text", text="21", citations=None)],
    }
    turn = only(SimpleNamespace(role="assistant", content=[block]), {"role": "user", "content": [result]})
    assert results(turn) == [("weather", [{"type": "text", "text": "21"}])]


@dataclass
class Hostile:
    role: str = "user"

    @property
    def __dict__(self) -> NoReturn:  # type: ignore[override]
        raise RuntimeError("no")


CYCLE: list[object] = []
CYCLE += [CYCLE] * 100
LOOP: Message = {"role": "user"}
LOOP["content"] = [LOOP] * 100
DEEP: object = "x"
for _ in range(5_000):
    DEEP = [DEEP]


@pytest.mark.parametrize("content", [CYCLE, LOOP, DEEP, [LOOP], Hostile(), "\ud800", 10**400, {1: 2}, [{"type": 3}]])
def test_no_content_makes_it_raise_or_go_on_for_ever(content: object) -> None:
    assert turns([user("Hi"), {"role": "user", "content": content}, assistant("Hello.")])[-1].answer == "Hello."


WORDS = ["user", "assistant", "tool", "text", "human", "ai", "request", "response", "function_call"]
KEYS = (
    *("role", "content", "parts", "type", "text", "tool_calls", "function", "name", "id", "kind", "part_kind", "from"),
    *("value", "functionCall", "toolUse", "data", "raw_item", "output", "choices", "object", "toolCallId", "message"),
    *("candidates", "tool_use_id"),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=20,
)


@examples(200)
@given(st.lists(JSON, max_size=6))
def test_any_json_is_turns_or_a_type_error(messages: list[object]) -> None:
    try:
        found = turns(messages)
    except TypeError:
        return
    assert sum(len(turn.skipped) for turn in found) <= len(messages)
    assert all(0 <= index < len(messages) for turn in found for index in turn.indices)


def test_many_messages_cost_what_they_hold() -> None:
    talk: list[object] = []
    for number in range(2_000):
        talk += [
            user(f"{number}?"),
            assistant(None, call("a", str(number))),
            returned("x", str(number)),
            assistant("x"),
        ]
    found = turns(talk)
    assert len(found) == 2_000
    assert all(len(turn.calls) == 1 and turn.calls[0].answered for turn in found)
    assert len(found[-1].context) == 2 * 1_999 + 1


def _line(kind: str, content: object, agent: str | None = None) -> dict[str, object]:
    """A message as Claude's Agent SDK streams it."""
    return {"type": kind, "message": {"role": kind, "content": content}, "parent_tool_use_id": agent, "session_id": "s"}


def _use(id_: str, name: str) -> list[dict[str, object]]:
    return [{"type": "tool_use", "id": id_, "name": name, "input": {}}]


def _back(id_: str, text: str) -> list[dict[str, object]]:
    return [{"type": "tool_result", "tool_use_id": id_, "content": [{"type": "text", "text": text}]}]


NESTED: list[dict[str, object]] = [
    {"type": "system", "subtype": "init"},
    _line("user", "Is the suite green?"),
    _line("assistant", _use("t1", "Task")),
    _line("user", "Run the tests.", "t1"),
    _line("assistant", _use("s1", "Bash"), "t1"),
    _line("user", _back("s1", "2 failed, 31 passed in 4.2s"), "t1"),
    _line("assistant", [{"type": "text", "text": "All tests pass."}], "t1"),
    _line("user", _back("t1", "All tests pass.")),
    _line("assistant", [{"type": "text", "text": "Yes, it is."}]),
]


def test_what_a_sub_agent_says_is_a_turn_of_its_own() -> None:
    handed, own = turns(NESTED)
    assert (handed.agent, handed.question, handed.answer) == ("t1", "Run the tests.", "All tests pass.")
    assert [call.name for call in handed.calls] == ["Bash"]
    assert (own.agent, own.question, own.answer) == ("", "Is the suite green?", "Yes, it is.")
    assert [call.name for call in own.calls] == ["Task"]
    assert (handed.indices, own.indices) == ((3, 4, 5, 6), (1, 2, 7, 8))
    assert handed.notes == ("of the sub-agent t1",)


def test_a_transcript_marks_the_lines_of_a_sub_agent() -> None:
    lines = [{**line, "isSidechain": line.get("parent_tool_use_id") is not None, "agentId": "a8"} for line in NESTED]
    for line in lines:
        line.pop("parent_tool_use_id", None)
    assert [(turn.agent, turn.answer) for turn in turns(lines)] == [("a8", "All tests pass."), ("", "Yes, it is.")]
    # One of a sub-agent alone: the last turn is its hand-back.
    alone = [line for line in lines if line["isSidechain"]]
    assert [(turn.agent, turn.answer) for turn in turns(alone)] == [("a8", "All tests pass.")]


def test_the_last_turn_is_that_of_the_agent_itself() -> None:
    """Even if a sub-agent in the background is still at work."""
    late = _line("assistant", [{"type": "text", "text": "Still looking."}], "t9")
    assert [turn.agent for turn in turns([*NESTED, late])] == ["t1", "t9", ""]
