"""A tool that an answer calls out of order by the tool's own name is a failure of the tool."""

import importlib

import pytest

from toolvet import SignalType, check_answer
from toolvet.core.messages import ToolCall
from toolvet.core.turn.ledger.failures import tool_faults
from toolvet.core.turn.ledger.outcome import outcome_of

DOWN = "Error: upstream timed out"


def faults(text: str, name: str, result: object = DOWN) -> list[str]:
    outcomes = [outcome_of(ToolCall(name, {"amount": 1}, result))]
    return [signal.evidence for signal in tool_faults(text, outcomes)]


@pytest.mark.parametrize(
    ("name", "text", "evidence"),
    [
        (
            "convert_currency",
            "I'm afraid the currency converter isn't responding.",
            "currency converter isn't responding",
        ),
        ("mcp__fx__convert-currency", "Sorry, our converter is down.", "converter is down"),
        ("currency_converter", "The currency converter returned an error.", "currency converter returned an error"),
        ("search_flights", "The flight search keeps failing, so look there.", "flight search keeps failing"),
        ("calculator", "Hm. The calculator timed out.", "calculator timed out"),
        ("plan_route", "The route planner did not respond.", "route planner did not respond"),
    ],
)
def test_the_name_of_a_call_says_what_a_tool_is(name: str, text: str, evidence: str) -> None:
    assert faults(text, name) == [evidence]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("convert_currency", "If the currency converter isn't responding, ask your bank."),
        ("convert_currency", "The file converter isn't responding."),
        ("convert_currency", "Is it that the converter is down?"),
        ("convert_currency", "The currency is down against the dollar."),
        ("get_order", "The order is unavailable in your country."),
        ("get_order", "The order failed."),
        ("search_flights", "The flight is not available on that day."),
        ("currency_converter", "The currency crashed."),
    ],
)
def test_things_that_tools_are_asked_about_are_no_tools(name: str, text: str) -> None:
    assert faults(text, name) == []


def test_a_tool_that_worked_is_not_out_of_order() -> None:
    assert faults("The currency converter is down.", "convert_currency", {"rate": 1.1}) == []


def test_a_fault_that_only_the_calls_make_known_escalates() -> None:
    calls = [{"name": "convert_currency", "arguments": {"to": "EUR"}, "result": DOWN}]
    text = "Hello. The currency converter keeps failing. Your bank has the rate of the day."
    assert not check_answer(text).signals
    quality = check_answer(text, calls=calls)
    assert [(signal.type, signal.label) for signal in quality.signals] == [(SignalType.TOOL_FAILURE, "unavailable")]
    assert quality.should_escalate


def test_the_words_around_are_quoted_from_the_very_beginning() -> None:
    text = "The currency converter isn't responding."
    outcomes = [outcome_of(ToolCall("convert_currency", {"amount": 1}, DOWN))]
    (signal,) = tool_faults(text, outcomes)
    assert signal.context == text


def test_a_run_of_spaces_is_looked_at_once() -> None:
    # Blanked code leaves such a run. Were each of its places looked at, this would take an hour.
    code = "x = 1 + 2 + 3 + 4 + 5\n" * 5_000
    text = f"It was this:\n```\n{code}```\nSo the currency converter timed out."
    assert faults(text, "convert_currency") == ["currency converter timed out"]


def test_an_answer_without_a_word_for_a_failed_tool_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    module = importlib.import_module("toolvet.core.turn.ledger.failures")

    def spoken(text: str) -> str:
        read.append(text)
        return text

    monkeypatch.setattr(module, "spoken", spoken)
    assert faults("The file is there, and it timed out.", "convert_currency") == []
    assert read == []
    assert faults("The CONVERTER timed out.", "convert_currency") == ["CONVERTER timed out"]
    assert len(read) == 1
