"""`check_answer` and its company: options, scoring, summaries, the best of several."""

import json
import re
import subprocess
import sys

import pytest
from tests.steps import lines_run

from toolvet import (
    AnswerQuality,
    CallFailure,
    FailureSignal,
    PartialCall,
    Retry,
    SignalType,
    State,
    ToolCall,
    best_answer,
    check_answer,
    check_answers,
    fit_response,
    quality_summary,
    regeneration_advice,
)
from toolvet.core.turn.check import CLEAN, checked_threshold, verdict, wording
from toolvet.core.turn.consistency import add_signals

FINE = "The three largest harbours are Shanghai, Singapore and Ningbo."
REFUSAL = "I cannot help with that request."


def signal(kind: str, weight: float, position: int = 0, label: str | None = None) -> FailureSignal:
    return FailureSignal(type=SignalType(kind), evidence="words", weight=weight, position=position, label=label)


def test_an_answer_without_signals_is_clean() -> None:
    assert check_answer(FINE) is CLEAN
    assert (CLEAN.score, CLEAN.should_escalate, CLEAN.assessment_confidence, CLEAN.feedback) == (1.0, False, 0.9, None)


def test_a_signal_quotes_its_words_and_says_where_they_stand() -> None:
    quality = check_answer(f"{FINE} {REFUSAL}")
    (found,) = quality.signals
    assert found.position is not None
    assert f"{FINE} {REFUSAL}"[found.position :].startswith(found.evidence)
    assert found.context is not None
    assert found.evidence in found.context
    assert (found.language, found.source) == ("en", "phrase")


def failed(name: str, words: str) -> dict[str, object]:
    return {"name": name, "arguments": {}, "result": {"isError": True, "content": [{"type": "text", "text": words}]}}


def test_a_verdict_lists_the_calls_that_failed_also_where_the_answer_says_so() -> None:
    missing, down = failed("get_order", "Order 7 not found"), failed("send_mail", "connect ECONNREFUSED 10.0.0.7:25")
    honest = check_answer("There is no order 7; please check the number.", calls=[missing])
    assert honest.signals == ()
    assert honest.failed_calls == (
        CallFailure(tool="get_order", state=State.NOT_FOUND, error_code="NOT_FOUND", retry=Retry.FIX_ARGUMENTS),
    )
    assert honest.to_dict()["failed_calls"] == [
        {"tool": "get_order", "state": "not_found", "error_code": "NOT_FOUND", "retry": "fix_arguments"}
    ]
    both = check_answer("I sent the mail about order 7.", calls=[missing, down])
    assert [call.state for call in both.failed_calls] == [State.NOT_FOUND, State.UNREACHABLE]


def test_no_failed_calls_without_calls_after_a_success_or_where_a_later_call_made_it_good() -> None:
    done = {"name": "get_order", "arguments": {}, "result": "Order 7 is on its way."}
    for calls in (None, [], [done], [failed("get_order", "connection reset"), done]):
        quality = check_answer("Order 7 is on its way to the harbour.", calls=calls)
        assert quality.failed_calls == ()
        assert "failed_calls" not in quality.to_dict()


def test_of_a_call_that_never_returned_only_the_name_is_known() -> None:
    quality = check_answer("I could not look it up.", calls=[{"name": "get_order", "arguments": {}, "result": None}])
    assert [call.to_dict() for call in quality.failed_calls] == [{"tool": "get_order"}]


def test_a_verdict_lists_the_calls_that_brought_a_part_until_a_later_call_completes_it() -> None:
    cut = fit_response({"orders": [{"id": f"A-{number}"} for number in range(200)]}, 600).to_dict()
    part = {"name": "list_orders", "arguments": {}, "result": {"structuredContent": cut}}
    quality = check_answer("These are the first orders; there are more.", calls=[part])
    assert quality.signals == ()
    assert quality.partial_calls == (
        PartialCall(tool="list_orders", content_fidelity="partial", warning_code="CONTENT_TRUNCATED"),
    )
    assert quality.to_dict()["partial_calls"] == [
        {"tool": "list_orders", "content_fidelity": "partial", "warning_code": "CONTENT_TRUNCATED"}
    ]
    rest = {"name": "list_orders", "arguments": {"page": 2}, "result": "A-199"}
    assert check_answer("These are all the orders there are.", calls=[part, rest]).partial_calls == ()
    whole = {"name": "list_orders", "arguments": {}, "result": {"structuredContent": {**cut, "meta": {}}}}
    assert check_answer("These are the orders that there are.", calls=[whole]).partial_calls == ()


def test_signals_that_are_added_leave_the_failed_calls() -> None:
    quality = check_answer("There is no order 7; check the number.", calls=[failed("get_order", "Order 7 not found")])
    assert add_signals(quality, [signal("confusion", 0.6)]).failed_calls == quality.failed_calls


# ── the verdict ──


