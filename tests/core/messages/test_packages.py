"""The objects of the frameworks themselves are read. Each test needs its package, and is skipped without it."""

import json

import pytest

from toolvet import Turn, turns

QUESTION, NOTE, ANSWER = "How warm is it?", "Let me look.", "It is 21 degrees."
ARGUMENTS = {"city": "Paris"}


def assert_is_the_story(turn: Turn) -> None:
    assert (turn.question, turn.midturn, turn.answer) == (QUESTION, (NOTE,), ANSWER)
    (call,) = turn.calls
    arguments = json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments
    assert (call.name, arguments) == ("weather", ARGUMENTS)
    assert "21 degrees" in str(call.result)
    assert (turn.skipped, turn.notes) == ((), ())


def test_openai_chat() -> None:
    chat = pytest.importorskip("openai.types.chat")
    called = {"id": "a", "type": "function", "function": {"name": "weather", "arguments": json.dumps(ARGUMENTS)}}
    first = chat.ChatCompletionMessage.model_validate({"role": "assistant", "content": NOTE, "tool_calls": [called]})
    last = chat.ChatCompletionMessage.model_validate({"role": "assistant", "content": ANSWER})
    (turn,) = turns(
        [
            {"role": "user", "content": QUESTION},
            first,
            {"role": "tool", "tool_call_id": "a", "content": "21 degrees"},
            last,
        ]
    )
    assert_is_the_story(turn)


def test_openai_responses() -> None:
    responses = pytest.importorskip("openai.types.responses")

    def message(text: str) -> object:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        made = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": content}
        return responses.ResponseOutputMessage.model_validate(made)

    called = {"type": "function_call", "call_id": "a", "name": "weather", "arguments": json.dumps(ARGUMENTS)}
    (turn,) = turns(
        [
            {"role": "user", "content": QUESTION},
            message(NOTE),
            responses.ResponseFunctionToolCall.model_validate(called),
            {"type": "function_call_output", "call_id": "a", "output": "21 degrees"},
            message(ANSWER),
        ]
    )
    assert_is_the_story(turn)


def test_anthropic() -> None:
    types = pytest.importorskip("anthropic.types")

    def message(*content: object, stop: str) -> object:
        made = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": list(content)}
        usage = {"input_tokens": 1, "output_tokens": 1}
        return types.Message.model_validate({**made, "stop_reason": stop, "stop_sequence": None, "usage": usage})

    called = {"type": "tool_use", "id": "a", "name": "weather", "input": ARGUMENTS}
    first = message({"type": "text", "text": NOTE}, called, stop="tool_use")
    result = {"type": "tool_result", "tool_use_id": "a", "content": "21 degrees"}
    last = message({"type": "text", "text": ANSWER}, stop="end_turn")
    (turn,) = turns([{"role": "user", "content": QUESTION}, first, {"role": "user", "content": [result]}, last])
    assert_is_the_story(turn)
    assert turn.finish_reason == "end_turn"
    content = getattr(first, "content")  # noqa: B009 - as users hand it back
    again = [{"role": "assistant", "content": content}, {"role": "user", "content": [result]}, last]
    assert_is_the_story(turns([{"role": "user", "content": QUESTION}, *again])[0])


def test_gemini() -> None:
    types = pytest.importorskip("google.genai.types")
    part = types.Part
    (turn,) = turns(
        [
            types.Content(role="user", parts=[part(text=QUESTION)]),
            types.Content(
                role="model", parts=[part(text=NOTE), part.from_function_call(name="weather", args=ARGUMENTS)]
            ),
            types.Content(
                role="user", parts=[part.from_function_response(name="weather", response={"result": "21 degrees"})]
            ),
            types.GenerateContentResponse(
                candidates=[
                    types.Candidate(
                        content=types.Content(role="model", parts=[part(text=ANSWER)]), finish_reason="STOP"
                    )
                ]
            ),
        ]
    )
    assert_is_the_story(turn)
    assert turn.finish_reason == "STOP"


def test_langchain() -> None:
    messages = pytest.importorskip("langchain_core.messages")
    dumpd = pytest.importorskip("langchain_core.load").dumpd
    talk = [
        messages.HumanMessage(QUESTION),
        messages.AIMessage(NOTE, tool_calls=[{"name": "weather", "args": ARGUMENTS, "id": "a"}]),
        messages.ToolMessage("21 degrees", tool_call_id="a"),
        messages.AIMessage(ANSWER, response_metadata={"finish_reason": "stop"}),
    ]
    as_dicts = messages.messages_to_dict(talk)
    for form in (
        talk,
        as_dicts,
        [each.model_dump() for each in talk],
        [dumpd(each) for each in talk],
        {"messages": talk},
    ):
        (turn,) = turns(form)
        assert_is_the_story(turn)
        assert turn.finish_reason == "stop"
    (turn,) = turns([talk[0], messages.AIMessageChunk(ANSWER)])
    assert turn.answer == ANSWER


def test_pydantic_ai() -> None:
    messages = pytest.importorskip("pydantic_ai.messages")
    talk = [
        messages.ModelRequest(parts=[messages.UserPromptPart(QUESTION)], instructions="Be brief."),
        messages.ModelResponse(
            parts=[messages.TextPart(NOTE), messages.ToolCallPart("weather", json.dumps(ARGUMENTS), tool_call_id="a")]
        ),
        messages.ModelRequest(parts=[messages.ToolReturnPart("weather", "21 degrees", tool_call_id="a")]),
        messages.ModelResponse(parts=[messages.TextPart(ANSWER)], finish_reason="stop"),
    ]
    as_json = json.loads(messages.ModelMessagesTypeAdapter.dump_json(talk))
    for form in (talk, as_json):
        (turn,) = turns(form)
        assert_is_the_story(turn)
        assert turn.finish_reason == "stop"
        assert turn.context[0] == "Be brief."


def test_openai_agents() -> None:
    agents = pytest.importorskip("agents")
    responses = pytest.importorskip("openai.types.responses")
    agent = agents.Agent(name="a")

    def message(text: str) -> object:
        content = [{"type": "output_text", "text": text, "annotations": []}]
        made = {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": content}
        return agents.MessageOutputItem(agent=agent, raw_item=responses.ResponseOutputMessage.model_validate(made))

    called = {"type": "function_call", "call_id": "a", "name": "weather", "arguments": json.dumps(ARGUMENTS)}
    output = {"type": "function_call_output", "call_id": "a", "output": "21 degrees"}
    (turn,) = turns(
        [
            {"role": "user", "content": QUESTION},
            message(NOTE),
            agents.ToolCallItem(agent=agent, raw_item=responses.ResponseFunctionToolCall.model_validate(called)),
            agents.ToolCallOutputItem(agent=agent, raw_item=output, output="21 degrees"),
            message(ANSWER),
        ]
    )
    assert_is_the_story(turn)


def test_mcp() -> None:
    types = pytest.importorskip("mcp.types")

    def message(role: str, content: object) -> object:
        return types.SamplingMessage.model_validate({"role": role, "content": content})

    result = {"type": "tool_result", "toolUseId": "a", "content": [{"type": "text", "text": "21 degrees"}]}
    called = {"type": "tool_use", "id": "a", "name": "weather", "input": ARGUMENTS}
    (turn,) = turns(
        [
            message("user", {"type": "text", "text": QUESTION}),
            message("assistant", [{"type": "text", "text": NOTE}, called]),
            message("user", result),
            message("assistant", {"type": "text", "text": ANSWER}),
        ]
    )
    assert_is_the_story(turn)
