"""The caller's own exceptions, weights and threshold, and what to do with an answer."""

from importlib.resources import files
from pathlib import Path

import pytest

from toolvet import Action, AnswerCheck, AnswerStream, check_answer
from toolvet.core.checks.answer import BadOption
from toolvet.errors import ConfigError, UsageError

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
        ({"min_length": "a"}, "min_length must be a whole number, not 'a'"),
        ({"min_length": True}, "min_length must be a whole number, not True"),
        ({"strict": "yes"}, "strict must be True or False, not 'yes'"),
        ({"replace_patterns": 1}, "replace_patterns must be True or False, not 1"),
        ({"languages": 5}, "languages must be a list of names, not 5"),
        ({"languages": [5]}, "languages must be a list of names"),
        ({"packs": 5}, "packs must be a list of names, not 5"),
        ({"packs": [None]}, "packs must be a list of names"),
        ({"model": 5}, "model must be the path of a model's file or a Model, not int"),
        ({"model": "no-such.bin"}, "no-such.bin: cannot be read"),
        ({"exceptions": {"refusal": [r"(a)\1"]}}, "cannot be matched in linear time|is refused"),
    ],
)
def test_an_option_that_cannot_be_used_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        AnswerCheck(**options)  # type: ignore[arg-type]
    assert isinstance(caught.value, BadOption | ValueError | ConfigError)


@pytest.mark.parametrize("form", [str, Path])
def test_a_model_is_given_as_the_path_of_its_file(form: type, tmp_path: Path) -> None:
    file = tmp_path / "own.bin"
    file.write_bytes((files("toolvet.core.checks.answer.model") / "weights.bin").read_bytes())
    check = AnswerCheck(model=form(file))
    text = "It is beyond me to say what the harbour was called in those days, and I would rather not."
    assert check(text).signals == check_answer(text, model=check.model).signals
    file.write_bytes(b"something else")
    with pytest.raises(ConfigError, match=r"own\.bin"):
        check_answer(text, model=form(file))


@pytest.mark.parametrize("text", ["Possibly the shop opens at nine.", "Hypothetically, the shop opens at nine."])
def test_a_hedge_is_low_confidence_and_a_thought_experiment_is_not(text: str) -> None:
    (signal,) = check_answer(text).signals
    assert (signal.type.value, signal.label) == ("low_confidence", "mild")
    assert check_answer("Hypothetically, if it rained, the market would close.").signals == ()
