"""Reports that toolvet wrote itself bear nothing out, and neither do people and system prompts."""

import json

import pytest

from toolvet import check_arguments
from toolvet.agents.integrations.validation.tool_validation import judge_by_schema
from toolvet.core.messages import read_calls
from toolvet.core.turn.ledger import ToolCall, ground
from toolvet.core.turn.ledger.outcome import CallStatus, outcome_of

TOOL = {
    "name": "get_weather",
    "inputSchema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer", "maximum": 27}},
        "required": ["city"],
    },
}
SENT = {"city": 3, "days": 28}
REPORT = check_arguments(TOOL, SENT)
LEAD = {"type": "text", "text": "This same call was refused 2 times. Change the arguments as told below."}
OWN: dict[str, object] = {
    "result": REPORT.to_result(),
    "text": REPORT.to_text(),
    "short text": REPORT.to_text(300),
    "wrapped": f"Error executing tool get_weather: {REPORT.to_text()}",
    "after a lead": {"isError": True, "content": [LEAD, {"type": "text", "text": REPORT.to_text()}]},
    "JSON": REPORT.to_dict(),
    "integration": judge_by_schema(TOOL, SENT).to_result("legacy"),
    "message": [{"type": "text", "text": REPORT.to_text()}],
    "unchecked": check_arguments({"name": "get_weather"}, SENT).to_text(),
}
ANSWER = "The lamp costs $27.00, and the limit is 27 days."


@pytest.mark.parametrize("result", OWN.values(), ids=OWN)
def test_a_refusal_of_our_own_is_a_failed_call_and_bears_nothing_out(result: object) -> None:
    call = ToolCall("get_weather", SENT, result)
    outcome = outcome_of(call)
    assert (outcome.ending, outcome.rejected, outcome.is_own_report) == (CallStatus.FAILED, True, True)
    assert "unsupported_number" in {signal.label for signal in ground(ANSWER, [call])}


def test_a_result_beside_it_still_bears_out() -> None:
    calls = [ToolCall("get_weather", SENT, OWN["result"]), ToolCall("get_price", {}, {"price": 27.0, "days": 27})]
    assert "unsupported_number" not in {signal.label for signal in ground(ANSWER, calls)}


@pytest.mark.parametrize(
    "result",
    [
        {"price": 27.0, "days": 27},
        {"content": [{"type": "text", "text": '{"price": 27.0, "days": 27}'}], "_meta": {"dev.toolvet/verdict": {}}},
        {"valid": False, "error": {"type": "validation", "price": 27.0}},
        "❌ Tool 'lamp' is out of stock: 27 days, $27.00",
        "The log says: Tool 'x' received invalid arguments. 27 days, $27.00",
    ],
    ids=["payload", "with a verdict", "an error of another", "a cross", "a quotation"],
)
def test_what_a_tool_says_is_no_report_of_ours(result: object) -> None:
    call = ToolCall("get_price", {}, result)
    assert not outcome_of(call).is_own_report
    assert "unsupported_number" not in {signal.label for signal in ground(ANSWER, [call])}


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "It costs $27.00"},
        {"role": "system", "content": "It costs $27.00"},
        {"role": "developer", "content": "It costs $27.00"},
        {"role": "user", "parts": [{"text": "It costs $27.00"}]},
        {"type": "human", "content": "It costs $27.00"},
        {"type": "system", "content": "It costs $27.00"},
        {"type": "human", "data": {"type": "human", "content": "It costs $27.00"}},
        {"from": "human", "value": "It costs $27.00"},
    ],
    ids=json.dumps,
)
def test_what_people_and_prompts_say_is_no_result(message: object) -> None:
    assert read_calls([message]) == []
    call = {"name": "get_price", "result": {"price": 71.0}}
    assert [each.name for each in read_calls([message, call])] == ["get_price"]