def test_signals_come_by_weight_then_by_position() -> None:
    given = [signal("confusion", 0.6, 9), signal("low_confidence", 0.14, 1), signal("confusion", 0.6, 2)]
    assert [each.position for each in verdict(given).signals] == [2, 9, 1]


def test_a_type_costs_at_most_its_default_weight() -> None:
    hedges = [signal("low_confidence", 0.14, place) for place in range(3)]
    assert verdict(hedges).score == 0.6


@pytest.mark.parametrize(
    ("given", "escalates", "strictly"),
    [
        ([signal("low_confidence", 0.14)] * 2, False, True),
        ([signal("incomplete_reasoning", 0.25)], False, False),
        ([signal("low_confidence", 0.1)] * 3, False, True),
        ([signal("low_confidence", 0.01)] * 4, True, True),
        ([signal("refusal", 0.1)], True, True),
        ([signal("tool_failure", 0.1)], True, True),
        ([signal("confusion", 0.6)], True, True),
    ],
)
def test_when_a_person_should_look(given: list[FailureSignal], escalates: bool, strictly: bool) -> None:  # noqa: FBT001
    assert verdict(given).should_escalate is escalates
    assert verdict(given, threshold=checked_threshold(None, strict=True)).should_escalate is strictly


def test_the_reason_names_what_was_found_and_quotes_the_gravest() -> None:
    assert check_answer(REFUSAL).reason.startswith('Detected a refusal ("I cannot help')
    assert "escalation recommended" in check_answer(REFUSAL).reason


def test_feedback_and_advice_say_what_to_change_in_few_sentences() -> None:
    quality = verdict([signal(kind.value, 0.1) for kind in SignalType])
    assert quality.feedback is not None
    assert 1 <= quality.feedback.count(".") <= 6
    advice = regeneration_advice(quality, question="Which harbours  are\nthe largest?")
    assert advice is not None
    assert advice.endswith('The question was: "Which harbours are the largest?"')
    assert regeneration_advice(CLEAN, question="Which?") is None


@pytest.mark.parametrize("kind", list(SignalType))
def test_every_type_has_a_name_feedback_and_advice(kind: SignalType) -> None:
    words = wording()[kind.value]
    assert words.name
    assert words.feedback
    assert words.advice


def test_words_are_only_kept_for_types_that_exist() -> None:
    assert {key.partition("-")[0] for key in wording()} - {"turn"} == set(SignalType)


def test_advice_names_the_tools_that_brought_something_and_those_that_failed() -> None:
    calls = [
        {"name": "search_orders", "arguments": {}, "result": "Order 7 was sent on Monday."},
        {"name": "get_invoice", "arguments": {}, "result": "Connection timed out", "isError": True},
    ]
    advice = regeneration_advice(check_answer("I'm not sure about this one."), calls=calls)
    assert advice is not None
    assert "what search_orders returned" in advice
    assert "get_invoice failed" in advice


def test_the_json_form_has_the_keys_of_the_document() -> None:
    document = check_answer(REFUSAL).to_dict()
    assert document.keys() == {
        "score",
        "signals",
        "should_escalate",
        "reason",
        "likely_good",
        "assessment_confidence",
        "action",
        "feedback",
    }


# ── what is given as a text ──


def test_none_is_an_empty_answer() -> None:
    assert [each.type for each in check_answer(None).signals] == [SignalType.EMPTY_RESPONSE]


@pytest.mark.parametrize("given", [b"bytes", bytearray(b"x"), 42, ["a"], {"a": 1}])
def test_what_is_no_text_is_refused_by_name(given: object) -> None:
    with pytest.raises(TypeError, match=type(given).__name__):
        check_answer(given)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["\ud800 lone", "a\x00b", "\U0010ffff" * 30, "\udfff" * 100, "e\u0301" * 50])
def test_any_characters_get_a_verdict(text: str) -> None:
    assert isinstance(check_answer(text), AnswerQuality)


