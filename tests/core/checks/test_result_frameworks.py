"""Results of real frameworks are read; a framework that is not installed is skipped."""

import warnings
from typing import Any

import pytest

from toolvet import State, check_result

WORDS = "No such city: Atlantis"


def module(name: str) -> Any:
    return pytest.importorskip(name, exc_type=ImportError)


def assert_not_found(result: object, taken_for: str | None, *, flagged: bool = True) -> None:
    verdict = check_result("forecast", {"city": "Atlantis"}, result)
    assert verdict.metadata.taken_for == taken_for
    assert verdict.state is State.NOT_FOUND
    assert verdict.is_error is flagged


def test_messages_of_langchain() -> None:
    messages = module("langchain_core.messages")
    message = messages.ToolMessage(content=WORDS, tool_call_id="1", status="error")
    dumped = module("langchain_core.load").dumpd(message)
    for each in (message, message.model_dump(), dumped, messages.messages_to_dict([message])[0]):
        assert_not_found(each, "LangChain ToolMessage")


def test_parts_of_pydantic_ai() -> None:
    messages = module("pydantic_ai.messages")
    with warnings.catch_warnings():
        # Deprecated by pydantic-ai 2.68, and in the histories of all earlier releases.
        warnings.simplefilter("ignore")
        part = messages.RetryPromptPart(tool_name="forecast", content=WORDS, tool_call_id="1")
    assert_not_found(part, "pydantic-ai RetryPromptPart")
    assert_not_found(messages.ModelRequest(parts=[part]), "pydantic-ai RetryPromptPart")
    for outcome in ("failed", "denied", "retried"):
        part = messages.ToolReturnPart(tool_name="forecast", content=WORDS, tool_call_id="1", outcome=outcome)
        assert_not_found(part, "pydantic-ai ToolReturnPart")
    returned = messages.ToolReturnPart(tool_name="forecast", content={"degrees": 21}, tool_call_id="1")
    assert check_result("forecast", {}, returned).classification == "fully_working"


def test_an_item_of_the_openai_agents_sdk() -> None:
    class Agent:
        """An item holds a weak reference to its agent."""

    raw = {"type": "function_call_output", "call_id": "1", "output": WORDS}
    item = module("agents.items").ToolCallOutputItem(agent=Agent(), raw_item=raw, output=WORDS)
    assert_not_found(item, "OpenAI Agents SDK ToolCallOutputItem", flagged=False)


def test_a_part_of_google_genai() -> None:
    types = module("google.genai.types")
    response = types.FunctionResponse(name="forecast", response={"error": WORDS})
    assert_not_found(types.Part(function_response=response), "Gemini functionResponse")


def test_responses_of_httpx_and_requests() -> None:
    assert_not_found(module("httpx").Response(404, json={"detail": WORDS}), "HTTP response")
    response = module("requests").Response()
    response.status_code, response._content = 404, WORDS.encode()
    assert_not_found(response, "HTTP response")
    unread = module("requests").Response()
    unread.status_code = 503
    assert check_result("forecast", {}, unread).state is State.UNAVAILABLE


def test_results_of_the_official_sdk_and_of_fastmcp_are_mcp() -> None:
    result = module("mcp.types").CallToolResult.model_validate(
        {"content": [{"type": "text", "text": WORDS}], "isError": True}
    )
    assert_not_found(result, None)
    made = module("fastmcp.tools").ToolResult(content="21 degrees")
    verdict = check_result("forecast", {}, made)
    assert (verdict.metadata.taken_for, verdict.classification) == (None, "fully_working")
