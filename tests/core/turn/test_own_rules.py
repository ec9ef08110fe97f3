"""The caller's own exceptions, weights and threshold, and what to do with an answer."""

import pytest

from toolvet import Action, AnswerCheck, AnswerStream, check_answer
from toolvet.core.checks.answer import BadOption
from toolvet.errors import UsageError

REFUSAL = "I'm sorry, but I can't help with that. The ferry leaves at nine."


def test_an_exception_voids_the_signals_of_its_type_in_its_sentence() -> None:
    text = "I'm sorry, but I can't help with refunds in this channel."
    assert check_answer(text).should_escalate
    assert not check_answer(text, exceptions={"refusal": ["in this channel"]}).signals


def test_an_exception_says_nothing_of_other_sentences_and_types() -> None:
    assert check_answer(REFUSAL, exceptions={"refusal": ["ferry"]}).should_escalate
    assert check_answer(REFUSAL, exceptions={"tool_failure": ["help"]}).should_escalate


def test_an_exception_holds_in_a_stream() -> None:
    stream = AnswerStream(exceptions={"refusal": ["in this channel"]})
    for chunk in ("I'm sorry, but I can't help ", "with refunds in this", " channel. Ask the shop."):
        so_far = stream.feed(chunk)
    assert not so_far.signals


def test_a_weight_scales_the_signals_of_its_type() -> None:
    quality = check_answer(REFUSAL, weights={"refusal": 0.3})
    assert quality.score == 0.7
    assert not quality.should_escalate


def test_a_weight_of_zero_leaves_a_type_out() -> None:
    assert not check_answer(REFUSAL, weights={"refusal": 0}).signals


def test_the_threshold_decides_what_is_escalated() -> None:
    text = "It seems to be the case that I am not entirely sure about this. It might be true."
    score = check_answer(text).score
    assert 0 < score < 1
    assert check_answer(text, threshold=score + 0.01).should_escalate
    assert not check_answer(text, threshold=score).should_escalate


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("The ferry leaves at nine in the morning.", Action.USE),
        (REFUSAL, Action.ROUTE),
        ("I'm not sure what you mean. Which ferry do you mean?", Action.CLARIFY),
        ("", Action.RETRY),
    ],
)
def test_the_verdict_says_what_to_do(text: str, action: Action) -> None:
    quality = check_answer(text)
    assert quality.action is action
    assert quality.to_dict()["action"] == action.value


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"weights": {"refusal": 2}}, r"weights\['refusal'\] must be a number from 0 to 1, not 2"),
        ({"weights": {"anger": 0.2}}, "weights: there is no signal type 'anger'; there are confusion, refusal"),
        ({"weights": ["refusal"]}, "weights must map signal types to numbers"),
        ({"threshold": "high"}, "threshold must be a number from 0 to 1, not 'high'"),
        ({"threshold": 1.5}, "threshold must be a number from 0 to 1, not 1.5"),
        ({"exceptions": {"refusal": "ferry"}}, r"exceptions\['refusal'\] must be a list of patterns"),
        ({"exceptions": {"refusal": [r"(a)\1"]}}, "cannot be matched in linear time|is refused"),
    ],
)
def test_an_option_that_cannot_be_used_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        AnswerCheck(**options)  # type: ignore[arg-type]
    assert isinstance(caught.value, BadOption | ValueError)
