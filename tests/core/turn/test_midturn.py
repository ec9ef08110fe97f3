"""A message before a tool call is complete."""

import pytest

from toolvet import check_answer
from toolvet.core.turn.announcing import announced_step, announcements, announces

SAID = "Let me fetch the data:"
OPENAI = [
    {"role": "assistant", "content": SAID, "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]},
    {"role": "tool", "tool_call_id": "1", "content": "42 rows"},
]
ANTHROPIC = [
    {"role": "assistant", "content": [{"type": "text", "text": SAID}, {"type": "tool_use", "id": "1", "name": "f"}]},
]
GEMINI = [{"role": "model", "parts": [{"text": SAID}, {"functionCall": {"name": "f", "args": {}}}]}]


@pytest.mark.parametrize("reason", ["tool_calls", "tool_use", "function_call", "TOOL_CALL", "tool-calls"])
@pytest.mark.parametrize("text", [SAID, "", None, "Now I will"])
def test_a_finish_reason_of_a_tool_call_makes_any_end_complete(text: str | None, reason: str) -> None:
    assert check_answer(text, finish_reason=reason).signals == ()


@pytest.mark.parametrize(
    "calls",
    [OPENAI, ANTHROPIC, GEMINI, [{"name": "fetch", "arguments": {}}]],
    ids=["openai", "anthropic", "gemini", "a call"],
)
def test_calls_that_follow_make_an_announcement_complete(calls: list[object]) -> None:
    assert not check_answer(SAID, calls=calls).should_escalate


def test_a_call_behind_the_message_makes_it_complete() -> None:
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "The order is"}]}
    call = {"type": "function_call", "call_id": "1", "name": "get_order", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "1", "output": "shipped"}
    assert check_answer("The order is", calls=[said, call, result]).signals == ()
    assert check_answer("The order is", calls=[call, result, said]).should_escalate


def test_an_announcement_of_which_nothing_is_known_informs() -> None:
    for quality in (
        check_answer(SAID),
        check_answer(SAID, calls=[{"name": "fetch", "arguments": {}, "result": "42 rows"}]),
    ):
        assert [(signal.label, signal.weight) for signal in quality.signals] == [("truncated", 0.2)]
        assert not quality.should_escalate
    short = check_answer("Let me see:")
    assert [(signal.label, signal.weight) for signal in short.signals] == [("too_short", 0.2)]
    assert not short.should_escalate


@pytest.mark.parametrize(
    "text", ["Let me explain the three reasons:", "Here is the list of all harbours:", "The reasons are"]
)
def test_what_announces_its_own_text_is_cut_off(text: str) -> None:
    assert check_answer(text).should_escalate


def test_an_announcement_after_which_the_model_stopped_is_cut_off() -> None:
    assert check_answer(SAID, finish_reason="stop").should_escalate


@pytest.mark.parametrize("language", sorted(announcements()))
def test_the_announcements_of_a_language_keep_their_proofs(language: str) -> None:
    proofs = announcements()[language]
    assert proofs.hits
    assert [text for text in proofs.hits if not announces(text)] == []
    assert proofs.misses
    assert [text for text in proofs.misses if announces(text)] == []


def test_another_attempt_needs_no_word_about_the_failure_before() -> None:
    failed = [{"name": "bash", "arguments": {"command": "x"}, "result": "bash: x: command not found"}]
    assert not check_answer("Let me try it in another way.", calls=failed).should_escalate
    assert not check_answer("The numbers are sorted now.", calls=failed, finish_reason="tool_use").should_escalate
    assert check_answer("The numbers are sorted now.", calls=failed).should_escalate


def test_a_failure_that_is_tried_again_is_reported_by_the_last_message_alone() -> None:
    failed = "It seems there's an issue with the geocoding service. Let me try another one."
    assert check_answer(failed).signals[0].type.value == "tool_failure"
    assert check_answer(failed, finish_reason="tool_calls").signals == ()


@pytest.mark.parametrize("language", announcements())
def test_steps_keep_their_proofs(language: str) -> None:
    known = announcements()[language]
    assert [hit for hit in known.step_hits if announced_step(hit) is None] == []
    assert [miss for miss in known.step_misses if announced_step(miss) is not None] == []