@pytest.mark.parametrize("unit", ["a", '"', "“", "«„", "(", "```", "> ", "I cannot help "])
def test_a_large_hostile_text_gets_a_verdict(unit: str) -> None:
    assert isinstance(check_answer(unit * (300_000 // len(unit))), AnswerQuality)


# ── options ──


def test_languages_narrow_what_is_looked_for() -> None:
    assert check_answer(REFUSAL, languages=["en"]).should_escalate
    assert not check_answer(REFUSAL, languages=["zh"]).should_escalate
    assert not check_answer(REFUSAL, languages=[]).should_escalate


def test_phrases_of_no_language_are_looked_for_in_any() -> None:
    stub = "def parse(x):\n    # TODO implement\n    ..."
    assert [each.label for each in check_answer(stub, languages=["zh"]).signals] == ["placeholder"]


def test_an_unknown_language_is_named_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"klingon.*en.*zh"):
        check_answer(FINE, languages=["klingon"])


def test_own_patterns_add_to_the_built_in_ones_or_replace_those_of_their_type() -> None:
    own = {"refusal": ["not in this release"]}
    text = f"{REFUSAL} It is NOT IN THIS RELEASE."
    assert {each.source for each in check_answer(text, custom_patterns=own).signals} == {"phrase", "custom"}
    replaced = check_answer(text, custom_patterns=own, replace_patterns=True)
    assert {each.source for each in replaced.signals} == {"custom"}
    others = check_answer("I'm not sure about this one.", custom_patterns=own, replace_patterns=True)
    assert [each.type.value for each in others.signals] == ["confusion"]


def test_a_compiled_pattern_keeps_its_flags() -> None:
    own = {"confusion": [re.compile("TOKEN_X")]}
    assert check_answer("The TOKEN_X stands in this answer.", custom_patterns=own).signals
    assert not check_answer("The token_x stands in this answer.", custom_patterns=own).signals


def test_own_patterns_count_in_code_and_quotations_too() -> None:
    own = {"confusion": ["TOKEN_X"]}
    assert check_answer("It printed `TOKEN_X` and was done.", custom_patterns=own).signals


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"refusal": ["(unclosed"]}, r"\(unclosed"),
        ({"refusal": [r"(\w+) \1"]}, "backreference"),
        ({"refusal": ["a(?=b)"]}, "look-ahead"),
        ({"refusal": ["x*"]}, r"x\*"),
        ({"refusals": ["x"]}, "no signal type"),
        ({"refusal": "x"}, "list of patterns"),
        ({"refusal": [b"x"]}, "strings or compiled"),
        (["x"], "must map"),
    ],
)
def test_patterns_that_cannot_be_used_are_refused_by_name(given: object, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        check_answer(FINE, custom_patterns=given)  # type: ignore[arg-type]


def test_masked_words_are_nobodys_failure() -> None:
    assert not check_answer('He wrote "I cannot help with that request" and left the room.').signals
    assert not check_answer("Use this text:\n\n```\nI cannot help with that request.\n```").signals
    assert check_answer('"I cannot help with that request."').signals


def test_overlapping_phrases_of_a_type_are_reported_once() -> None:
    kinds = [each.type for each in check_answer("I'm sorry, but I cannot help with that request.").signals]
    assert kinds.count(SignalType.REFUSAL) == 1


# ── several ──


def test_several_answers_keep_their_order() -> None:
    qualities = check_answers([FINE, REFUSAL, None])
    assert [each.should_escalate for each in qualities] == [False, True, True]


def test_a_summary_of_nothing_is_all_zeros() -> None:
    summary = quality_summary([])
    assert (summary.average_score, summary.escalation_rate, summary.common_issues) == (0, 0, {})


def test_a_summary_has_the_commonest_issue_first() -> None:
    summary = quality_summary(check_answers([REFUSAL, "OK", "Fine", FINE]))
    assert list(summary.common_issues) == [SignalType.EMPTY_RESPONSE, SignalType.REFUSAL]
    assert summary.escalation_rate == 0.75


def test_the_best_answer_is_the_one_with_the_highest_score_and_of_equals_the_first() -> None:
    assert best_answer([REFUSAL, FINE, FINE]).index == 1
    assert best_answer([REFUSAL]).quality.should_escalate
    with pytest.raises(ValueError, match="at least one"):
        best_answer([])


def test_the_calls_of_a_turn_are_read_once_for_all_its_answers() -> None:
    orders = [{"id": f"W-{number}", "status": "open", "items": ["lamp", "chair"]} for number in range(50)]
    calls = [{"name": "get_order", "arguments": {"id": each["id"]}, "result": json.dumps(each)} for each in orders]
    texts = ["I have cancelled order W-1.", "The order W-1 is open now.", "That is the order W-99."]
    found = best_answer(texts, calls=calls, question="What is order W-1?")
    assert (found.index, found.quality) == (1, check_answer(texts[1], calls=calls, question="What is order W-1?"))
    one, many = (lines_run(lambda said=texts * count: best_answer(said, calls=calls)) for count in (1, 4))  # type: ignore[misc]
    assert many < 3 * one


def test_to_import_toolvet_loads_no_phrases() -> None:
    program = "import sys, toolvet; sys.exit('toolvet.core.checks.answer' in sys.modules or 'hyperscan' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_advice_names_no_tool_as_failed_whose_call_was_made_again() -> None:
    failed = ToolCall("weather", {"unit": "Celsius"}, "Error: unknown unit", failed=True)
    worked = ToolCall("weather", {"unit": "celsius"}, "21")
    quality = check_answer("I have emailed it to Ann.", calls=[failed, worked])
    assert "weather failed" not in (regeneration_advice(quality, calls=[failed, worked]) or "")
    assert "weather failed" in (regeneration_advice(quality, calls=[worked, failed]) or "")
